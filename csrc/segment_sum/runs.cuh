// How one thread sums its part of the entries in one column: run by run, a run being neighbours of equal id.
#pragma once

#include "../common/index_array.cuh"
#include "../common/values.cuh"

namespace torch_sparse_ops {

struct Range {
  int64_t begin, end;

  __device__ int size() const { return static_cast<int>(end - begin); }
  __device__ Range part(int64_t part_size, int64_t number) const {
    const int64_t part_begin = min(begin + number * part_size, end);
    return {part_begin, min(part_begin + part_size, end)};
  }
};

// Independent loads that a thread has on the way. More would cost registers, and so threads.
template <class Values>
inline constexpr int kLoadsInFlight = sizeof(Values) > 16 ? 2 : 4;

// Sums the runs among `entries` of `source`. Those that surely end within them are finished: finish(id, sum). The first
// and the last may go on outside and are carried: carry(0, id, sum) and carry(1, id, sum), where the id is kInvalid if
// there is no such run.
template <class T, int V, class Source, class Finish, class Carry>
__device__ void sum_runs(const Source& source, Range entries, const Finish& finish, const Carry& carry) {
  using Values = typename Source::Values;
  constexpr int loads = kLoadsInFlight<Values>;
  int64_t run = kInvalid;
  bool is_first = true;
  Pack<Accumulator<T>, V> sum{};
  for (int64_t begin = entries.begin; begin < entries.end; begin += loads) {
    int64_t ids[loads];
    const Values* rows[loads];
    InWords<Values> values[loads];
    source.find(begin, entries.end - 1, ids, rows);
#pragma unroll
    for (int i = 0; i < loads; i++) {
      if (begin + i >= entries.end) ids[i] = kInvalid;
      if (ids[i] != kInvalid) values[i] = InWords<Values>::load(rows[i]);
    }
#pragma unroll
    for (int i = 0; i < loads; i++) {
      if (ids[i] == kInvalid) continue;
      if (ids[i] != run) {
        if (run != kInvalid && is_first) {
          carry(0, run, sum);
          is_first = false;
        } else if (run != kInvalid) {
          finish(run, sum);
        }
        run = ids[i];
        sum = {};
      }
      add<T>(sum, values[i].unpacked());
    }
  }
  if (is_first) carry(0, kInvalid, sum);
  carry(1, run, sum);
}

// A source that has been summed before: runs carried from one stage of a block to its next, in shared memory.
template <class Sum, int V>
struct CarriedRuns {
  using Values = Pack<Sum, V>;
  int64_t* ids;
  Values* sums;
  int columns;
  int column;

  __device__ void store(int slot, int64_t id, const Values& sum) const {
    if (column == 0) ids[slot] = id;
    sums[slot * columns + column] = sum;
  }

  template <int N>
  __device__ void find(int64_t begin, int64_t last, int64_t (&found_ids)[N], const Values* (&values)[N]) const {
#pragma unroll
    for (int i = 0; i < N; i++) {
      const int slot = static_cast<int>(min(begin + i, last));
      found_ids[i] = ids[slot];
      values[i] = sums + slot * columns + column;
    }
  }
};

}  // namespace torch_sparse_ops
