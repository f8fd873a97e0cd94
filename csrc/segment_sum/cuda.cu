// segment_sum and its transpose on CUDA.
#include "cuda.cuh"

#include "../gather_nd/cuda.cuh"
#include "../scatter_nd/cuda.cuh"
#include "problem.h"
#include "sum_segments.cuh"

namespace torch_sparse_ops {

void sum_segments(const char* op, ScalarType dtype, const SegmentSum<void>& sum, const CudaCall& call) {
  dispatch_sum(op, "values", dtype,
               [&](auto tag) { sum_segments(sum.as<typename decltype(tag)::type>(1), call, call.stream()); });
}

namespace {

// One more than the last id, which is waited for. An invalid one counts for nothing.
int64_t segments_of(const IndexTuples& segment_ids, const CudaCall& call) {
  if (segment_ids.count == 0) return 0;
  const int64_t last = segment_ids.count - 1, at = last * segment_ids.tuple_stride;
  const int64_t id = segment_ids.is_int64 ? call.read(static_cast<const int64_t*>(segment_ids.data) + at)
                                          : call.read(static_cast<const int32_t*>(segment_ids.data) + at);
  check(id < std::numeric_limits<int64_t>::max(), kSegmentSum, "segment_ids[", last, "] = ", id,
        " is outside [0, 2^63 - 1)");
  return std::max<int64_t>(id + 1, 0);
}

Tensor segment_sum(const Tensor& data, std::optional<Tensor> indices, const Tensor& segment_ids,
                   std::optional<int64_t> num_segments, bool) {
  const SegmentSumProblem problem = segment_sum_problem(data, indices, segment_ids, num_segments);
  const CudaCall call(data);
  if (!num_segments) num_segments = segments_of(problem.segment_ids.tuples, call);
  const std::vector<int64_t> sizes = problem.result_sizes(*num_segments);
  check_shape(kSegmentSum, "the result's shape", sizes, data.element_size());
  const Tensor result = allocate_empty(data, sizes);
  sum_segments(
      kSegmentSum, data.scalar_type(),
      {problem.data.const_data_ptr(), problem.rows, problem.row_stride,
       problem.indices ? index_array(problem.indices->tuples) : IndexArray{}, index_array(problem.segment_ids.tuples),
       problem.count, result.mutable_data_ptr(), *num_segments, problem.width},
      call);
  return result;
}

Tensor segment_sum_backward(const Tensor& grad, std::optional<Tensor> indices, const Tensor& segment_ids,
                            int64_t num_rows) {
  const SegmentSumBackwardProblem problem = segment_sum_backward_problem(grad, indices, segment_ids, num_rows);
  const IndexTuples& ids = problem.segment_ids.tuples;
  const CudaCall call(grad);
  const Tensor result = allocate_empty(grad, problem.result_sizes);
  if (problem.indices)
    scatter_rows(kSegmentSumBackward, problem.grad, index_array(ids), problem.indices->tuples, num_rows, problem.width,
                 result, call);
  else
    gather_rows(problem.grad, ids, problem.width / reals_per_value(grad.scalar_type()), result, call);
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torch_sparse_ops, CUDA, m) {
  m.impl("segment_sum", TORCH_BOX(&segment_sum));
  m.impl("segment_sum_backward", TORCH_BOX(&segment_sum_backward));
}

}  // namespace
}  // namespace torch_sparse_ops
