#pragma once
// Executes a program through the run-time launch API and collects what it observes, to be compared with
// the interpreter's observations byte for byte. Bodies also check what they are given: points, ranks,
// domains of arguments, future values; by-value arguments are counted to be destroyed exactly once.

#include <string>
#include <vector>

#include "refrain/runtime.hpp"
#include "support/interpreter.hpp"

namespace refrain::test {

struct RunOutcome {
  std::vector<Observation> observed;
  std::vector<std::string> complaints;  ///< of task bodies and of the runner itself
};

/// Runs the program; an error that it throws is a complaint.
RunOutcome execute(Runtime& runtime, const Program& program);

/// Empty, or what differs: the first observation that is not as expected, with the statement that made
/// it, and all complaints.
std::string compare(const Program& program, const std::vector<Observation>& expected,
                    const RunOutcome& outcome);

}  // namespace refrain::test
