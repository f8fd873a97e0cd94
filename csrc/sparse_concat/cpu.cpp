// sparse_concat on the CPU. Inputs are taken to be sorted and are merged chunk by chunk in cache (merge.h); each
// entry's bounds and order are checked as it is copied. If an input turns out not to be sorted, or the prefixes do not
// fit in an int64, all entries are sorted instead.
#include <numeric>

#include "../common/cpu.h"
#include "merge.h"

namespace torch_sparse_ops {
namespace {

constexpr int64_t kChunkEntries = 8 << 10;  // about 200 KB of result: it stays in the second-level cache

enum Finding : int { kSorted = 0, kUnsorted = 1, kOutOfBounds = 2 };

struct Result {
  int64_t* indices;
  char* values;
};

// Copies entries [begin, end) of an input to places base + place[0], base + place[1], ... of the result (or base,
// base + 1, ... without `place`) and tells what it found. kRank, kBytes: rank and bytes of a value where known when
// compiling, else 0.
template <int kRank, int kBytes>
int copy_entries(const SparseConcatProblem& problem, const SparseInput& input, int64_t begin, int64_t end, int64_t base,
                 const uint32_t* place, const Result& result) {
  const int rank = kRank ? kRank : problem.rank;
  const int64_t bytes = kBytes ? kBytes : problem.value_bytes;
  const auto* values = static_cast<const char*>(input.values);
  int64_t previous[kRank ? kRank : kMaxRank];
  for (int k = 0; k < rank; k++)
    previous[k] = begin ? input.indices[(begin - 1) * input.entry_stride + k * input.component_stride] : kInvalid;
  bool outside = false, descends = false;
  const auto copy = [&](auto entry_stride, auto component_stride) {
    for (int64_t i = begin; i < end; i++) {
      const int64_t at = base + (place ? place[i - begin] : i - begin);
      int64_t* to = result.indices + at * rank;
      bool equal_so_far = true;
      for (int k = 0; k < rank; k++) {
        const int64_t value = input.indices[i * entry_stride + k * component_stride];
        outside |= static_cast<uint64_t>(value) >= static_cast<uint64_t>(input.shape[k]);
        descends |= equal_so_far & (value < previous[k]);
        equal_so_far &= value == previous[k];
        previous[k] = value;
        to[k] = static_cast<int64_t>(static_cast<uint64_t>(value) + (k == problem.dim ? input.offset : 0));
      }
      if (place) std::memcpy(result.values + at * bytes, values + i * bytes, bytes);
    }
  };
  if (kRank && input.entry_stride == kRank && input.component_stride == 1)
    copy(std::integral_constant<int, kRank>{}, std::integral_constant<int, 1>{});
  else
    copy(input.entry_stride, input.component_stride);
  if (!place) std::memcpy(result.values + base * bytes, values + begin * bytes, (end - begin) * bytes);
  return (outside ? kOutOfBounds : 0) | (descends ? kUnsorted : 0);
}

auto copy_entries_for(const SparseConcatProblem& problem) {
  if (problem.rank == 2 && problem.value_bytes == 4) return copy_entries<2, 4>;
  if (problem.rank == 2 && problem.value_bytes == 8) return copy_entries<2, 8>;
  if (problem.rank == 2) return copy_entries<2, 0>;
  return copy_entries<0, 0>;
}

// Along the first dimension there is nothing to merge: the inputs follow each other.
int append(const SparseConcatProblem& problem, const Result& result) {
  const auto copy = copy_entries_for(problem);
  struct Part {
    size_t input;
    int64_t begin, base;
  };
  std::vector<Part> parts;
  int64_t base = 0;
  for (size_t j = 0; j < problem.inputs.size(); base += problem.inputs[j++].nnz)
    for (int64_t begin = 0; begin < problem.inputs[j].nnz; begin += kChunkEntries)
      parts.push_back({j, begin, base + begin});
  std::atomic<int> found{kSorted};
  for_each_task(
      parts.size(),
      [&](int64_t task, int64_t) {
        const Part& part = parts[task];
        const SparseInput& input = problem.inputs[part.input];
        const int64_t end = std::min(part.begin + kChunkEntries, input.nnz);
        found |= copy(problem, input, part.begin, end, part.base, nullptr, result);
      },
      problem.nnz > kChunkEntries);
  return found;
}

int merge(const SparseConcatProblem& problem, const Result& result) {
  const auto copy = copy_entries_for(problem);
  PrefixMerge order(problem);
  order.cut(std::max<int64_t>(1, problem.nnz / kChunkEntries));
  const int64_t chunks = static_cast<int64_t>(order.positions.size()) - 1;
  struct Workspace {
    std::vector<int64_t> keys;
    std::vector<uint32_t> place;
  };
  std::vector<Workspace> workspaces(worker_count(chunks));
  std::atomic<int> found{kSorted};
  for_each_task(chunks, [&](int64_t chunk, int64_t worker) {
    auto& [keys, place] = workspaces[worker];
    if (!order.places(chunk, keys, place)) {
      found |= kUnsorted;
      return;
    }
    const std::vector<int64_t>&begin = order.positions[chunk], &end = order.positions[chunk + 1];
    const int64_t base = std::accumulate(begin.begin(), begin.end(), int64_t{0});
    const uint32_t* of_input = place.data();
    for (size_t j = 0; j < problem.inputs.size(); j++) {
      found |= copy(problem, problem.inputs[j], begin[j], end[j], base, of_input, result);
      of_input += end[j] - begin[j];
    }
  });
  return found;
}

// All entries in order of their indices in the result, equal ones in input order. Sorts by a copy of the indices, so
// that the order is consistent whatever another thread writes to them meanwhile.
class FullSort {
 public:
  FullSort(const SparseConcatProblem& problem, const Tensor& like)
      : problem_(problem), coordinates_(like, problem.nnz * problem.rank) {}

  int run(const Result& result) {
    std::vector<Entry> entries;
    entries.reserve(problem_.nnz);
    for (size_t j = 0; j < problem_.inputs.size(); j++)
      for (int64_t i = 0; i < problem_.inputs[j].nnz; i++) {
        copy_coordinates(problem_.inputs[j], i, entries.size());
        entries.push_back({static_cast<int64_t>(entries.size()), static_cast<int64_t>(j), i});
      }
    sort(entries);
    const auto copy = copy_entries_for(problem_);
    const int64_t tasks = (problem_.nnz + kChunkEntries - 1) / kChunkEntries;
    std::atomic<int> found{kSorted};
    for_each_task(tasks, [&](int64_t task, int64_t) {
      const int64_t end = std::min((task + 1) * kChunkEntries, problem_.nnz);
      for (int64_t at = task * kChunkEntries; at < end; at++) {
        const Entry& entry = entries[at];
        found |= copy(problem_, problem_.inputs[entry.input], entry.i, entry.i + 1, at, nullptr, result) & kOutOfBounds;
      }
    });
    return found;
  }

 private:
  struct Entry {
    int64_t ordinal;  // among all entries, input after input
    int64_t input, i;
  };

  void copy_coordinates(const SparseInput& input, int64_t i, int64_t ordinal) {
    for (int k = 0; k < problem_.rank; k++) {
      const auto value = static_cast<uint64_t>(input.indices[i * input.entry_stride + k * input.component_stride]);
      coordinates_[ordinal * problem_.rank + k] = static_cast<int64_t>(value + (k == problem_.dim ? input.offset : 0));
    }
  }

  bool precedes(const Entry& a, const Entry& b) const {
    const int64_t *x = &coordinates_[a.ordinal * problem_.rank], *y = &coordinates_[b.ordinal * problem_.rank];
    for (int k = 0; k < problem_.rank; k++)
      if (x[k] != y[k]) return x[k] < y[k];
    return a.ordinal < b.ordinal;
  }

  // Parts are sorted side by side, then merged in pairs.
  void sort(std::vector<Entry>& entries) const {
    const auto precedes = [&](const Entry& a, const Entry& b) { return this->precedes(a, b); };
    const int64_t size = static_cast<int64_t>(entries.size());
    int64_t parts = 1;
    while (parts < 64 && size / parts > kChunkEntries) parts *= 2;
    const auto at = [&](int64_t part) { return entries.begin() + part_begin(size, parts, part); };
    for_each_task(parts, [&](int64_t part, int64_t) { std::sort(at(part), at(part + 1), precedes); });
    for (int64_t step = 1; step < parts; step *= 2)
      for_each_task(parts / (2 * step), [&](int64_t pair, int64_t) {
        const int64_t part = pair * 2 * step;
        std::inplace_merge(at(part), at(part + step), at(part + 2 * step), precedes);
      });
  }

  const SparseConcatProblem& problem_;
  const Scratch<int64_t> coordinates_;
};

[[noreturn]] void report_out_of_bounds(const SparseConcatProblem& problem) {
  std::vector<int64_t> tuple(problem.rank);
  for (size_t j = 0; j < problem.inputs.size(); j++) {
    const SparseInput& input = problem.inputs[j];
    for (int64_t i = 0; i < input.nnz; i++) {
      bool outside = false;
      for (int k = 0; k < problem.rank; k++) {
        tuple[k] = input.indices[i * input.entry_stride + k * input.component_stride];
        outside |= tuple[k] < 0 || tuple[k] >= input.shape[k];
      }
      if (outside)
        fail_index(kSparseConcat, "indices[", j, "][", i, "] = ", tuple_text(tuple), " is outside shape ",
                   tuple_text(input.shape));
    }
  }
  fail(kSparseConcat, "indices changed during the call");
}

std::tuple<Tensor, Tensor, Tensor> sparse_concat(std::vector<Tensor> indices, std::vector<Tensor> values,
                                                 std::vector<Tensor> shapes, int64_t concat_dim, bool expand) {
  const SparseConcatProblem problem = sparse_concat_problem(indices, values, shapes, concat_dim, expand);
  const Tensor out_indices = new_result(indices[0], {problem.nnz, problem.rank});
  const Tensor out_values = new_result(values[0], problem.value_sizes);
  const Tensor out_shape = new_result(shapes[0], {problem.rank});
  std::copy(problem.shape.begin(), problem.shape.end(), mutable_values_of<int64_t>(out_shape));

  const Result result{mutable_values_of<int64_t>(out_indices), mutable_values_of<char>(out_values)};
  int found = problem.dim == 0                ? append(problem, result)
              : PrefixMerge::applies(problem) ? merge(problem, result)
                                              : kUnsorted;
  if (found & kUnsorted) found = FullSort(problem, out_values).run(result);
  if (found & kOutOfBounds) report_out_of_bounds(problem);
  return {out_indices, out_values, out_shape};
}

STABLE_TORCH_LIBRARY_IMPL(torch_sparse_ops, CPU, m) {
  m.impl("sparse_concat", TORCH_BOX(&sparse_concat));
}

}  // namespace
}  // namespace torch_sparse_ops
