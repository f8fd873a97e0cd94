// sparse_concat on CUDA.
#include "../common/cuda.cuh"
#include "kernels.cuh"
#include "problem.h"

namespace torch_sparse_ops {
namespace {

Tensor shape_tensor(const std::vector<int64_t>& shape, const Tensor& like) {
  const torch::stable::Device cpu(torch::headeronly::DeviceType::CPU);
  const Tensor result = torch::stable::empty({static_cast<int64_t>(shape.size())}, ScalarType::Long, std::nullopt, cpu);
  std::copy(shape.begin(), shape.end(), static_cast<int64_t*>(result.mutable_data_ptr()));
  return like.is_cpu() ? result : torch::stable::to(result, like.device());
}

std::tuple<Tensor, Tensor, Tensor> sparse_concat(std::vector<Tensor> indices, std::vector<Tensor> values,
                                                 std::vector<Tensor> shapes, int64_t concat_dim, bool expand) {
  const SparseConcatProblem problem = sparse_concat_problem(indices, values, shapes, concat_dim, expand);
  const CudaCall call(values[0]);
  const Tensor out_indices = allocate_empty(indices[0], {problem.nnz, problem.rank});
  const Tensor out_values = allocate_empty(values[0], problem.value_sizes);
  Concat concat{{},
                {},
                problem.shape,
                problem.rank,
                problem.dim,
                problem.nnz,
                problem.value_bytes,
                static_cast<int64_t*>(out_indices.mutable_data_ptr()),
                static_cast<char*>(out_values.mutable_data_ptr())};
  int64_t begin = 0;
  for (const SparseInput& input : problem.inputs) {
    concat.inputs.push_back({input.indices, input.entry_stride, input.component_stride,
                             static_cast<const char*>(input.values), begin, input.offset});
    concat.sizes.insert(concat.sizes.end(), input.shape.begin(), input.shape.end());
    begin += input.nnz;
  }
  concat_entries(concat, call, call.stream());
  return {out_indices, out_values, shape_tensor(problem.shape, shapes[0])};
}

STABLE_TORCH_LIBRARY_IMPL(torch_sparse_ops, CUDA, m) {
  m.impl("sparse_concat", TORCH_BOX(&sparse_concat));
}

}  // namespace
}  // namespace torch_sparse_ops
