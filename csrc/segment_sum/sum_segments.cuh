// The passes of a sum over sorted segment ids, with memory for what one carries to the next. The kernels, and why: see
// kernels.cuh.
#pragma once

#include "kernels.cuh"
#include "segment_sum.cuh"

namespace torch_sparse_ops {
namespace segment_sum_detail {

// How the first pass is cut into parts. Sizes alone decide, not addresses or strides, lest these change the bits.
struct Cut {
  int rows;
  int64_t items_per_thread;

  template <class T>
  explicit Cut(const SegmentSum<T>& sum) {
    const int64_t row_bytes = sum.width * sizeof(T), packs = row_bytes / pack_bytes<T>(row_bytes);
    // Long parts carry little; short ones keep every multiprocessor busy on a small problem.
    constexpr int64_t threads_of_a_large_gpu = 1 << 18;
    rows = RowTiling::rows_of(packs);
    items_per_thread =
        std::clamp<int64_t>((sum.num_entries + sum.num_segments) * packs / threads_of_a_large_gpu, 8, 64);
  }
};

// Cuts a pass into blocks and launches it, with memory for what they carry. Returns their number.
template <class T, class Value, int V, class Allocate>
int64_t launch_pass(Pass<T, Value, V>& pass, int64_t items, int64_t items_per_thread, const Allocate& allocate,
                    cudaStream_t stream) {
  using Sums = Pack<Accumulator<T>, V>;
  pass.items_per_block = items_per_thread * pass.tiling.rows;
  const int64_t blocks = ceil_div(items, pass.items_per_block), runs = 2 * blocks;
  if (blocks > 1) {
    pass.carried_ids = static_cast<int64_t*>(allocate(runs * sizeof(int64_t)));
    pass.carried_sums = static_cast<Sums*>(allocate(runs * pass.tiling.packs_per_row * sizeof(Sums)));
  }
  launch(sum_pass<T, Value, V>, "segment_sum", blocks, pass.tiling.column_tiles, stream, pass);
  return blocks;
}

template <class T, int V, class Allocate>
void sum_packs(const SegmentSum<T>& sum, const Cut& cut, const Allocate& allocate, cudaStream_t stream) {
  const RowTiling tiling(sum.width / V, cut.rows);
  const auto in_packs = sum.template as<Pack<T, V>>(V);
  Pass<T, T, V> first{in_packs.rows,   sum.num_rows, in_packs.row_stride, sum.row_indices, sum.segment_ids,
                      sum.num_entries, in_packs.out, sum.num_segments,    tiling,          true};
  const int64_t items = sum.num_entries + sum.num_segments;
  int64_t runs = 2 * launch_pass(first, items, cut.items_per_thread, allocate, stream);

  int64_t* ids = first.carried_ids;
  Pack<Accumulator<T>, V>* sums = first.carried_sums;
  while (ids) {
    Pass<T, Accumulator<T>, V> next{sums, runs,      tiling.packs_per_row, {},     {ids},
                                    runs, first.out, sum.num_segments,     tiling, false};
    runs = 2 * launch_pass(next, runs, kRunsPerThread, allocate, stream);
    ids = next.carried_ids;
    sums = next.carried_sums;
  }
}

}  // namespace segment_sum_detail

// allocate(bytes) returns device memory, 16-byte aligned, that lives until `stream` has come this far.
template <class T, class Allocate>
void sum_segments(const SegmentSum<T>& sum, const Allocate& allocate, cudaStream_t stream) {
  if (sum.width == 0 || sum.num_segments == 0) return;
  const segment_sum_detail::Cut cut(sum);
  const uintptr_t addresses = reinterpret_cast<uintptr_t>(sum.rows) | reinterpret_cast<uintptr_t>(sum.out);
  with_pack_of<T>(pack_bytes<T>(addresses | (sum.width | sum.row_stride) * sizeof(T)), [&]<class U, int V>() {
    segment_sum_detail::sum_packs<U, V>(sum.template as<U>(sizeof(U) / sizeof(T)), cut, allocate, stream);
  });
}

}  // namespace torch_sparse_ops
