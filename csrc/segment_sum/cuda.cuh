// The sum over sorted ids for a dtype known at run time. Its kernels are compiled once, in cuda.cu, for every operator.
#pragma once

#include "../common/cuda.cuh"
#include "segment_sum.cuh"

namespace torch_sparse_ops {

// Widths and strides are in reals.
void sum_segments(const char* op, ScalarType dtype, const SegmentSum<void>& sum, const CudaCall& call);

}  // namespace torch_sparse_ops
