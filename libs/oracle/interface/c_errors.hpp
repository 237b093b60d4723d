#pragma once
// How the C interface fails: what is thrown beneath it becomes the thread's last error, and a value that says so.

#include <cstddef>
#include <cstring>
#include <exception>
#include <string>

#include "oracle/error.hpp"

namespace refrain::oracle {

// Without a destructor, so that it holds to the very end of the thread.
inline constexpr std::size_t kLongestError = 1024;
inline constinit thread_local char last_error[kLongestError] = {};

inline void remember(const char* what) { std::strncpy(last_error, what, kLongestError - 1); }

/// What the function returns, or `failed`, if it throws.
template <class Result, class Function>
Result or_failed(Result failed, const Function& function) {
  try {
    return function();
  } catch (const std::exception& error) { remember(error.what()); }
  return failed;
}

/// For what has to be given. OracleError: it is not.
inline const char* required(const char* text, const char* what) {
  if (text == nullptr) throw OracleError(std::string(what) + " is not given");
  return text;
}

}  // namespace refrain::oracle
