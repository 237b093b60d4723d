#pragma once
// The graphs as loops.

#include <cstddef>
#include <vector>

#include "setup.hpp"

namespace patterns {

/// What a graph needs: outputs of even and of odd steps, and scratch memory. For programs in shared memory.
class Rows {
 public:
  Rows(const Pattern& pattern, const Work& work);

  /// The first cell of a task's output.
  [[nodiscard]] Cell* output(int step, int task) {
    return rows_[step & 1].data() + static_cast<std::ptrdiff_t>(task) * work_.cells;
  }
  /// `inputs`: those of the pattern for this step and task.
  void run(int step, int task, const std::vector<Tasks>& inputs);
  /// Of the last step's tasks.
  void append_digests(std::vector<std::uint64_t>& digests);

 private:
  Pattern pattern_;
  Work work_;
  std::vector<Cell> rows_[2];
  std::vector<double> scratch_;
};

/// The inputs of every task of every set: [set][task].
std::vector<std::vector<std::vector<Tasks>>> all_inputs(const Pattern& pattern);

Outcome run_sequential(const Setup& setup);

}  // namespace patterns
