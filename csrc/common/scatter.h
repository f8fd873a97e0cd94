// Rows added at given rows of a zero result: scatter_nd, and the transpose of segment_sum. Each row of the result sums
// in the order of the input, whatever the threads.
//
// The result is cut into buckets of rows that fit in the second-level cache. A counting pass and a distributing pass
// (both check the indices) bring together what belongs to a bucket; then buckets are summed independently, each in
// input order. A bucket with far more than its share is cut into pieces, at positions that depend on the counts alone;
// they are summed side by side and then added in order. A result that fits in one bucket needs no distribution.
#pragma once

#include "cpu.h"

namespace torch_sparse_ops {

// Row rows[i] (or i, without `rows`) of `source`, rows of `width` reals following each other, is added at row
// targets[i] of `result`, which has `num_rows`. Returns whether the result stands: with kError, false if any tuple of
// either is bad.
bool scatter_add_rows(const Tensor& source, const IndexTuples* rows, const IndexTuples& targets, BadIndices bad_indices,
                      int64_t num_rows, int64_t width, const Tensor& result);

}  // namespace torch_sparse_ops
