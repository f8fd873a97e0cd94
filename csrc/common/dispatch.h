// From a dtype at run time to a C++ type. Sums need few types: two's complement addition is the same for signed and
// unsigned, and a complex number adds like two reals (`reals_per_value`).
#pragma once

#include <torch/headeronly/core/ScalarType.h>

#include <cstdint>

#include "check.h"
#include "value_types.h"

namespace torch_sparse_ops {

using torch::headeronly::ScalarType;

template <class T>
struct TypeTag {
  using type = T;
};

inline const char* dtype_name(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Bool:
      return "torch.bool";
    case ScalarType::Byte:
      return "torch.uint8";
    case ScalarType::Char:
      return "torch.int8";
    case ScalarType::Short:
      return "torch.int16";
    case ScalarType::Int:
      return "torch.int32";
    case ScalarType::Long:
      return "torch.int64";
    case ScalarType::Half:
      return "torch.float16";
    case ScalarType::BFloat16:
      return "torch.bfloat16";
    case ScalarType::Float:
      return "torch.float32";
    case ScalarType::Double:
      return "torch.float64";
    case ScalarType::ComplexFloat:
      return "torch.complex64";
    case ScalarType::ComplexDouble:
      return "torch.complex128";
    default:
      return torch::headeronly::toString(dtype);
  }
}

// Calls function(TypeTag<T>) with the type whose addition is that of `dtype`.
template <class Function>
auto dispatch_sum(const char* op, const char* argument, ScalarType dtype, Function&& function) {
  switch (dtype) {
    case ScalarType::Bool:
      return function(TypeTag<Bool>{});
    case ScalarType::Byte:
    case ScalarType::Char:
      return function(TypeTag<uint8_t>{});
    case ScalarType::Short:
      return function(TypeTag<uint16_t>{});
    case ScalarType::Int:
      return function(TypeTag<uint32_t>{});
    case ScalarType::Long:
      return function(TypeTag<uint64_t>{});
    case ScalarType::Half:
      return function(TypeTag<Half>{});
    case ScalarType::BFloat16:
      return function(TypeTag<BFloat16>{});
    case ScalarType::Float:
    case ScalarType::ComplexFloat:
      return function(TypeTag<float>{});
    case ScalarType::Double:
    case ScalarType::ComplexDouble:
      return function(TypeTag<double>{});
    default:
      fail(op, argument, " has dtype ", dtype_name(dtype),
           ", expected bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64 or "
           "complex128");
  }
}

inline int64_t reals_per_value(ScalarType dtype) {
  return dtype == ScalarType::ComplexFloat || dtype == ScalarType::ComplexDouble ? 2 : 1;
}

inline void check_value_dtype(const char* op, const char* argument, ScalarType dtype) {
  dispatch_sum(op, argument, dtype, [](auto) {});
}

inline void check_index_dtype(const char* op, const char* argument, ScalarType dtype) {
  check(dtype == ScalarType::Int || dtype == ScalarType::Long, op, argument, " has dtype ", dtype_name(dtype),
        ", expected torch.int32 or torch.int64");
}

}  // namespace torch_sparse_ops
