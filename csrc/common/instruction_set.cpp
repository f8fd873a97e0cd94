// Chooses the kernels once, when they are first asked for. TORCH_SPARSE_OPS_ISA=baseline|avx2|avx512 forces a set that
// the processor has (for tests); anything else in it is ignored.
#include <cstdlib>
#include <cstring>

#include "kernel_set.h"

namespace torch_sparse_ops {
namespace {

const KernelSet& choose() {
  const KernelSet* best = &baseline_kernels;
  const char* wanted = std::getenv("TORCH_SPARSE_OPS_ISA");
#ifdef TORCH_SPARSE_OPS_X86_SETS
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const KernelSet* available[] = {avx512 ? &avx512_kernels : nullptr, avx2 ? &avx2_kernels : nullptr,
                                  &baseline_kernels};
  best = avx512 ? &avx512_kernels : avx2 ? &avx2_kernels : &baseline_kernels;
  for (const KernelSet* set : available)
    if (set && wanted && std::strcmp(set->name, wanted) == 0) best = set;
#else
  (void)wanted;
#endif
  return *best;
}

const KernelSet& chosen() {
  static const KernelSet& set = choose();
  return set;
}

}  // namespace

template <class T>
const RowKernels<T>& row_kernels() {
  return std::get<RowKernels<T>>(chosen().rows);
}
template const RowKernels<Bool>& row_kernels();
template const RowKernels<uint8_t>& row_kernels();
template const RowKernels<uint16_t>& row_kernels();
template const RowKernels<uint32_t>& row_kernels();
template const RowKernels<uint64_t>& row_kernels();
template const RowKernels<Half>& row_kernels();
template const RowKernels<BFloat16>& row_kernels();
template const RowKernels<float>& row_kernels();
template const RowKernels<double>& row_kernels();

const IndexKernels& index_kernels() {
  return chosen().index;
}

const char* instruction_set() {
  return chosen().name;
}

}  // namespace torch_sparse_ops

// For torch_sparse_ops/_library.py, which reads it with ctypes.
extern "C" __attribute__((visibility("default"))) const char* torch_sparse_ops_instruction_set() {
  return torch_sparse_ops::instruction_set();
}
