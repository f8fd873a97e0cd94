// A tensor of index tuples as plain data: what kernels on every device read. Free of torch.
#pragma once

#include <cstdint>

namespace torch_sparse_ops {

inline constexpr int kMaxRank = 64;

// Tuple i is (data[i * tuple_stride + k * component_stride] for k < depth). It addresses the offset
// sum_k component_k * multiplier[k] and is valid if 0 <= component_k < size[k] for every k.
struct IndexTuples {
  const void* data = nullptr;
  bool is_int64 = true;
  int64_t count = 0;
  int depth = 0;
  int64_t tuple_stride = 0;
  int64_t component_stride = 0;
  int64_t size[kMaxRank] = {};
  int64_t multiplier[kMaxRank] = {};
};

inline int64_t index_component(const IndexTuples& tuples, int64_t i, int k) {
  const int64_t at = i * tuples.tuple_stride + k * tuples.component_stride;
  return tuples.is_int64 ? static_cast<const int64_t*>(tuples.data)[at] : static_cast<const int32_t*>(tuples.data)[at];
}

// The value of a tuple of one.
inline int64_t index_value(const IndexTuples& tuples, int64_t i) {
  return index_component(tuples, i, 0);
}

inline bool is_valid(const IndexTuples& tuples, int64_t i) {
  for (int k = 0; k < tuples.depth; k++) {
    const int64_t value = index_component(tuples, i, k);
    if (value < 0 || value >= tuples.size[k]) return false;
  }
  return true;
}

// The position of the first tuple that is out of bounds, or -1. For error messages: plain and slow.
inline int64_t first_invalid(const IndexTuples& tuples) {
  for (int64_t i = 0; i < tuples.count; i++)
    if (!is_valid(tuples, i)) return i;
  return -1;
}

// What an offset reads as where its tuple is out of bounds.
inline constexpr int64_t kInvalid = -1;

}  // namespace torch_sparse_ops
