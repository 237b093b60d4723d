#pragma once
// Programs that are not there: search spaces with a cost for each mapping.

#include <cstdint>
#include <functional>
#include <vector>

#include "map_search/evaluator.hpp"
#include "map_search/space.hpp"
#include "support/random.hpp"

namespace refrain::map_search::test {

using refrain::test::Random;

/// Any space that passes the check: kinds, variants, ties, overlaps without a pattern.
Space any_space(Random& random);

/// A space of the paper's machine (section 5: CPUs and GPUs; system, zero-copy and framebuffer memory) with what its
/// program costs.
///
/// A task takes its work on its processor, and the bytes of its arguments over the bandwidth from there to their
/// memories. Two arguments that overlap in different memories cost a copy of what they share, and likewise on
/// different nodes. A memory that has to hold more than its capacity fails.
struct Program {
  Space space;
  std::vector<std::vector<double>> work;  ///< seconds of a task, by processor kind, on one node
  int nodes = 1;

  [[nodiscard]] Run run(const Mapping& mapping) const;
  /// Infinity where the run fails.
  [[nodiscard]] double seconds(const Mapping& mapping) const;
};
/// At most `largest` mappings, and no less than half of it where that can be reached.
Program random_program(Random& random, double largest);

/// The best of all mappings, by looking at each.
double optimum(const Program& program);

/// Calls a function, and counts.
class Calls final : public Evaluator {
 public:
  explicit Calls(std::function<Run(const Mapping&)> function) : function_(std::move(function)) {}
  explicit Calls(const Program& program)
      : Calls([&program](const Mapping& mapping) { return program.run(mapping); }) {}
  Run run(const Mapping& mapping) override {
    ++made;
    return function_(mapping);
  }
  int made = 0;

 private:
  std::function<Run(const Mapping&)> function_;
};

}  // namespace refrain::map_search::test
