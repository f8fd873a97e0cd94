// gather_nd on the CPU: see common/gather.h.
#include "../common/gather.h"
#include "problem.h"

namespace torch_sparse_ops {
namespace {

Tensor gather_nd(const Tensor& params, const Tensor& indices, std::string policy) {
  const GatherNdProblem problem = gather_nd_problem(params, indices, policy, BadIndices::kError);
  const Tensor result = new_result(params, problem.result_sizes);
  const IndexTuples& tuples = problem.indices.tuples;
  if (!gather_rows(problem.params, tuples, problem.width, problem.bad_indices, result))
    report_invalid_tuple(kGatherNd, indices, tuples);
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torch_sparse_ops, CPU, m) {
  m.impl("gather_nd", TORCH_BOX(&gather_nd));
}

}  // namespace
}  // namespace torch_sparse_ops
