#pragma once
// Assertions mark our own bugs: something the code around them promises and that no input can break.
// They stay in release builds, so they must be cheap. What a program can cause is an Error instead.

#include <cstdio>
#include <cstdlib>

namespace refrain {

[[noreturn, gnu::cold, gnu::noinline]] inline void assertion_failed(const char* condition,
                                                                    const char* sentence,
                                                                    const char* file,
                                                                    int line) noexcept {
  std::fprintf(stderr, "refrain: internal error at %s:%d: %s (%s)\n", file, line, sentence,
               condition);
  std::abort();
}

}  // namespace refrain

/// Ends the process with `sentence` when `condition` is false.
#define REFRAIN_ASSERT(condition, sentence) \
  (static_cast<bool>(condition)             \
       ? void(0)                            \
       : ::refrain::assertion_failed(#condition, sentence, __FILE__, __LINE__))
