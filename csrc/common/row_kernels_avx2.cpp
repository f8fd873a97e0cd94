// The kernels for x86-64 with AVX2.
#include "kernel_set.h"

#ifdef TORCH_SPARSE_OPS_X86_SETS
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2,f16c")
#endif

namespace torch_sparse_ops {
namespace {
inline constexpr int kVectorBytes = 32, kMaxVectors = 8;
#include "row_kernels.inc"
}  // namespace

const KernelSet avx2_kernels = kernel_set("avx2");

}  // namespace torch_sparse_ops

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
