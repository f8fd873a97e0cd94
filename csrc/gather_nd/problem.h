// A checked gather_nd: shapes, dtypes and devices are right; the values of the indices are the kernels' to check.
#pragma once

#include "../common/tensors.h"

namespace torch_sparse_ops {

inline constexpr const char* kGatherNd = "gather_nd";

struct GatherNdProblem {
  Tensor params;        // slices are contiguous, the dimensions that are indexed may have any strides
  IndexTensor indices;  // offsets are those of params' elements
  BadIndices bad_indices;
  std::vector<int64_t> result_sizes;
  int64_t width = 0;  // elements in a slice
};

inline GatherNdProblem gather_nd_problem(const Tensor& params, const Tensor& indices, const std::string& policy,
                                         BadIndices device_default) {
  const char* op = kGatherNd;
  check_defined(op, "params", params);
  check_defined(op, "indices", indices);
  check_value_dtype(op, "params", params.scalar_type());
  check_index_dtype(op, "indices", indices.scalar_type());
  check(indices.device() == params.device(), op, "indices must be on the device of params");
  const BadIndices bad_indices = parse_policy(op, policy, device_default);

  check(indices.dim() >= 1, op, "indices has shape (), expected rank >= 1");
  const int64_t batch_dims = indices.dim() - 1, depth = indices.size(batch_dims);
  check(depth <= params.dim(), op, "indices has ", depth,
        " components in its last dimension, expected at most the rank of params, ", params.dim());

  const std::vector<int64_t> sizes = sizes_of(params);
  std::vector<int64_t> result_sizes(indices.sizes().begin(), indices.sizes().begin() + batch_dims);
  result_sizes.insert(result_sizes.end(), sizes.begin() + depth, sizes.end());
  check_shape(op, "the result's shape", result_sizes, params.element_size());
  const Tensor rows = with_contiguous_inner(params, depth);
  GatherNdProblem problem{rows,
                          index_tensor(indices, {sizes.begin(), sizes.begin() + depth},
                                       {rows.strides().begin(), rows.strides().begin() + depth}),
                          bad_indices, std::move(result_sizes)};
  problem.width = product(sizes.begin() + depth, sizes.end());
  return problem;
}

}  // namespace torch_sparse_ops
