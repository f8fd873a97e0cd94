// Rows copied from given places: gather_nd, and the transpose of an ungathered segment_sum. Bytes are bytes: kernels
// differ by the size of the words in which they copy, not by dtype.
#pragma once

#include "../common/index_array.cuh"
#include "../common/row_tiling.cuh"
#include "../common/values.cuh"

namespace torch_sparse_ops {

// Row i of `out` is the row of `data` at tuple_offset(tuples, i), in items; zeros where the tuple is out of bounds.
struct RowGather {
  const char* data;
  int64_t item_bytes;
  IndexTuples tuples;
  char* out;
  int64_t row_bytes;
};

namespace gather_nd_detail {

inline constexpr int kRowsPerThread = 4;

template <class Word>
__global__ void __launch_bounds__(kThreads) copy_rows(const RowGather gather, const RowTiling tiling) {
  const ThreadTile thread(tiling, block_column());
  const int64_t first = block_row() * tiling.rows * kRowsPerThread + thread.row;
  if (!thread.is_active || first >= gather.tuples.count) return;
  int64_t offsets[kRowsPerThread];
  Word words[kRowsPerThread];
  tuple_offsets(gather.tuples, first, tiling.rows, offsets);
#pragma unroll
  for (int i = 0; i < kRowsPerThread; i++) {
    words[i] = {};
    if (offsets[i] != kInvalid)
      words[i] = reinterpret_cast<const Word*>(gather.data + offsets[i] * gather.item_bytes)[thread.column];
  }
#pragma unroll
  for (int i = 0; i < kRowsPerThread; i++) {
    const int64_t row = first + i * tiling.rows;
    if (row < gather.tuples.count)
      reinterpret_cast<Word*>(gather.out)[row * tiling.packs_per_row + thread.column] = words[i];
  }
}

template <class Word>
void launch_copy(const RowGather& gather, cudaStream_t stream) {
  const RowTiling tiling(gather.row_bytes / sizeof(Word));
  const int64_t rows_per_block = tiling.rows * kRowsPerThread;
  launch(copy_rows<Word>, "gather_nd", ceil_div(gather.tuples.count, rows_per_block), tiling.column_tiles, stream,
         gather, tiling);
}

// All that addresses are made of, or-ed together.
inline uintptr_t alignment_bits(const RowGather& gather) {
  uintptr_t bits =
      reinterpret_cast<uintptr_t>(gather.data) | reinterpret_cast<uintptr_t>(gather.out) | gather.row_bytes;
  for (int k = 0; k < gather.tuples.depth; k++) bits |= gather.tuples.multiplier[k] * gather.item_bytes;
  return bits;
}

}  // namespace gather_nd_detail

inline void gather_rows(const RowGather& gather, cudaStream_t stream) {
  using namespace gather_nd_detail;
  if (gather.row_bytes == 0 || gather.tuples.count == 0) return;
  with_word_size(alignment_bits(gather), [&]<class Word>() { launch_copy<Word>(gather, stream); });
}

}  // namespace torch_sparse_ops
