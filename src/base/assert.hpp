#pragma once
// Assertions mark our own bugs: something the code around them promises and that no input can break.
// They stay in release builds, so they must be cheap. What a program can cause is an Error instead.

namespace refrain {

[[noreturn]] void assertion_failed(const char* condition, const char* sentence, const char* file,
                                   int line) noexcept;

}  // namespace refrain

/// Ends the process with `sentence` when `condition` is false.
#define REFRAIN_ASSERT(condition, sentence) \
  (static_cast<bool>(condition)             \
       ? void(0)                            \
       : ::refrain::assertion_failed(#condition, sentence, __FILE__, __LINE__))
