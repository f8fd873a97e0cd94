// The inner loops, once per instruction set and chosen when the library loads. Plain functions over pointers and sizes.
// Rows have `width` elements; strides count elements. Every set computes the same bits: sums are per column, in the
// order of the rows, or in a fixed number of lanes.
#pragma once

#include <cstdint>

#include "index_tuples.h"
#include "value_types.h"

namespace torch_sparse_ops {

// Rows are worked on in blocks whose indices are read once into local storage, checked there and used from there, so
// that nothing another thread writes to the indices meanwhile can lead out of bounds.
inline constexpr int64_t kBlockRows = 1024;
// How many indices beyond its end a block reads to fetch their rows in time.
inline constexpr int64_t kLookAhead = 24;

// Consecutive rows of a block that share a segment: run r is rows [r ? end[r - 1] : 0, end[r]).
struct Runs {
  int64_t count = 0;
  int64_t end[kBlockRows];
  int64_t segment[kBlockRows];
};

// Row i of `data` is data + i * stride, or data + rows[i] * stride if `rows` is given; `rows_available` of them may be
// looked ahead at.
template <class T>
struct RowSource {
  const T* data;
  int64_t stride;
  const int64_t* rows;
  int64_t rows_available;
};

template <class T>
struct RowKernels {
  using Acc = Accumulator<T>;
  // out[segment[r] * out_stride] = sum of run r, for r in [begin, end).
  void (*sum_runs)(const RowSource<T>&, const Runs&, int64_t begin, int64_t end, int64_t width, T* out,
                   int64_t out_stride);
  // total = or += sum of rows [begin, end).
  void (*sum_rows)(const RowSource<T>&, int64_t begin, int64_t end, int64_t width, Acc* total, bool accumulate);
  // out[target[i] * width] += row i, for i < count, in that order.
  void (*add_rows)(const RowSource<T>&, const int64_t* target, int64_t count, int64_t width, Acc* out);
  // values[i] = row i, for i < count; the rows have one column.
  void (*widen)(const RowSource<T>&, int64_t count, Acc* values);
  // into[i] += from[i]
  void (*add)(Acc* into, const Acc* from, int64_t count);
  // to[i] = from[i], rounded once
  void (*round)(T* to, const Acc* from, int64_t count);
};

struct IndexKernels {
  // Writes the offsets of tuples [begin, end), kInvalid for those out of bounds; false if there were any.
  bool (*read_offsets)(const IndexTuples&, int64_t begin, int64_t end, int64_t* offsets);
  // The runs of equal ids among [begin, end), counted from `begin`; false unless floor <= ids, which ascend, < limit.
  bool (*read_runs)(const IndexTuples&, int64_t begin, int64_t end, int64_t floor, int64_t limit, Runs&);
};

template <class T>
const RowKernels<T>& row_kernels();
const IndexKernels& index_kernels();

// The name of the instruction set in use: "baseline", "avx2" or "avx512".
const char* instruction_set();

}  // namespace torch_sparse_ops
