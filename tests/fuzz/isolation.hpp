#pragma once
// Runs a function in a child process, so that its crash or hang is an answer too. The calling process
// must have no other threads.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace refrain::test {

/// Where the child is, in memory that both processes share. Written by the child.
struct Progress {
  std::uint64_t seed = 0;
  int step = 0;
  std::atomic<std::uint64_t> beats{0};
  char text[1 << 16] = {};

  void begin(std::uint64_t new_seed, int new_step) {
    seed = new_seed;
    step = new_step;
    // Release: the parent that sees the beat sees the seed and the step.
    beats.fetch_add(1, std::memory_order_release);
  }
};

/// How it went: empty text when all was well; otherwise what the function returned, or how it died.
struct Ending {
  std::string text;
  std::uint64_t seed = 0;
  int step = 0;
};

/// The child is ended when it begins nothing new for `seconds`.
Ending isolated(int seconds, const std::function<std::string(Progress&)>& f);

}  // namespace refrain::test
