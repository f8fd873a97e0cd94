// One instruction set's kernels: filled by row_kernels_<set>.cpp, chosen by instruction_set.cpp.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#define TORCH_SPARSE_OPS_X86_SETS
#include <immintrin.h>
#endif

#include <tuple>

#include "row_kernels.h"

namespace torch_sparse_ops {

struct KernelSet {
  const char* name;
  IndexKernels index;
  std::tuple<RowKernels<Bool>, RowKernels<uint8_t>, RowKernels<uint16_t>, RowKernels<uint32_t>, RowKernels<uint64_t>,
             RowKernels<Half>, RowKernels<BFloat16>, RowKernels<float>, RowKernels<double>>
      rows;
};

extern const KernelSet baseline_kernels;
#ifdef TORCH_SPARSE_OPS_X86_SETS
extern const KernelSet avx2_kernels;
extern const KernelSet avx512_kernels;
#endif

}  // namespace torch_sparse_ops
