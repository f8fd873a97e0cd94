// Rows copied from given places, on CUDA.
#pragma once

#include "../common/cuda.cuh"
#include "../common/index_array.cuh"

namespace torch_sparse_ops {

// Row i of `result` is the `width` elements of `data` at the offset of tuple i; zeros where the tuple is out of bounds.
void gather_rows(const Tensor& data, const IndexTuples& tuples, int64_t width, const Tensor& result,
                 const CudaCall& call);

}  // namespace torch_sparse_ops
