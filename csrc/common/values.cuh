// How device code moves and adds values.
#pragma once

#include <algorithm>

#include "value_types.h"
#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace torch_sparse_ops {

// V neighbouring values, moved as one where the hardware can (up to 16 bytes).
template <class T, int V>
struct alignas(sizeof(T) * V < 16 ? sizeof(T) * V : 16) Pack {
  T lanes[V];
};

// A pack that waits in registers. Loaded as what it is, each of its small values would take a register of its own.
template <class Values>
struct alignas(Values) [[gnu::may_alias]] InWords {
  using Word =
      std::conditional_t<sizeof(Values) % 4 == 0, uint32_t, std::conditional_t<sizeof(Values) == 2, uint16_t, uint8_t>>;
  Word words[sizeof(Values) / sizeof(Word)];

  __device__ static InWords load(const Values* values) { return *reinterpret_cast<const InWords*>(values); }
  __device__ Values unpacked() const { return __builtin_bit_cast(Values, *this); }
};

// As many small integers or bools as fill a word: they are added side by side.
template <class T>
struct WordOf {
  uint32_t bits;
};
template <class T>
inline constexpr bool fills_words = sizeof(T) < 4 && sizeof(T) == sizeof(Accumulator<T>);

template <class T>
__device__ T widened(T value) {
  return value;
}
__device__ inline uint8_t widened(Bool value) {
  return value.bits;
}
__device__ inline float widened(Half value) {
  return __half2float(__ushort_as_half(value.bits));
}
__device__ inline float widened(BFloat16 value) {
  return __bfloat162float(__ushort_as_bfloat16(value.bits));
}

template <class T>
__device__ T rounded(Accumulator<T> value) {
  if constexpr (std::is_same_v<T, Half>)
    return {__half_as_ushort(__float2half_rn(value))};
  else if constexpr (std::is_same_v<T, BFloat16>)
    return {__bfloat16_as_ushort(__float2bfloat16_rn(value))};
  else
    return {value};
}

// Adds as T does: its accumulator's type alone does not say.
template <class T>
__device__ void add(Accumulator<T>& sum, Accumulator<T> value) {
  if constexpr (std::is_same_v<T, Bool>)
    sum |= value;
  else if constexpr (std::is_same_v<T, WordOf<Bool>>)
    sum.bits |= value.bits;
  else if constexpr (std::is_same_v<T, WordOf<uint8_t>>)
    sum.bits = __vadd4(sum.bits, value.bits);
  else if constexpr (std::is_same_v<T, WordOf<uint16_t>>)
    sum.bits = __vadd2(sum.bits, value.bits);
  else
    sum += value;
}

template <class T, class Value, int V>
__device__ void add(Pack<Accumulator<T>, V>& sum, const Pack<Value, V>& values) {
#pragma unroll
  for (int v = 0; v < V; v++) add<T>(sum.lanes[v], widened(values.lanes[v]));
}

template <class T, int V>
__device__ Pack<T, V> rounded(const Pack<Accumulator<T>, V>& sum) {
  Pack<T, V> values;
#pragma unroll
  for (int v = 0; v < V; v++) values.lanes[v] = rounded<T>(sum.lanes[v]);
  return values;
}

// As many bytes of Ts as a pack of them can have, where addresses, row sizes and row strides (in bytes, or-ed together)
// are multiples of that: 16, 4 or those of one T.
template <class T>
int pack_bytes(uintptr_t bytes) {
  if (bytes % 16 == 0) return 16;
  return bytes % 4 == 0 ? std::max<int>(sizeof(T), 4) : sizeof(T);
}

// Calls function.operator()<U, V>() for packs of that many bytes: of V values of T, or of V words of them.
template <class T, class Function>
void with_pack_of(int bytes, const Function& function) {
  using Wide = std::conditional_t<fills_words<T>, WordOf<T>, T>;
  if (bytes == 16)
    function.template operator()<Wide, 16 / sizeof(Wide)>();
  else if (bytes > static_cast<int>(sizeof(T)))
    function.template operator()<Wide, std::max<int>(4 / sizeof(Wide), 1)>();
  else
    function.template operator()<T, 1>();
}

// Calls function.operator()<Word>() for the largest word that addresses, row sizes and row strides (in bytes, or-ed
// together) allow. For what moves bytes without regard to their dtype.
template <class Function>
void with_word_size(uintptr_t bytes, const Function& function) {
  if (bytes % 16 == 0)
    function.template operator()<Pack<uint32_t, 4>>();
  else if (bytes % 8 == 0)
    function.template operator()<Pack<uint32_t, 2>>();
  else if (bytes % 4 == 0)
    function.template operator()<uint32_t>();
  else if (bytes % 2 == 0)
    function.template operator()<uint16_t>();
  else
    function.template operator()<uint8_t>();
}

}  // namespace torch_sparse_ops
