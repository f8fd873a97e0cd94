// The problem that the reduction solves.
#pragma once

#include "../common/index_array.cuh"

namespace torch_sparse_ops {

// Adds row row_indices[e] of `rows` (row e without data) to row segment_ids[e] of `out`, which is written whole.
template <class T>
struct SegmentSum {
  const T* rows;
  int64_t num_rows;
  int64_t row_stride;
  IndexArray row_indices;
  IndexArray segment_ids;
  int64_t num_entries;
  T* out;
  int64_t num_segments;
  int64_t width;

  // The same memory as values of another type, `values` of T in each.
  template <class U>
  SegmentSum<U> as(int64_t values) const {
    return {static_cast<const U*>(static_cast<const void*>(rows)),
            num_rows,
            row_stride / values,
            row_indices,
            segment_ids,
            num_entries,
            static_cast<U*>(static_cast<void*>(out)),
            num_segments,
            width / values};
  }
};

}  // namespace torch_sparse_ops
