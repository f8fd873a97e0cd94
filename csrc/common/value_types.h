// The storage types that are summed, and what each is summed in. Free of torch: host and device code share it.
#pragma once

#include <cstdint>
#include <type_traits>

namespace torch_sparse_ops {

// Bits as stored; arithmetic happens in the accumulator.
struct Bool {
  uint8_t bits;
};
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

template <class T>
struct AccumulatorOf {
  using type = T;
};
template <>
struct AccumulatorOf<Bool> {
  using type = uint8_t;
};
template <>
struct AccumulatorOf<Half> {
  using type = float;
};
template <>
struct AccumulatorOf<BFloat16> {
  using type = float;
};

template <class T>
using Accumulator = typename AccumulatorOf<T>::type;

// Whether sums can be kept in the output itself, without a rounding step at the end.
template <class T>
inline constexpr bool accumulates_in_place = std::is_same_v<T, Accumulator<T>>;

}  // namespace torch_sparse_ops
