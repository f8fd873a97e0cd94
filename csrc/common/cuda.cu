// What the CUDA library does once for all operators.
#include "cuda.cuh"

#include <dlfcn.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#include "schema_version.h"

namespace torch_sparse_ops {

// Looked up at run time: a library that were linked to libtorch_cuda would not load beside a torch without CUDA. That
// library is loaded already, but out of the sight of others, so that dlsym alone does not find it.
cudaStream_t current_stream(int32_t device) {
  static const auto get_stream = [] {
    void* torch_cuda = dlopen("libtorch_cuda.so", RTLD_NOLOAD | RTLD_LAZY);
    void* symbol = torch_cuda ? dlsym(torch_cuda, "aoti_torch_get_current_cuda_stream") : nullptr;
    return reinterpret_cast<decltype(&aoti_torch_get_current_cuda_stream)>(symbol);
  }();
  void* stream = nullptr;
  if (!get_stream || get_stream(device, &stream) != AOTI_TORCH_SUCCESS)
    throw std::runtime_error("torch_sparse_ops: this torch does not tell its current CUDA stream");
  return static_cast<cudaStream_t>(stream);
}

}  // namespace torch_sparse_ops
