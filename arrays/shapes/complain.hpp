#pragma once
// How this library's errors are made: the line of the call, then NumPy's words.

#include <source_location>
#include <string>

#include "refrain/arrays/error.hpp"

namespace refrain::arrays::detail {

/// Throws E: "file.cpp:12: what".
template <class E>
[[noreturn]] void complain(const std::source_location& where, const std::string& what) {
  throw E(refrain::to_string(where) + ": " + what);
}

}  // namespace refrain::arrays::detail
