// Rows added at given rows of a zero result, on CUDA.
#pragma once

#include "../common/cuda.cuh"
#include "../common/index_array.cuh"

namespace torch_sparse_ops {

// Adds row source_rows[i] of `source` (row i without data), `width` reals, at row tuple_offset(targets, i) of `result`,
// which has `num_rows` and is written whole.
void scatter_rows(const char* op, const Tensor& source, const IndexArray& source_rows, const IndexTuples& targets,
                  int64_t num_rows, int64_t width, const Tensor& result, const CudaCall& call);

}  // namespace torch_sparse_ops
