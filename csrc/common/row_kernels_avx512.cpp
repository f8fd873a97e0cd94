// The kernels for x86-64 with AVX-512.
#include "kernel_set.h"

#ifdef TORCH_SPARSE_OPS_X86_SETS
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,f16c"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,f16c")
#endif

namespace torch_sparse_ops {
namespace {
inline constexpr int kVectorBytes = 64, kMaxVectors = 16;
#include "row_kernels.inc"
}  // namespace

const KernelSet avx512_kernels = kernel_set("avx512");

}  // namespace torch_sparse_ops

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
