#pragma once
// A program: one graph or several at once, step by step, and how it went.

#include <cstdint>
#include <vector>

#include "work.hpp"

namespace patterns {

struct Setup {
  std::vector<Pattern> graphs;  ///< all with the same number of steps
  Work work;
  bool trace = false;  ///< steps that repeat are a trace: analysed once, then replayed

  [[nodiscard]] int steps() const { return graphs.empty() ? 0 : graphs.front().steps; }
  /// Of all graphs and steps.
  [[nodiscard]] std::int64_t tasks() const {
    std::int64_t count = 0;
    for (const Pattern& graph : graphs)
      for (int step = 0; step < graph.steps; ++step) count += graph.tasks(step).count();
    return count;
  }
};

struct Outcome {
  double seconds = 0;  ///< of the steps
  /// Of the last step's tasks, graph after graph.
  std::vector<std::uint64_t> digests;
};

}  // namespace patterns
