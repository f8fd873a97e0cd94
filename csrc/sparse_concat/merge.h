// The order of a concatenation of sorted inputs. Entries are ordered by the components before the concatenated
// dimension (the prefix) first; among those of one prefix all of an earlier input precede all of a later one. So the
// merge compares prefixes only, and is cut into chunks at prefixes, or within one at a place in that order.
#pragma once

#include <algorithm>
#include <vector>

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
    positions.assign(1, std::vector<int64_t>(problem_.inputs.size(), 0));
    for (size_t s = 0; s < splitters.size();) {
      const auto last = std::upper_bound(splitters.begin() + s, splitters.end(), splitters[s]);
      const int64_t repeats = last - splitters.begin() - s;
      cut_at(splitters[s], repeats);
      s += repeats;
    }
    positions.emplace_back();
    for (const SparseInput& input : problem_.inputs) positions.back().push_back(input.nnz);
  }

  // place[e] is the place within the chunk of its e-th entry, counted input by input.
  void places(int64_t chunk, std::vector<int64_t>& keys, std::vector<uint32_t>& place) const {
    keys.clear();
    for (size_t j = 0; j < problem_.inputs.size(); j++)
      for (int64_t i = positions[chunk][j]; i < positions[chunk + 1][j]; i++)
        keys.push_back(key(problem_.inputs[j], i));
    place.resize(keys.size());
    if (keys.empty()) return;
    const auto [low, high] = std::minmax_element(keys.begin(), keys.end());
    const uint64_t range = static_cast<uint64_t>(*high) - static_cast<uint64_t>(*low);
    if (range < 4 * keys.size() + 1024)
      count_places(keys, *low, range + 1, place);
    else
      sort_places(keys, place);
  }

 private:
  static void count_places(const std::vector<int64_t>& keys, int64_t low, uint64_t range,
                           std::vector<uint32_t>& place) {
    std::vector<uint32_t> next(range + 1);
    for (const int64_t key : keys) next[key - low + 1]++;
    for (uint64_t p = 1; p < range; p++) next[p] += next[p - 1];
    for (size_t e = 0; e < keys.size(); e++) place[e] = next[keys[e] - low]++;
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

  // The place of a prefix among those of an input, clamped so that positions never go back, whatever the input holds.
  int64_t lower_bound(size_t j, int64_t prefix, int64_t from) const {
    int64_t low = from, high = problem_.inputs[j].nnz;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (key(problem_.inputs[j], middle) < prefix)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  // A cut before the prefix; if it is so common that several were to be made there, the others within it.
  void cut_at(int64_t prefix, int64_t cuts) {
    std::vector<int64_t> at = positions.back();
    for (size_t j = 0; j < at.size(); j++) at[j] = lower_bound(j, prefix, at[j]);
    positions.push_back(at);
    if (cuts == 1) return;
    std::vector<int64_t> end(at.size());
    int64_t common = 0;
    for (size_t j = 0; j < at.size(); j++) {
      end[j] = lower_bound(j, prefix + 1, at[j]);
      common += end[j] - at[j];
    }
    for (int64_t c = 1; c < cuts; c++) {
      int64_t rest = common / cuts;
      for (size_t j = 0; j < at.size() && rest; j++) {
        const int64_t taken = std::min(rest, end[j] - at[j]);
        at[j] += taken;
        rest -= taken;
      }
      positions.push_back(at);
    }
  }

  const SparseConcatProblem& problem_;
  const std::vector<int64_t> steps_;
};

}  // namespace torch_sparse_ops
