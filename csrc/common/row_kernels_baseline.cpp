// The kernels for any processor: what the compiler targets by default (SSE2, NEON).
#include "kernel_set.h"

namespace torch_sparse_ops {
namespace {
inline constexpr int kVectorBytes = 16, kMaxVectors = 8;
#include "row_kernels.inc"
}  // namespace

const KernelSet baseline_kernels = kernel_set("baseline");

}  // namespace torch_sparse_ops
