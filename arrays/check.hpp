#pragma once
// Checks of this library's own promises, which no program can break. They stay in release builds, so they are cheap.

#include <cstdio>
#include <cstdlib>

namespace refrain::arrays::detail {

[[noreturn]] inline void check_failed(const char* condition, const char* sentence, const char* file,
                                      int line) noexcept {
  std::fprintf(stderr, "%s:%d: a mistake in refrain::arrays: %s (%s)\n", file, line, sentence,
               condition);
  std::abort();
}

}  // namespace refrain::arrays::detail

/// Ends the process with `sentence` when `condition` is false.
#define REFRAIN_ARRAYS_CHECK(condition, sentence) \
  (static_cast<bool>(condition)                   \
       ? void(0)                                  \
       : ::refrain::arrays::detail::check_failed(#condition, sentence, __FILE__, __LINE__))
