// The order of a concatenation of sorted inputs. Entries are ordered by the components before the concatenated
// dimension (the prefix) first; among those of one prefix all of an earlier input precede all of a later one. So the
// merge compares prefixes only, and is cut into chunks at prefixes, or within one at a place in that order.
#pragma once

#include <algorithm>
#include <vector>

#include "../common/cpu.h"
#include "problem.h"

namespace torch_sparse_ops {

class PrefixMerge {
 public:
  // positions[chunk][j] is where chunk begins in input j; all entries of a chunk precede those of the next.
  std::vector<std::vector<int64_t>> positions;

  explicit PrefixMerge(const SparseConcatProblem& problem)
      : problem_(problem),
        steps_(row_major_multipliers({problem.shape.begin(), problem.shape.begin() + problem.dim})) {}

  // Whether prefixes can be told apart by one int64.
  static bool applies(const SparseConcatProblem& problem) {
    int64_t prefixes = 1;
    for (int k = 0; k < problem.dim; k++) prefixes = product_or_overflow(prefixes, problem.shape[k]);
    return prefixes >= 0;
  }

  int64_t key(const SparseInput& input, int64_t i) const {
    uint64_t key = 0;  // wraps where an index is out of bounds
    for (int k = 0; k < problem_.dim; k++)
      key += static_cast<uint64_t>(input.indices[i * input.entry_stride + k * input.component_stride]) *
             static_cast<uint64_t>(steps_[k]);
    return static_cast<int64_t>(key);
  }

  void cut(int64_t chunks) {
    const std::vector<int64_t> splitters = choose_splitters(chunks);
    const int64_t inputs = static_cast<int64_t>(problem_.inputs.size()), cuts = static_cast<int64_t>(splitters.size());
    positions.assign(cuts + 2, std::vector<int64_t>(inputs));
    for_each_task(
        inputs,
        [&](int64_t j, int64_t) {
          int64_t at = 0;
          for (int64_t s = 0; s < cuts; s++) positions[s + 1][j] = at = lower_bound(j, splitters[s], at);
          positions[cuts + 1][j] = problem_.inputs[j].nnz;
        },
        cuts > 0);
    for (int64_t s = 0, next = 0; s < cuts; s = next) {
      next = std::upper_bound(splitters.begin() + s, splitters.end(), splitters[s]) - splitters.begin();
      if (next - s > 1) cut_within(splitters[s], s + 1, next + 1);
    }
  }

  // place[e] is the place within the chunk of its e-th entry, counted input by input. False if an input is not sorted.
  bool places(int64_t chunk, std::vector<int64_t>& keys, std::vector<uint32_t>& place) const {
    const std::vector<int64_t>&begin = positions[chunk], &end = positions[chunk + 1];
    int64_t size = 0;
    for (size_t j = 0; j < begin.size(); j++) size += end[j] - begin[j];
    keys.resize(size);
    place.resize(size);
    int64_t low = std::numeric_limits<int64_t>::max(), high = std::numeric_limits<int64_t>::min();
    int64_t* to = keys.data();
    for (size_t j = 0; j < begin.size(); j++) {
      const int64_t count = end[j] - begin[j];
      if (count == 0) continue;
      read_keys(j, begin[j], end[j], to);
      low = std::min(low, to[0]);
      high = std::max(high, to[count - 1]);
      to += count;
    }
    if (low > high) return size == 0;
    const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
    if (range <= static_cast<uint64_t>(4 * size + 1024)) return count_places(keys, low, range, place);
    sort_places(keys, place);
    return true;
  }

 private:
  void read_keys(size_t j, int64_t begin, int64_t end, int64_t* to) const {
    const SparseInput& input = problem_.inputs[j];
    if (problem_.dim == 1)
      for (int64_t i = begin; i < end; i++) *to++ = input.indices[i * input.entry_stride];
    else
      for (int64_t i = begin; i < end; i++) *to++ = key(input, i);
  }

  static bool count_places(const std::vector<int64_t>& keys, int64_t low, uint64_t range,
                           std::vector<uint32_t>& place) {
    std::vector<uint32_t> next(range + 1);
    for (const int64_t key : keys) {
      const uint64_t at = static_cast<uint64_t>(key) - static_cast<uint64_t>(low);
      if (at >= range) return false;
      next[at + 1]++;
    }
    for (uint64_t p = 1; p < range; p++) next[p] += next[p - 1];
    for (size_t e = 0; e < keys.size(); e++) place[e] = next[keys[e] - low]++;
    return true;
  }

  static void sort_places(const std::vector<int64_t>& keys, std::vector<uint32_t>& place) {
    std::vector<std::pair<int64_t, uint32_t>> order(keys.size());
    for (size_t e = 0; e < keys.size(); e++) order[e] = {keys[e], static_cast<uint32_t>(e)};
    std::sort(order.begin(), order.end());
    for (size_t p = 0; p < order.size(); p++) place[order[p].second] = static_cast<uint32_t>(p);
  }

  // Prefixes that cut the entries into chunks of about equal size, from an even sample of them.
  std::vector<int64_t> choose_splitters(int64_t chunks) const {
    constexpr int64_t samples_per_chunk = 8;
    const int64_t step = std::max<int64_t>(1, problem_.nnz / (chunks * samples_per_chunk));
    std::vector<int64_t> sample;
    for (const SparseInput& input : problem_.inputs)
      for (int64_t i = std::min(step / 2, input.nnz / 2); i < input.nnz; i += step) sample.push_back(key(input, i));
    std::sort(sample.begin(), sample.end());
    std::vector<int64_t> splitters;
    const int64_t size = static_cast<int64_t>(sample.size());
    for (int64_t c = 1; c < chunks && size; c++) splitters.push_back(sample[c * size / chunks]);
    return splitters;
  }

  // The first entry of input j, from `low` on, with at least that prefix: doubling steps, then bisection. Never goes
  // back, whatever the input holds.
  int64_t lower_bound(int64_t j, int64_t prefix, int64_t low) const {
    const SparseInput& input = problem_.inputs[j];
    int64_t step = 1, high = low;
    while (high < input.nnz && key(input, high) < prefix) {
      low = high + 1;
      high = std::min(high + step, input.nnz);
      step *= 2;
    }
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (key(input, middle) < prefix)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  // Cuts [first, end) all stand before a prefix that is very common: spreads them over its entries.
  void cut_within(int64_t prefix, int64_t first, int64_t end) {
    std::vector<int64_t> at = positions[first], last(at.size());
    int64_t common = 0;
    for (size_t j = 0; j < at.size(); j++) {
      last[j] = lower_bound(j, prefix + 1, at[j]);
      common += last[j] - at[j];
    }
    for (int64_t c = first + 1; c < end; c++) {
      int64_t rest = common / (end - first);
      for (size_t j = 0; j < at.size() && rest; j++) {
        const int64_t taken = std::min(rest, last[j] - at[j]);
        at[j] += taken;
        rest -= taken;
      }
      positions[c] = at;
    }
  }

  const SparseConcatProblem& problem_;
  const std::vector<int64_t> steps_;
};

}  // namespace torch_sparse_ops
