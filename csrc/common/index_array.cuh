// Index tensors as device code reads them. int32 or int64 is known at run time only, so that no kernel is compiled
// once per index type: the branch is uniform and hides behind the load.
#pragma once

#include "index_tuples.h"

namespace torch_sparse_ops {

struct IndexArray {
  const void* data = nullptr;
  bool is_int64 = true;
  int64_t stride = 1;

  __device__ int64_t operator[](int64_t i) const {
    return is_int64 ? static_cast<const int64_t*>(data)[i * stride] : static_cast<const int32_t*>(data)[i * stride];
  }

  // The values at [begin, begin + N), or at `last` instead of beyond it: N loads, of which none waits for another.
  template <int N>
  __device__ void read(int64_t begin, int64_t last, int64_t (&values)[N]) const {
    if (is_int64)
      read_as<int64_t>(begin, last, values);
    else
      read_as<int32_t>(begin, last, values);
  }

 private:
  template <class Index, int N>
  __device__ void read_as(int64_t begin, int64_t last, int64_t (&values)[N]) const {
#pragma unroll
    for (int i = 0; i < N; i++) values[i] = static_cast<const Index*>(data)[min(begin + i, last) * stride];
  }
};

// The first components of the tuples.
inline IndexArray index_array(const IndexTuples& tuples) {
  return {tuples.data, tuples.is_int64, tuples.tuple_stride};
}

// The offsets that tuples begin, begin + step, ... (N of them) address, or kInvalid; what is beyond the last reads it.
template <int N>
__device__ void tuple_offsets(const IndexTuples& tuples, int64_t begin, int64_t step, int64_t (&offsets)[N]) {
  const IndexArray values{tuples.data, tuples.is_int64};
#pragma unroll
  for (int i = 0; i < N; i++) offsets[i] = 0;
  for (int k = 0; k < tuples.depth; k++) {
    int64_t components[N];
#pragma unroll
    for (int i = 0; i < N; i++)
      components[i] =
          values[min(begin + i * step, tuples.count - 1) * tuples.tuple_stride + k * tuples.component_stride];
#pragma unroll
    for (int i = 0; i < N; i++) {
      const bool is_valid = components[i] >= 0 && components[i] < tuples.size[k] && offsets[i] != kInvalid;
      offsets[i] = is_valid ? offsets[i] + components[i] * tuples.multiplier[k] : kInvalid;
    }
  }
}

__device__ inline int64_t tuple_offset(const IndexTuples& tuples, int64_t i) {
  int64_t offset[1];
  tuple_offsets(tuples, i, 0, offset);
  return offset[0];
}

}  // namespace torch_sparse_ops
