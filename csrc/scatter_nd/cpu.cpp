// scatter_nd on the CPU: see common/scatter.h.
#include "../common/scatter.h"
#include "problem.h"

namespace torch_sparse_ops {
namespace {

Tensor scatter_nd(const Tensor& indices, const Tensor& updates, std::vector<int64_t> shape, std::string policy) {
  const ScatterNdProblem problem = scatter_nd_problem(indices, updates, std::move(shape), policy, BadIndices::kError);
  const Tensor result = new_result(updates, problem.shape);
  const IndexTuples& tuples = problem.indices.tuples;
  if (!scatter_add_rows(problem.updates, nullptr, tuples, problem.bad_indices, problem.num_rows, problem.width, result))
    report_invalid_tuple(kScatterNd, indices, tuples);
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torch_sparse_ops, CPU, m) {
  m.impl("scatter_nd", TORCH_BOX(&scatter_nd));
}

}  // namespace
}  // namespace torch_sparse_ops
