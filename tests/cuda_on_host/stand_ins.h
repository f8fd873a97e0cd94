// Host stand-ins for the parts of CUDA's headers that device code here uses: arithmetic, 16-bit floats, the run-time
// API.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

using std::max;
using std::min;

inline int __popc(unsigned x) {
  return std::popcount(x);
}

template <class Lane>
unsigned add_lanes(unsigned a, unsigned b) {
  unsigned sum = 0;
  for (unsigned shift = 0; shift < 32; shift += 8 * sizeof(Lane))
    sum |= static_cast<unsigned>(static_cast<Lane>((a >> shift) + (b >> shift))) << shift;
  return sum;
}
inline unsigned __vadd4(unsigned a, unsigned b) {
  return add_lanes<uint8_t>(a, b);
}
inline unsigned __vadd2(unsigned a, unsigned b) {
  return add_lanes<uint16_t>(a, b);
}

template <class T>
T atomicMin(T* address, T value) {
  const T old = *address;
  *address = std::min(old, value);
  return old;
}

using __half = _Float16;
inline __half __ushort_as_half(uint16_t bits) {
  return std::bit_cast<__half>(bits);
}
inline uint16_t __half_as_ushort(__half value) {
  return std::bit_cast<uint16_t>(value);
}
inline float __half2float(__half value) {
  return static_cast<float>(value);
}
inline __half __float2half_rn(float value) {
  return static_cast<__half>(value);
}

struct __nv_bfloat16 {
  uint16_t bits;
};
inline __nv_bfloat16 __ushort_as_bfloat16(uint16_t bits) {
  return {bits};
}
inline uint16_t __bfloat16_as_ushort(__nv_bfloat16 value) {
  return value.bits;
}
inline float __bfloat162float(__nv_bfloat16 value) {
  return std::bit_cast<float>(uint32_t{value.bits} << 16);
}
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value) return {0x7fff};
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};  // to nearest, ties to even
}

using cudaStream_t = void*;
enum cudaError_t { cudaSuccess };
inline const char* cudaGetErrorString(cudaError_t) {
  return "";
}
enum cudaMemcpyKind { cudaMemcpyDeviceToHost };
inline cudaError_t cudaSetDevice(int) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t) {
  std::memset(at, value, bytes);
  return cudaSuccess;
}
