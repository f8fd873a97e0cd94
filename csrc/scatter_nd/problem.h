// A checked scatter_nd: shapes, dtypes and devices are right; the values of the indices are the kernels' to check.
#pragma once

#include "../common/tensors.h"

namespace torch_sparse_ops {

inline constexpr const char* kScatterNd = "scatter_nd";

struct ScatterNdProblem {
  Tensor updates;       // contiguous
  IndexTensor indices;  // offsets are rows of the result
  BadIndices bad_indices;
  std::vector<int64_t> shape;
  int64_t num_rows = 0;  // of the result, seen as [num_rows, width]
  int64_t width = 0;     // reals in a row
};

inline ScatterNdProblem scatter_nd_problem(const Tensor& indices, const Tensor& updates, std::vector<int64_t> shape,
                                           const std::string& policy, BadIndices device_default) {
  const char* op = kScatterNd;
  check_defined(op, "indices", indices);
  check_defined(op, "updates", updates);
  check_index_dtype(op, "indices", indices.scalar_type());
  check_value_dtype(op, "updates", updates.scalar_type());
  check(indices.device() == updates.device(), op, "indices must be on the device of updates");
  const BadIndices bad_indices = parse_policy(op, policy, device_default);
  check_shape(op, "shape", shape, updates.element_size());

  check(indices.dim() >= 1, op, "indices has shape (), expected rank >= 1");
  const int64_t batch_dims = indices.dim() - 1, depth = indices.size(batch_dims);
  check(depth <= static_cast<int64_t>(shape.size()), op, "indices has ", depth,
        " components in its last dimension, expected at most len(shape) = ", shape.size());
  std::vector<int64_t> expected(indices.sizes().begin(), indices.sizes().begin() + batch_dims);
  expected.insert(expected.end(), shape.begin() + depth, shape.end());
  check(sizes_of(updates) == expected, op, "updates has shape ", tuple_text(updates.sizes()), ", expected ",
        tuple_text(expected), " = indices.shape[:-1] + shape[", depth, ":]");

  const std::vector<int64_t> sizes(shape.begin(), shape.begin() + depth);
  ScatterNdProblem problem{to_contiguous(updates), index_tensor(indices, sizes, row_major_multipliers(sizes)),
                           bad_indices, std::move(shape)};
  problem.num_rows = product(sizes.begin(), sizes.end());
  problem.width = product(problem.shape.begin() + depth, problem.shape.end()) * reals_per_value(updates.scalar_type());
  return problem;
}

}  // namespace torch_sparse_ops
