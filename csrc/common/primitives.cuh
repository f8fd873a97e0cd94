// What the CUDA backend takes from CUB. The tests run device code on the host, where the standard library stands in.
#pragma once

#include "launch.cuh"
#ifdef __CUDACC__
#include <cub/device/device_radix_sort.cuh>
#else
#include <numeric>
#include <vector>
#endif

namespace torch_sparse_ops {

template <class Key, class Value>
struct Pairs {
  Key* keys;
  Value* values;
};

// The pairs in ascending order of the lowest `bits` bits of their keys, which are unsigned; pairs of equal keys stay in
// order. Overwrites `pairs`. The result lies there or in memory from allocate(bytes). Values are indices of pairs or
// the like: `count` fits in them.
template <class Key, class Value, class Allocate>
Pairs<Key, Value> sort_pairs(const Pairs<Key, Value>& pairs, int64_t count, int bits, const Allocate& allocate,
                             [[maybe_unused]] cudaStream_t stream) {
  const Pairs<Key, Value> other{static_cast<Key*>(allocate(count * sizeof(Key))),
                                static_cast<Value*>(allocate(count * sizeof(Value)))};
#ifdef __CUDACC__
  cub::DoubleBuffer<Key> keys(pairs.keys, other.keys);
  cub::DoubleBuffer<Value> values(pairs.values, other.values);
  const auto sort = [&](void* temporary, size_t& bytes) {
    check_cuda(
        cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, values, static_cast<Value>(count), 0, bits, stream),
        "sort_pairs");
  };
  size_t bytes = 0;
  sort(nullptr, bytes);
  sort(allocate(bytes), bytes);
  return {keys.Current(), values.Current()};
#else
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  const Key mask = static_cast<Key>(~Key{0}) >> (8 * sizeof(Key) - bits);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return (pairs.keys[a] & mask) < (pairs.keys[b] & mask); });
  for (int64_t i = 0; i < count; i++) {
    other.keys[i] = pairs.keys[order[i]];
    other.values[i] = pairs.values[order[i]];
  }
  return other;
#endif
}

}  // namespace torch_sparse_ops
