// Index tuples out of bounds as errors.
#include "cuda.cuh"
#include "index_array.cuh"

namespace torch_sparse_ops {
namespace {

__global__ void __launch_bounds__(kThreads) mark_invalid(const IndexTuples tuples, int* found) {
  const int64_t i = block_row() * kThreads + threadIdx.x;
  if (i < tuples.count && tuple_offset(tuples, i) == kInvalid) *found = 1;
}

}  // namespace

void check_tuples(const char* op, const Tensor& indices, const IndexTuples& tuples, const CudaCall& call) {
  auto* found = static_cast<int*>(call(sizeof(int)));
  check_cuda(cudaMemsetAsync(found, 0, sizeof(int), call.stream()), "cudaMemsetAsync");
  launch(mark_invalid, "index check", ceil_div<int64_t>(tuples.count, kThreads), 1, call.stream(), tuples, found);
  if (call.read(found) == 0) return;
  const Tensor on_cpu = torch::stable::to(indices, torch::stable::Device(torch::headeronly::DeviceType::CPU));
  report_invalid_tuple(op, on_cpu,
                       index_tensor(on_cpu, {tuples.size, tuples.size + tuples.depth},
                                    {tuples.multiplier, tuples.multiplier + tuples.depth})
                           .tuples);
}

}  // namespace torch_sparse_ops
