// gather_nd on CUDA.
#include "cuda.cuh"

#include "kernels.cuh"
#include "problem.h"

namespace torch_sparse_ops {

void gather_rows(const Tensor& data, const IndexTuples& tuples, int64_t width, const Tensor& result,
                 const CudaCall& call) {
  const int64_t item_bytes = static_cast<int64_t>(data.element_size());
  gather_rows({static_cast<const char*>(data.const_data_ptr()), item_bytes, tuples,
               static_cast<char*>(result.mutable_data_ptr()), width * item_bytes},
              call.stream());
}

namespace {

Tensor gather_nd(const Tensor& params, const Tensor& indices, std::string policy) {
  const GatherNdProblem problem = gather_nd_problem(params, indices, policy, BadIndices::kIgnore);
  const IndexTuples& tuples = problem.indices.tuples;
  const CudaCall call(params);
  if (problem.bad_indices == BadIndices::kError) check_tuples(kGatherNd, indices, tuples, call);
  const Tensor result = allocate_empty(params, problem.result_sizes);
  gather_rows(problem.params, tuples, problem.width, result, call);
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torch_sparse_ops, CUDA, m) {
  m.impl("gather_nd", TORCH_BOX(&gather_nd));
}

}  // namespace
}  // namespace torch_sparse_ops
