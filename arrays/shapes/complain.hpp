#pragma once
// How this library's errors are made.

#include <source_location>
#include <string>

#include "refrain/arrays/error.hpp"

namespace refrain::arrays::detail {

/// Throws E with the line of the call and NumPy's words.
template <class E>
[[noreturn]] void complain(const std::source_location& where, const std::string& message) {
  throw E(where, message);
}

/// Calls f; that the memory cannot hold what it asks for is a MemoryError.
template <class F>
decltype(auto) with_memory_errors(const std::source_location& where, F&& f) {
  try {
    return f();
  } catch (const OutOfMemory& error) { complain<MemoryError>(where, error.what()); }
}

}  // namespace refrain::arrays::detail
