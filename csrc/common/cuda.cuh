// What every CUDA operator needs of torch: the right device, its current stream and memory.
#pragma once

#include <torch/csrc/stable/accelerator.h>

#include "launch.cuh"
#include "tensors.h"

namespace torch_sparse_ops {

// The stream on which torch runs its work now.
cudaStream_t current_stream(int32_t device);

// Makes the device of a tensor the current one for as long as it lives, and hands out temporary memory there:
// call(bytes). Torch's allocator knows streams, so the memory may be given back before the kernels have run.
class CudaCall {
 public:
  explicit CudaCall(const Tensor& on_device)
      : on_device_(on_device),
        guard_(on_device.get_device_index()),
        stream_(current_stream(on_device.get_device_index())) {
    // The CUDA runtime in this library is not torch's, and has to be told too.
    check_cuda(cudaSetDevice(on_device.get_device_index()), "cudaSetDevice");
  }

  cudaStream_t stream() const { return stream_; }

  void* operator()(int64_t bytes) const {
    temporaries_.push_back(allocate_empty(on_device_, {bytes}, ScalarType::Byte));
    return temporaries_.back().mutable_data_ptr();
  }

  // Waits for the stream and reads a value from the device.
  template <class T>
  T read(const T* address) const {
    T value;
    check_cuda(cudaMemcpyAsync(&value, address, sizeof(T), cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    return value;
  }

 private:
  const Tensor on_device_;
  const torch::stable::accelerator::DeviceGuard guard_;
  const cudaStream_t stream_;
  mutable std::vector<Tensor> temporaries_;
};

// Waits, and raises for the first tuple that is out of bounds.
void check_tuples(const char* op, const Tensor& indices, const IndexTuples& tuples, const CudaCall& call);

}  // namespace torch_sparse_ops
