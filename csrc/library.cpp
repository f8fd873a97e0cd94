// Every schema of the package: the contract. Kernels register in <operator>/cpu.cpp and <operator>/cuda.cu,
// shape functions and derivatives in torch_sparse_ops/<operator>.py.
#include <torch/csrc/stable/library.h>

#include "common/schema_version.h"

STABLE_TORCH_LIBRARY(torch_sparse_ops, m) {
  m.def("scatter_nd(Tensor indices, Tensor updates, SymInt[] shape, *, str bad_indices_policy=\"default\") -> Tensor");
  m.def("gather_nd(Tensor params, Tensor indices, *, str bad_indices_policy=\"default\") -> Tensor");
  m.def(
      "segment_sum(Tensor data, Tensor? indices, Tensor segment_ids, SymInt? num_segments=None, "
      "bool sparse_gradient=False) -> Tensor");
  // The transpose of segment_sum: row segment_ids[e] of grad is added to row indices[e] (or e) of the result.
  m.def("segment_sum_backward(Tensor grad, Tensor? indices, Tensor segment_ids, SymInt num_rows) -> Tensor");
  m.def(
      "sparse_concat(Tensor[] indices, Tensor[] values, Tensor[] shapes, int concat_dim, "
      "bool expand_nonconcat_dims=False) -> (Tensor, Tensor, Tensor)");
}
