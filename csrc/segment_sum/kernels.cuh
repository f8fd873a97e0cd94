// The sum of rows over sorted segment ids: the one reduction of the CUDA backend.
//
// The work is cut along the merge of the entries' ids with the ends of the segments 0, 1, ... (Merrill and Garland,
// "Merge-based parallel sparse matrix-vector multiplication", SC16): each block takes an equal part of that merge, so
// that neither one giant segment nor many empty ones unbalance it. The threads of a block cut its entries once more,
// each sums a part in one column and carries its first and last run, which may go on outside, through shared memory to
// the block's next stage; and blocks carry theirs to the next pass. Parts depend on sizes and ids alone, and so do the
// order of the additions and the bits of the result.
//
// Ids and rows out of bounds contribute nothing. Unsorted ids give sums of some rows, or zeros where a block notices
// that its part of the merge is impossible; no access leaves the arrays, and every row is written, for blocks meet at
// the same places of the merge whatever the search finds.
#pragma once

#include "../common/row_tiling.cuh"
#include "runs.cuh"

namespace torch_sparse_ops {
namespace segment_sum_detail {

// A SegmentSum in packs. The first pass reads the caller's rows, each other one what the pass before it carried.
template <class T, class Value, int V>
struct Pass {
  const Pack<Value, V>* rows;
  int64_t num_rows;
  int64_t row_stride;
  IndexArray row_indices;
  IndexArray segment_ids;
  int64_t num_entries;
  Pack<T, V>* out;
  int64_t num_segments;
  RowTiling tiling;
  bool fills_out;  // the first pass: blocks share out the segments too and zero them
  int64_t items_per_block = 0;
  int64_t* carried_ids = nullptr;  // two a block; none in the last pass, whose one block finishes every run
  Pack<Accumulator<T>, V>* carried_sums = nullptr;
};

template <class T, class Value, int V>
struct Entries {
  using Values = Pack<Value, V>;
  const Pass<T, Value, V>& pass;
  int64_t column;

  // The segments of the entries from `begin` on, or kInvalid, and what is to be added to them.
  template <int N>
  __device__ void find(int64_t begin, int64_t last, int64_t (&ids)[N], const Values* (&values)[N]) const {
    int64_t rows[N];
    pass.segment_ids.read(begin, last, ids);
    if (pass.row_indices.data) {
      pass.row_indices.read(begin, last, rows);
    } else {
#pragma unroll
      for (int i = 0; i < N; i++) rows[i] = begin + i;
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
      const bool is_valid = ids[i] >= 0 && ids[i] < pass.num_segments && rows[i] >= 0 && rows[i] < pass.num_rows;
      if (!is_valid) ids[i] = kInvalid;
      values[i] = pass.rows + rows[i] * pass.row_stride + column;
    }
  }
};

// How many entries are among the first `diagonal` items of the merge, in which entry e precedes the end of its segment:
// the least e in `range` with segment_ids[e] + e >= diagonal. The lanes of a warp probe 32 places at once.
__device__ inline int64_t entries_before(const IndexArray& segment_ids, Range range, int64_t diagonal) {
  const int lane = threadIdx.x % 32;
  while (range.begin < range.end) {
    const int64_t step = ceil_div<int64_t>(range.end - range.begin, 32);
    const int64_t probe = range.begin + lane * step;
    const bool before = probe < range.end && segment_ids[probe] < diagonal - probe;
    const int count = __popc(__ballot_sync(~0u, before));
    range.end = min(range.end, range.begin + count * step);
    if (count > 0) range.begin += (count - 1) * step + 1;
  }
  return range.begin;
}

template <class T, class Value, int V>
__device__ void zero_rows(const Pass<T, Value, V>& pass, Range ids, const ThreadTile& thread) {
#pragma unroll 1  // to count the steps would take a slow division, and stores wait for nothing
  for (int64_t id = ids.begin + thread.row; id < ids.end; id += pass.tiling.rows)
    pass.out[id * pass.tiling.packs_per_row + thread.column] = {};
}

// The id that a block carries, instead of runs, if it finds ids that do not ascend.
inline constexpr int64_t kUnsorted = -2;

// The block's part of the entries, and whether it can be: of the merge in the first pass, which also zeroes the block's
// part of the segments, and of what was carried in the others.
template <class T, class Value, int V>
__device__ Range begin_block(const Pass<T, Value, V>& pass, const ThreadTile& thread, bool& is_sorted) {
  if (!pass.fills_out) {
    const Range entries = Range{0, pass.num_entries}.part(pass.items_per_block, block_row());
    bool found = false;
    for (int64_t e = entries.begin + threadIdx.x; e < entries.end; e += kThreads)
      found |= pass.segment_ids[e] == kUnsorted;
    is_sorted = !__syncthreads_or(found);
    return entries;
  }

  __shared__ int64_t borders[2];
  const Range items = Range{0, pass.num_entries + pass.num_segments}.part(pass.items_per_block, block_row());
  if (threadIdx.x < 64) {
    const int64_t diagonal = threadIdx.x < 32 ? items.begin : items.end;
    const Range range{max(diagonal - pass.num_segments, int64_t{0}), min(diagonal, pass.num_entries)};
    const int64_t border = entries_before(pass.segment_ids, range, diagonal);
    if (threadIdx.x % 32 == 0) borders[threadIdx.x / 32] = border;
  }
  __syncthreads();
  const Range entries{borders[0], borders[1]}, segments{items.begin - borders[0], items.end - borders[1]};
  is_sorted = entries.begin <= entries.end && segments.begin <= segments.end;
  if (thread.is_active && is_sorted) zero_rows(pass, segments, thread);
  __syncthreads();  // the zeros come before the sums that other threads write over them
  return entries;
}

// Lets the last pass, a single block, zero everything. Slow, but it is no result that anyone waits for.
template <class T, class Value, int V>
__device__ void give_up(const Pass<T, Value, V>& pass, const ThreadTile& thread) {
  if (!thread.is_active) return;
  if (!pass.carried_ids)
    zero_rows(pass, {0, pass.num_segments}, thread);
  else if (thread.column == 0 && thread.row < 2)
    pass.carried_ids[2 * block_row() + thread.row] = kUnsorted;
}

inline constexpr int kRunsPerThread = 16;  // in the stages after a block's first

// The carried runs of all stages of a block, times its columns.
constexpr int carried_packs(int rows) {
  int stage = 2 * rows, runs = stage;
  while (stage > kRunsPerThread) runs += stage = 2 * ceil_div(stage, kRunsPerThread);
  return runs * (kThreads / rows);
}
constexpr int max_carried_packs() {
  int packs = 0;
  for (int rows = 1; rows <= kThreads; rows++) packs = std::max(packs, carried_packs(rows));
  return packs;
}
inline constexpr int kCarriedPacks = max_carried_packs();

inline constexpr int kBlocksPerMultiprocessor = 7;  // leaves each thread just the registers that it needs

template <class T, class Value, int V>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor) sum_pass(const Pass<T, Value, V> pass) {
  using Sums = Pack<Accumulator<T>, V>;
  __shared__ int64_t slot_ids[kCarriedPacks];
  __shared__ Sums slot_sums[kCarriedPacks];
  const RowTiling& tiling = pass.tiling;
  const ThreadTile thread(tiling, block_column());
  const CarriedRuns<Accumulator<T>, V> slots{slot_ids, slot_sums, tiling.columns, thread.tile_column};

  const auto finish = [&](int64_t id, const Sums& sum) {
    pass.out[id * tiling.packs_per_row + thread.column] = rounded<T>(sum);
  };
  const auto carry_to_slots = [&slots](int first_slot) {
    return [&slots, first_slot](int which, int64_t id, const Sums& sum) { slots.store(first_slot + which, id, sum); };
  };
  const auto carry_to_next_pass = [&](int which, int64_t id, const Sums& sum) {
    const int64_t slot = 2 * block_row() + which;
    if (pass.carried_ids) {
      if (thread.column == 0) pass.carried_ids[slot] = id;
      pass.carried_sums[slot * tiling.packs_per_row + thread.column] = sum;
    } else if (id != kInvalid) {
      finish(id, sum);
    }
  };

  bool is_sorted;
  const Range entries = begin_block(pass, thread, is_sorted);
  if (!is_sorted) return give_up(pass, thread);
  const Range part = entries.part(ceil_div(entries.size(), tiling.rows), thread.row);
  if (thread.is_active)
    sum_runs<T, V>(Entries<T, Value, V>{pass, thread.column}, part, finish, carry_to_slots(2 * thread.row));
  Range stage{0, 2 * tiling.rows};
  while (stage.size() > kRunsPerThread) {
    const int threads = ceil_div(stage.size(), kRunsPerThread);
    const Range next{stage.end, stage.end + 2 * threads};
    __syncthreads();
    if (thread.is_active && thread.row < threads)
      sum_runs<T, V>(slots, stage.part(kRunsPerThread, thread.row), finish,
                     carry_to_slots(static_cast<int>(next.begin) + 2 * thread.row));
    stage = next;
  }
  __syncthreads();
  if (thread.is_active && thread.row == 0) sum_runs<T, V>(slots, stage, finish, carry_to_next_pass);
}

}  // namespace segment_sum_detail
}  // namespace torch_sparse_ops
