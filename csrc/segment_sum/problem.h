// A checked segment_sum: shapes, dtypes and devices are right; the values of indices and ids are the kernels' to check.
#pragma once

#include <optional>

#include "../common/tensors.h"

namespace torch_sparse_ops {

inline constexpr const char* kSegmentSum = "segment_sum";
inline constexpr const char* kSegmentSumBackward = "segment_sum_backward";

// indices (if any) and segment_ids of either operator: rank, dtype, device and lengths.
inline void check_segment_indices(const char* op, const Tensor& values, const std::optional<Tensor>& indices,
                                  const Tensor& segment_ids) {
  const auto check_one = [&](const char* argument, const Tensor& tensor) {
    check_defined(op, argument, tensor);
    check_index_dtype(op, argument, tensor.scalar_type());
    check(tensor.device() == values.device(), op, argument, " must be on the device of the values");
    check(tensor.dim() == 1, op, argument, " has shape ", tuple_text(tensor.sizes()), ", expected rank 1");
  };
  check_one("segment_ids", segment_ids);
  if (!indices) return;
  check_one("indices", *indices);
  check(indices->size(0) == segment_ids.size(0), op, "indices has length ", indices->size(0),
        ", expected that of segment_ids, ", segment_ids.size(0));
}

struct SegmentSumProblem {
  Tensor data;                         // [rows, ...], contiguous within a row
  std::optional<IndexTensor> indices;  // offsets are rows of data
  IndexTensor segment_ids;             // offsets are segments; size[0] is not set before num_segments is known
  int64_t rows = 0;                    // of data
  int64_t row_stride = 0;              // of data, in reals
  int64_t width = 0;                   // reals in a row
  int64_t count = 0;                   // of segment_ids
  std::vector<int64_t> result_sizes(int64_t num_segments) const {
    std::vector<int64_t> sizes = sizes_of(data);
    sizes[0] = num_segments;
    return sizes;
  }
};

inline SegmentSumProblem segment_sum_problem(const Tensor& data, const std::optional<Tensor>& indices,
                                             const Tensor& segment_ids, std::optional<int64_t> num_segments) {
  const char* op = kSegmentSum;
  check_defined(op, "data", data);
  check_value_dtype(op, "data", data.scalar_type());
  check(data.dim() >= 1, op, "data has shape (), expected rank >= 1");
  check_segment_indices(op, data, indices, segment_ids);
  check(indices || data.size(0) == segment_ids.size(0), op, "segment_ids has length ", segment_ids.size(0),
        ", expected data.shape[0] = ", data.size(0), " since indices is None");
  check(!num_segments || *num_segments >= 0, op, "num_segments = ", num_segments.value_or(0),
        " is negative; it is in [0, 2^63)");
  std::vector<int64_t> result_sizes = sizes_of(data);
  result_sizes[0] = num_segments.value_or(0);
  check_shape(op, "the result's shape", result_sizes, data.element_size());

  SegmentSumProblem problem{with_contiguous_inner(data, 1), std::nullopt, index_tensor(segment_ids, {0}, {1}, true)};
  const int64_t reals = reals_per_value(data.scalar_type());
  problem.rows = data.size(0);
  problem.row_stride = problem.data.stride(0) * reals;
  problem.width = product(data.sizes().begin() + 1, data.sizes().end()) * reals;
  problem.count = segment_ids.size(0);
  if (indices) problem.indices = index_tensor(*indices, {problem.rows}, {1}, true);
  return problem;
}

struct SegmentSumBackwardProblem {
  Tensor grad;                         // [segments, ...], contiguous
  std::optional<IndexTensor> indices;  // offsets are rows of the result
  IndexTensor segment_ids;             // offsets are rows of grad, or its elements if there are no indices
  int64_t width = 0;                   // reals in a row
  int64_t num_rows = 0;
  std::vector<int64_t> result_sizes;
};

inline SegmentSumBackwardProblem segment_sum_backward_problem(const Tensor& grad, const std::optional<Tensor>& indices,
                                                              const Tensor& segment_ids, int64_t num_rows) {
  const char* op = kSegmentSumBackward;
  check_defined(op, "grad", grad);
  check_value_dtype(op, "grad", grad.scalar_type());
  check(grad.dim() >= 1, op, "grad has shape (), expected rank >= 1");
  check_segment_indices(op, grad, indices, segment_ids);
  check(num_rows >= 0, op, "num_rows = ", num_rows, " is negative; it is in [0, 2^63)");
  check(indices || num_rows == segment_ids.size(0), op, "segment_ids has length ", segment_ids.size(0),
        ", expected num_rows = ", num_rows, " since indices is None");

  std::vector<int64_t> result_sizes = sizes_of(grad);
  result_sizes[0] = num_rows;
  check_shape(op, "the result's shape", result_sizes, grad.element_size());
  const int64_t row_elements = product(grad.sizes().begin() + 1, grad.sizes().end());
  SegmentSumBackwardProblem problem{to_contiguous(grad),
                                    std::nullopt,
                                    index_tensor(segment_ids, {grad.size(0)}, {indices ? 1 : row_elements}, true),
                                    row_elements * reals_per_value(grad.scalar_type()),
                                    num_rows,
                                    std::move(result_sizes)};
  if (indices) problem.indices = index_tensor(*indices, {num_rows}, {1}, true);
  return problem;
}

}  // namespace torch_sparse_ops
