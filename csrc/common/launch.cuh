// How kernels are launched: on a stream, checked. Free of torch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#ifdef __CUDACC__
#include <cuda_runtime.h>
#endif

namespace torch_sparse_ops {

inline constexpr int kThreads = 128;  // of every block

template <class Integer>
__host__ __device__ constexpr Integer ceil_div(Integer a, Integer b) {
  return (a + b - 1) / b;
}

inline void check_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

// One block for each of rows x columns units of work. Columns are spread over two dimensions of the grid, as one of
// them is too short for the widest rows: see block_column().
template <class... Parameters>
void launch(void (*kernel)(Parameters...), const char* name, int64_t rows, int64_t columns,
            [[maybe_unused]] cudaStream_t stream, const std::type_identity_t<Parameters>&... parameters) {
  constexpr int64_t max_rows = (int64_t{1} << 31) - 1, max_columns = 1 << 15;
  if (rows <= 0 || columns <= 0) return;
  if (rows > max_rows || columns > max_columns * max_columns)
    throw std::runtime_error(std::string(name) + "(): too large for one launch on a GPU");
  const int64_t columns_y = std::min(columns, max_columns);
  const dim3 grid(static_cast<unsigned>(rows), static_cast<unsigned>(columns_y),
                  static_cast<unsigned>(ceil_div(columns, columns_y)));
#ifdef __CUDACC__
  kernel<<<grid, kThreads, 0, stream>>>(parameters...);
  check_cuda(cudaGetLastError(), name);
#else
  cuda_on_host::launch(kernel, grid, kThreads, parameters...);
#endif
}

__device__ inline int64_t block_row() {
  return blockIdx.x;
}
// May be beyond the last one.
__device__ inline int64_t block_column() {
  return blockIdx.z * static_cast<int64_t>(gridDim.y) + blockIdx.y;
}

}  // namespace torch_sparse_ops
