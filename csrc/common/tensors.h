// Tensors at an operator's door: what is checked about them and how results are allocated. Shared by all devices.
#pragma once

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <limits>
#include <string>
#include <vector>

#include "check.h"
#include "dispatch.h"
#include "index_tuples.h"

namespace torch_sparse_ops {

using torch::stable::Tensor;

inline std::vector<int64_t> sizes_of(const Tensor& tensor) {
  const auto sizes = tensor.sizes();
  return {sizes.begin(), sizes.end()};
}

// a * b, or -1 where that overflows; sizes are not negative.
inline int64_t product_or_overflow(int64_t a, int64_t b) {
  if (a < 0 || b < 0) return -1;
  return b != 0 && a > std::numeric_limits<int64_t>::max() / b ? -1 : a * b;
}

template <class Iterator>
int64_t product(Iterator begin, Iterator end) {
  int64_t result = 1;
  for (; begin != end; ++begin) result *= *begin;
  return result;
}

// Tensor memory. The stable ABI reports an allocation that fails by naming a header of torch; this says what happened.
template <class Allocate>
Tensor allocate(int64_t bytes, const Allocate& allocate_by_torch) {
  try {
    return allocate_by_torch();
  } catch (const std::exception&) {
    throw std::runtime_error(text("torch_sparse_ops: out of memory: could not allocate ", bytes, " bytes"));
  }
}

inline Tensor allocate_empty(const Tensor& like, const std::vector<int64_t>& sizes,
                             std::optional<ScalarType> dtype = std::nullopt) {
  const int64_t item_bytes = dtype == ScalarType::Byte ? 1 : static_cast<int64_t>(like.element_size());
  return allocate(item_bytes * product(sizes.begin(), sizes.end()),
                  [&] { return torch::stable::new_empty(like, sizes, dtype); });
}

inline Tensor to_contiguous(const Tensor& tensor) {
  if (tensor.is_contiguous()) return tensor;
  return allocate(tensor.numel() * static_cast<int64_t>(tensor.element_size()),
                  [&] { return torch::stable::contiguous(tensor); });
}

inline void check_defined(const char* op, const char* argument, const Tensor& tensor) {
  check(tensor.defined(), op, argument, " is None, expected a tensor");
}

// How many rows of the tensor one step along each dimension is.
inline std::vector<int64_t> row_major_multipliers(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> multipliers(sizes.size());
  int64_t step = 1;
  for (size_t k = sizes.size(); k-- > 0; step *= sizes[k]) multipliers[k] = step;
  return multipliers;
}

// The tensor, or a copy unless each slice over its dimensions from `outer_dims` on is contiguous.
inline Tensor with_contiguous_inner(const Tensor& tensor, int64_t outer_dims) {
  int64_t expected = 1;
  for (int64_t d = tensor.dim() - 1; d >= outer_dims; d--) {
    if (tensor.size(d) != 1 && tensor.stride(d) != expected) return to_contiguous(tensor);
    expected *= tensor.size(d);
  }
  return tensor;
}

// A shape that a tensor can have: rank, signs, and element and byte counts within int64 (zero sizes skipped, so that
// strides cannot overflow either).
inline void check_shape(const char* op, const char* argument, const std::vector<int64_t>& shape, int64_t item_bytes) {
  check(shape.size() <= kMaxRank, op, argument, " has ", shape.size(), " dimensions, expected at most ", kMaxRank);
  int64_t bytes = item_bytes;
  for (size_t d = 0; d < shape.size(); d++) {
    check(shape[d] >= 0, op, argument, "[", d, "] = ", shape[d], " is negative; sizes are in [0, 2^63)");
    if (shape[d] > 0) bytes = product_or_overflow(bytes, shape[d]);
  }
  check(bytes >= 0, op, argument, " = ", tuple_text(shape), " overflows: its size in bytes must be below 2^63");
}

enum class BadIndices { kError, kIgnore };

inline BadIndices parse_policy(const char* op, const std::string& policy, BadIndices device_default) {
  if (policy == "default") return device_default;
  if (policy == "error") return BadIndices::kError;
  if (policy == "ignore") return BadIndices::kIgnore;
  fail(op, "bad_indices_policy = '", policy, "' is not one of 'default', 'error', 'ignore'");
}

// A tensor of index tuples in its last dimension, kept alive with its plain-data view. Strides are used as they are;
// only batch dimensions that do not collapse into one are copied.
struct IndexTensor {
  Tensor tensor;
  IndexTuples tuples;
};

inline bool batch_collapses(const Tensor& indices, int64_t batch_dims) {
  for (int64_t d = 0; d + 1 < batch_dims; d++)
    if (indices.size(d) != 1 && indices.stride(d) != indices.stride(d + 1) * indices.size(d + 1)) return false;
  return true;
}

// `sizes` and `multipliers` are those of IndexTuples. With `scalar`, `indices` has no component dimension: each entry
// is a tuple of one.
inline IndexTensor index_tensor(const Tensor& indices, const std::vector<int64_t>& sizes,
                                const std::vector<int64_t>& multipliers, bool scalar = false) {
  const int64_t batch_dims = indices.dim() - (scalar ? 0 : 1);
  IndexTensor result{batch_collapses(indices, batch_dims) ? indices : to_contiguous(indices), {}};
  const Tensor& tensor = result.tensor;
  IndexTuples& tuples = result.tuples;
  tuples.data = tensor.const_data_ptr();
  tuples.is_int64 = tensor.scalar_type() == ScalarType::Long;
  tuples.count = product(tensor.sizes().begin(), tensor.sizes().begin() + batch_dims);
  tuples.depth = static_cast<int>(sizes.size());
  tuples.tuple_stride = batch_dims ? tensor.stride(batch_dims - 1) : 0;
  tuples.component_stride = scalar ? 0 : tensor.stride(batch_dims);
  std::copy(sizes.begin(), sizes.end(), tuples.size);
  std::copy(multipliers.begin(), multipliers.end(), tuples.multiplier);
  return result;
}

// Names the first tuple of `indices` that is out of bounds.
[[noreturn]] inline void report_invalid_tuple(const char* op, const Tensor& indices, const IndexTuples& tuples) {
  const int64_t bad = first_invalid(tuples);
  check(bad >= 0, op, "indices changed during the call");
  std::vector<int64_t> tuple(tuples.depth);
  for (int k = 0; k < tuples.depth; k++) tuple[k] = index_component(tuples, bad, k);
  const std::vector<int64_t> shape(tuples.size, tuples.size + tuples.depth);
  std::string position;
  int64_t rest = bad;
  for (int64_t d = indices.dim() - 2; d >= 0; d--) {
    position = text(rest % indices.size(d), position.empty() ? "" : ", ", position);
    rest /= indices.size(d);
  }
  if (!position.empty()) position = text("[", position, "]");
  fail_index(op, "indices", position, " = ", tuple_text(tuple), " is outside shape ", tuple_text(shape));
}

}  // namespace torch_sparse_ops
