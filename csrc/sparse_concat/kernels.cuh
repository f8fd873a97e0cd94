// The entries of several sparse tensors, concatenated and put in row-major order. Entries are sorted, stably, by a
// linear key over just the bits that the result's shape needs; where the shape does not fit in one key, by groups of
// columns from the last to the first. Finding out whether the inputs are sorted already would cost a synchronisation
// with the host, more than the sort.
//
// An entry with an index outside its input's shape contributes nothing: it comes last, at the last position of the
// result, with a value of zero.
#pragma once

#include <bit>
#include <limits>
#include <vector>

#include "../common/index_array.cuh"
#include "../common/primitives.cuh"
#include "../common/row_tiling.cuh"
#include "../common/values.cuh"

namespace torch_sparse_ops {

struct ConcatInput {
  const int64_t* indices;
  int64_t entry_stride, component_stride;
  const char* values;
  int64_t begin;   // its first entry among those of all inputs
  int64_t offset;  // along the concatenated dimension
};

struct Concat {
  std::vector<ConcatInput> inputs;
  std::vector<int64_t> sizes;  // of the inputs, [inputs, rank]
  std::vector<int64_t> shape;  // of the result
  int rank, dim;
  int64_t nnz;
  int64_t value_bytes;
  int64_t* out_indices;  // [nnz, rank]
  char* out_values;      // [nnz, value_bytes]
};

namespace sparse_concat_detail {

// As many inputs as a kernel's parameters can hold: pointers need no copy to the device that way.
struct InputBatch {
  static constexpr int kMaxInputs = 64, kMaxSizes = 1024;
  int64_t begin, end;  // entries
  int count = 0, rank, dim;
  ConcatInput inputs[kMaxInputs];
  int64_t sizes[kMaxSizes];

  __device__ bool contains(int64_t entry) const { return entry >= begin && entry < end; }
  __device__ int input_of(int64_t entry) const {
    int first = 0, last = count - 1;
    while (first < last) {
      const int middle = (first + last + 1) / 2;
      if (inputs[middle].begin <= entry)
        first = middle;
      else
        last = middle - 1;
    }
    return first;
  }
  // In the result.
  __device__ int64_t component(int input, int64_t entry, int k) const {
    const ConcatInput& from = inputs[input];
    const int64_t value = from.indices[(entry - from.begin) * from.entry_stride + k * from.component_stride];
    return k == dim ? value + from.offset : value;
  }
  __device__ bool is_valid(int input, int64_t entry) const {
    bool valid = true;
    for (int k = 0; k < rank; k++) {
      const int64_t value = component(input, entry, k) - (k == dim ? inputs[input].offset : 0);
      valid &= value >= 0 && value < sizes[input * rank + k];
    }
    return valid;
  }
};

// Neighbouring columns whose sizes have a product of `end` and so make a linear key; that of invalid entries is `end`.
struct ColumnGroup {
  int first, last;
  int64_t sizes[kMaxRank];
  uint64_t end;
};

template <class Entry>
__global__ void __launch_bounds__(kThreads) entry_keys(const InputBatch batch, const ColumnGroup group, int64_t nnz,
                                                       bool is_first, Pairs<uint64_t, Entry> pairs) {
  const int64_t i = block_row() * kThreads + threadIdx.x;
  if (i >= nnz) return;
  const int64_t entry = is_first ? i : static_cast<int64_t>(pairs.values[i]);
  if (!batch.contains(entry)) return;
  const int input = batch.input_of(entry);
  uint64_t key = 0;
  for (int k = group.first; k <= group.last; k++) key = key * group.sizes[k] + batch.component(input, entry, k);
  pairs.keys[i] = batch.is_valid(input, entry) ? key : group.end;
  if (is_first) pairs.values[i] = static_cast<Entry>(entry);
}

struct ResultShape {
  int64_t sizes[kMaxRank];
};

template <class Entry>
__global__ void __launch_bounds__(kThreads)
    copy_indices(const InputBatch batch, const ResultShape shape, int64_t nnz, Pairs<uint64_t, Entry> sorted,
                 uint64_t invalid, int64_t* out) {
  const int64_t i = block_row() * kThreads + threadIdx.x;
  if (i >= nnz || !batch.contains(sorted.values[i])) return;
  const int input = batch.input_of(sorted.values[i]);
  for (int k = 0; k < batch.rank; k++)
    out[i * batch.rank + k] =
        sorted.keys[i] == invalid ? max(shape.sizes[k] - 1, int64_t{0}) : batch.component(input, sorted.values[i], k);
}

template <class Word, class Entry>
__global__ void __launch_bounds__(kThreads) copy_values(const InputBatch batch, const RowTiling tiling, int64_t nnz,
                                                        Pairs<uint64_t, Entry> sorted, uint64_t invalid, Word* out) {
  const ThreadTile thread(tiling, block_column());
  const int64_t i = block_row() * tiling.rows + thread.row;
  if (!thread.is_active || i >= nnz || !batch.contains(sorted.values[i])) return;
  const ConcatInput& from = batch.inputs[batch.input_of(sorted.values[i])];
  const int64_t row = sorted.values[i] - from.begin;
  Word value = {};
  if (sorted.keys[i] != invalid)
    value = reinterpret_cast<const Word*>(from.values)[row * tiling.packs_per_row + thread.column];
  out[i * tiling.packs_per_row + thread.column] = value;
}

inline std::vector<InputBatch> batches(const Concat& concat) {
  std::vector<InputBatch> result;
  const size_t inputs_per_batch = std::min(InputBatch::kMaxInputs, InputBatch::kMaxSizes / concat.rank);
  for (size_t i = 0; i < concat.inputs.size(); i++) {
    if (i % inputs_per_batch == 0) result.push_back({concat.inputs[i].begin, 0, 0, concat.rank, concat.dim, {}, {}});
    InputBatch& batch = result.back();
    std::copy_n(&concat.sizes[i * concat.rank], concat.rank, &batch.sizes[batch.count * concat.rank]);
    batch.inputs[batch.count++] = concat.inputs[i];
    batch.end = i + 1 < concat.inputs.size() ? concat.inputs[i + 1].begin : concat.nnz;
  }
  return result;
}

// From the last columns to the first.
inline std::vector<ColumnGroup> column_groups(const std::vector<int64_t>& shape) {
  std::vector<ColumnGroup> groups;
  for (int k = static_cast<int>(shape.size()) - 1; k >= 0; k--) {
    const uint64_t size = std::max<int64_t>(shape[k], 1);
    if (groups.empty() || groups.back().end > std::numeric_limits<int64_t>::max() / size)
      groups.push_back({k, k, {}, 1});
    ColumnGroup& group = groups.back();
    group.first = k;
    group.sizes[k] = size;
    group.end *= size;
  }
  return groups;
}

template <class Word, class Entry>
void launch_copy_values(const Concat& concat, const InputBatch& batch, const Pairs<uint64_t, Entry>& sorted,
                        uint64_t invalid, cudaStream_t stream) {
  const RowTiling tiling(concat.value_bytes / sizeof(Word));
  launch(copy_values<Word, Entry>, "sparse_concat", ceil_div<int64_t>(concat.nnz, tiling.rows), tiling.column_tiles,
         stream, batch, tiling, concat.nnz, sorted, invalid, reinterpret_cast<Word*>(concat.out_values));
}

template <class Entry, class Allocate>
void sort_and_copy(const Concat& concat, const Allocate& allocate, cudaStream_t stream) {
  Pairs<uint64_t, Entry> pairs{static_cast<uint64_t*>(allocate(concat.nnz * sizeof(uint64_t))),
                               static_cast<Entry*>(allocate(concat.nnz * sizeof(Entry)))};
  const int64_t blocks = ceil_div<int64_t>(concat.nnz, kThreads);
  const std::vector<InputBatch> all_batches = batches(concat);
  const std::vector<ColumnGroup> groups = column_groups(concat.shape);
  for (const ColumnGroup& group : groups) {
    for (const InputBatch& batch : all_batches)
      launch(entry_keys<Entry>, "sparse_concat", blocks, 1, stream, batch, group, concat.nnz, &group == &groups[0],
             pairs);
    pairs = sort_pairs(pairs, concat.nnz, std::bit_width(group.end), allocate, stream);
  }

  const uint64_t invalid = groups.back().end;
  ResultShape shape;
  std::copy(concat.shape.begin(), concat.shape.end(), shape.sizes);
  uintptr_t alignment = reinterpret_cast<uintptr_t>(concat.out_values) | concat.value_bytes;
  for (const ConcatInput& input : concat.inputs) alignment |= reinterpret_cast<uintptr_t>(input.values);
  for (const InputBatch& batch : all_batches) {
    launch(copy_indices<Entry>, "sparse_concat", blocks, 1, stream, batch, shape, concat.nnz, pairs, invalid,
           concat.out_indices);
    if (concat.value_bytes > 0)
      with_word_size(alignment, [&]<class Word>() { launch_copy_values<Word>(concat, batch, pairs, invalid, stream); });
  }
}

}  // namespace sparse_concat_detail

// allocate(bytes) returns device memory, 16-byte aligned, that lives until `stream` has come this far.
template <class Allocate>
void concat_entries(const Concat& concat, const Allocate& allocate, cudaStream_t stream) {
  if (concat.nnz == 0) return;
  if (concat.nnz <= std::numeric_limits<int32_t>::max())
    sparse_concat_detail::sort_and_copy<int32_t>(concat, allocate, stream);
  else
    sparse_concat_detail::sort_and_copy<int64_t>(concat, allocate, stream);
}

}  // namespace torch_sparse_ops
