// scatter_nd on CUDA.
#include "cuda.cuh"

#include "../segment_sum/cuda.cuh"
#include "kernels.cuh"
#include "problem.h"

namespace torch_sparse_ops {

void scatter_rows(const char* op, const Tensor& source, const IndexArray& source_rows, const IndexTuples& targets,
                  int64_t num_rows, int64_t width, const Tensor& result, const CudaCall& call) {
  if (num_rows == 0 || width == 0) return;
  const int64_t num_source_rows = source.numel() * reals_per_value(source.scalar_type()) / width;
  const SortedTargets sorted = sort_targets(targets, source_rows, num_source_rows, num_rows, call, call.stream());
  sum_segments(op, source.scalar_type(),
               {source.const_data_ptr(), num_source_rows, width, sorted.rows, sorted.targets, targets.count,
                result.mutable_data_ptr(), num_rows, width},
               call);
}

namespace {

Tensor scatter_nd(const Tensor& indices, const Tensor& updates, std::vector<int64_t> shape, std::string policy) {
  const ScatterNdProblem problem = scatter_nd_problem(indices, updates, std::move(shape), policy, BadIndices::kIgnore);
  const IndexTuples& tuples = problem.indices.tuples;
  const CudaCall call(updates);
  if (problem.bad_indices == BadIndices::kError) check_tuples(kScatterNd, indices, tuples, call);
  const Tensor result = allocate_empty(updates, problem.shape);
  scatter_rows(kScatterNd, problem.updates, {}, tuples, problem.num_rows, problem.width, result, call);
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torch_sparse_ops, CUDA, m) {
  m.impl("scatter_nd", TORCH_BOX(&scatter_nd));
}

}  // namespace
}  // namespace torch_sparse_ops
