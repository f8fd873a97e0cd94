// Rows added at given rows of a zero result, for scatter_nd and the transpose of segment_sum: the targets are sorted,
// stably, and then it is segment_sum with a row gather. No atomics, and the same bits in every run.
#pragma once

#include <bit>
#include <limits>

#include "../common/index_array.cuh"
#include "../common/primitives.cuh"

namespace torch_sparse_ops {

// Row rows[i] of the source belongs to row targets[i] of the result, where targets ascend; invalid ones are the last.
struct SortedTargets {
  IndexArray targets;
  IndexArray rows;
};

namespace scatter_nd_detail {

template <class Key, class Row>
__global__ void __launch_bounds__(kThreads)
    target_keys(const IndexTuples targets, const IndexArray source_rows, int64_t num_source_rows, int64_t num_rows,
                Pairs<Key, Row> pairs) {
  const int64_t i = block_row() * kThreads + threadIdx.x;
  if (i >= targets.count) return;
  const int64_t target = tuple_offset(targets, i), row = source_rows.data ? source_rows[i] : i;
  pairs.keys[i] = static_cast<Key>(target == kInvalid ? num_rows : target);
  pairs.values[i] = static_cast<Row>(row >= 0 && row < num_source_rows ? row : kInvalid);
}

template <class Key, class Row, class Allocate>
SortedTargets sort_targets(const IndexTuples& targets, const IndexArray& source_rows, int64_t num_source_rows,
                           int64_t num_rows, const Allocate& allocate, cudaStream_t stream) {
  const int64_t count = targets.count;
  Pairs<Key, Row> pairs{static_cast<Key*>(allocate(count * sizeof(Key))),
                        static_cast<Row*>(allocate(count * sizeof(Row)))};
  launch(target_keys<Key, Row>, "scatter_nd", ceil_div<int64_t>(count, kThreads), 1, stream, targets, source_rows,
         num_source_rows, num_rows, pairs);
  if (count > 1) pairs = sort_pairs(pairs, count, std::bit_width(static_cast<uint64_t>(num_rows)), allocate, stream);
  return {{pairs.keys, sizeof(Key) == 8}, {pairs.values, sizeof(Row) == 8}};
}

}  // namespace scatter_nd_detail

// Row source_rows[i] of the source (row i without data) is added at row tuple_offset(targets, i) of a result of
// `num_rows`. allocate(bytes) returns device memory, 16-byte aligned, that lives until `stream` has come this far.
template <class Allocate>
SortedTargets sort_targets(const IndexTuples& targets, const IndexArray& source_rows, int64_t num_source_rows,
                           int64_t num_rows, const Allocate& allocate, cudaStream_t stream) {
  const bool is_narrow = std::max({targets.count, num_source_rows, num_rows}) <= std::numeric_limits<int32_t>::max();
  const auto sort = is_narrow ? scatter_nd_detail::sort_targets<uint32_t, int32_t, Allocate>
                              : scatter_nd_detail::sort_targets<uint64_t, int64_t, Allocate>;
  return sort(targets, source_rows, num_source_rows, num_rows, allocate, stream);
}

}  // namespace torch_sparse_ops
