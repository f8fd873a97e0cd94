// The CUDA library, device code and all, built for the host: the same operators for CPU tensors, in a namespace of
// their own. What only a GPU has, the streams and current devices of common/cuda.cu, is left out or stands in.
#define torch_sparse_ops torch_sparse_ops_on_host
#include "../../csrc/common/cuda.cuh"
#include "../../csrc/library.cpp"
#define CUDA CPU
#include "../../csrc/common/index_check.cu"
#include "../../csrc/gather_nd/cuda.cu"
#include "../../csrc/scatter_nd/cuda.cu"
#include "../../csrc/segment_sum/cuda.cu"
#include "../../csrc/sparse_concat/cuda.cu"

extern "C" {
AOTITorchError aoti_torch_create_device_guard(int32_t, DeviceGuardHandle*) {
  return AOTI_TORCH_SUCCESS;
}
AOTITorchError aoti_torch_delete_device_guard(DeviceGuardHandle) {
  return AOTI_TORCH_SUCCESS;
}
}

namespace torch_sparse_ops {

cudaStream_t current_stream(int32_t) {
  return nullptr;
}

namespace {

// As scatter_nd does for more than 2^31 rows: scalars into [num_rows].
Tensor scatter_nd_of_int64_keys(const Tensor& indices, const Tensor& updates, int64_t num_rows) {
  const ScatterNdProblem problem = scatter_nd_problem(indices, updates, {num_rows}, "ignore", BadIndices::kIgnore);
  const CudaCall call(updates);
  const SortedTargets sorted = scatter_nd_detail::sort_targets<uint64_t, int64_t>(
      problem.indices.tuples, {}, updates.numel(), num_rows, call, call.stream());
  const Tensor result = torch::stable::new_empty(updates, problem.shape);
  sum_segments(kScatterNd, updates.scalar_type(),
               {updates.const_data_ptr(), updates.numel(), 1, sorted.rows, sorted.targets, updates.numel(),
                result.mutable_data_ptr(), num_rows, 1},
               call);
  return result;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torch_sparse_ops, m) {
  m.def("scatter_nd_of_int64_keys(Tensor indices, Tensor updates, int num_rows) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torch_sparse_ops, CPU, m) {
  m.impl("scatter_nd_of_int64_keys", TORCH_BOX(&scatter_nd_of_int64_keys));
}

}  // namespace
}  // namespace torch_sparse_ops
