#pragma once
// Random programs that replay templates, with the checks that any order of execution must pass: every
// operation of every replay runs once, after exactly what the edges say, and sees the arguments of its own
// replay; and the scope has the failures of those that throw, and no others. What operations write and
// read is plain memory, so ThreadSanitizer sees an order that is missing.
//
// A program enters templates, issues replays in pieces, leaves them whole or in the middle, enters again
// beside what is still in flight, and mixes in nodes of the ordinary graph: before operations (await) and
// behind them (ref). All of it is decided by the seed before anything is executed or as the program goes
// along, never by what has been executed.

#include <cstdint>

#include "graph/executor.hpp"
#include "graph/scope.hpp"

namespace refrain::test {

struct ReplayOptions {
  int operations = 24;  ///< of a template, at most
  int steps = 40;       ///< of the program
  bool failures = true;
  bool heavy = true;      ///< priorities, dedicated processors, reductions, operations that launch
  bool dedicated = true;  ///< processor 1 has a thread of its own
  bool nested = false;    ///< the scope lies below that of a task
  bool bounded = false;   ///< one thread runs everything: what is in flight is counted
};

/// Runs and checks it, with gtest expectations.
void run_random_replays(exec::Executor& executor, std::uint64_t seed, const ReplayOptions& options);

}  // namespace refrain::test
