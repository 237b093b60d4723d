#pragma once
// Instruction counts through valgrind's callgrind: exact, repeatable to a few parts in a million, and
// so the right measure for "does the cost per task grow". A program counts itself: the benchmark
// runs its own executable again under callgrind with instrumentation switched off, and the code to
// be counted stands between the two calls of Collect. Outside of valgrind Collect costs nothing worth
// naming. One thread.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace refrain::bench {

/// Collects the instructions of all threads while it lives.
class Collect {
 public:
  Collect();
  ~Collect();
  Collect(const Collect&) = delete;
  Collect& operator=(const Collect&) = delete;
};

/// Whether counting can work here: valgrind is installed and its header was when this was built.
bool can_count_instructions();

/// Runs `program arguments...` under callgrind and returns the instructions collected; nothing when
/// the run fails. What is counted runs some fifty times slower, the rest some five times; threads are serialised.
std::optional<std::int64_t> count_instructions(const std::string& program,
                                               const std::vector<std::string>& arguments);

}  // namespace refrain::bench
