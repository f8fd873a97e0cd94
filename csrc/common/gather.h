// Rows of a tensor copied to consecutive rows of the result: gather_nd, and the transpose of an ungathered segment_sum.
#pragma once

#include "cpu.h"

namespace torch_sparse_ops {

namespace gather_detail {

// kBytes: the size of a row if it is known when compiling, else 0.
template <int64_t kBytes>
void copy_rows(const char* data, const int64_t* offsets, int64_t count, int64_t item_bytes, int64_t row_bytes,
               char* out) {
  const int64_t bytes = kBytes ? kBytes : row_bytes;
  constexpr int64_t ahead = 16;
  for (int64_t i = 0; i < count; i++, out += bytes) {
    if (i + ahead < count && offsets[i + ahead] >= 0)
      for (int64_t byte = 0; byte < std::min<int64_t>(bytes, 1024); byte += 64)
        __builtin_prefetch(data + offsets[i + ahead] * item_bytes + byte);
    if (offsets[i] >= 0) [[likely]]
      std::memcpy(out, data + offsets[i] * item_bytes, bytes);
    else
      std::memset(out, 0, bytes);
  }
}

inline auto copy_rows_of(int64_t row_bytes) {
  switch (row_bytes) {
    case 1:
      return copy_rows<1>;
    case 2:
      return copy_rows<2>;
    case 4:
      return copy_rows<4>;
    case 8:
      return copy_rows<8>;
    case 16:
      return copy_rows<16>;
    case 32:
      return copy_rows<32>;
    case 64:
      return copy_rows<64>;
    default:
      return copy_rows<0>;
  }
}

}  // namespace gather_detail

// Row i of `result` is the `width` elements of `data` at the offset of tuple i, in elements of data's dtype; zeros
// where the tuple is out of bounds. Returns whether the result stands: with kError, false if any tuple is bad.
inline bool gather_rows(const Tensor& data, const IndexTuples& tuples, int64_t width, BadIndices bad_indices,
                        const Tensor& result) {
  if (result.numel() == 0) return bad_indices == BadIndices::kIgnore || all_valid(tuples);
  const int64_t item_bytes = static_cast<int64_t>(data.element_size()), row_bytes = width * item_bytes;
  const auto* from = values_of<char>(data);
  auto* to = mutable_values_of<char>(result);
  const auto copy_rows = gather_detail::copy_rows_of(row_bytes);
  const int64_t work = tuples.count * std::max<int64_t>(width, 4);
  const int64_t tasks = std::max<int64_t>(1, std::min<int64_t>(work / kSerialElements, tuples.count / kBlockRows));
  std::atomic<bool> bad{false};
  for_each_task(tasks, [&](int64_t task, int64_t) {
    const int64_t end = part_begin(tuples.count, tasks, task + 1);
    int64_t offsets[kBlockRows];
    for (int64_t block = part_begin(tuples.count, tasks, task); block < end; block += kBlockRows) {
      const int64_t block_end = std::min(block + kBlockRows, end);
      if (!index_kernels().read_offsets(tuples, block, block_end, offsets) && bad_indices == BadIndices::kError) {
        bad.store(true, std::memory_order_relaxed);
        return;
      }
      copy_rows(from, offsets, block_end - block, item_bytes, row_bytes, to + block * row_bytes);
    }
  });
  return !bad;
}

}  // namespace torch_sparse_ops
