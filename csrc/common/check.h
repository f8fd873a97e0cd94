// Errors as users see them: "operator(): what is wrong, and what is allowed", without C++ file names.
// Only these two exception types reach Python as the same class on every torch version:
// std::out_of_range as IndexError, std::runtime_error as RuntimeError.
#pragma once

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>

namespace torch_sparse_ops {

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

template <class... Parts>
[[noreturn]] void fail(const char* op, const Parts&... parts) {
  throw std::runtime_error(text(op, "(): ", parts...));
}

template <class... Parts>
[[noreturn]] void fail_index(const char* op, const Parts&... parts) {
  throw std::out_of_range(text(op, "(): ", parts...));
}

template <class... Parts>
void check(bool condition, const char* op, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail(op, parts...);
}

// Written as Python writes a tuple: (), (3,), (3, 9).
template <class Range>
std::string tuple_text(const Range& values) {
  std::ostringstream stream;
  stream << '(';
  size_t count = 0;
  for (const auto& value : values) stream << (count++ ? ", " : "") << value;
  stream << (count == 1 ? ",)" : ")");
  return stream.str();
}

}  // namespace torch_sparse_ops
