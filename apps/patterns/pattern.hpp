#pragma once
// The task graphs of Task Bench (Slaughter et al., SC 2020): steps of up to `width` tasks, each of which needs what some
// tasks of the step before it left. A graph follows from its description alone. Plain C++, which programs by hand use, too.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace patterns {

enum class Kind : std::uint8_t {
  trivial,              ///< nothing
  no_comm,              ///< the same task
  stencil_1d,           ///< the same and its neighbours
  stencil_1d_periodic,  ///< the same on a ring
  dom,                  ///< the same and its left neighbour, as a wave that enters and leaves
  tree,                 ///< half its number: each task has two successors
  fft,                  ///< the same and those a power of two away, another one each step
  all_to_all,           ///< all
  nearest,              ///< `radix` of them around it
  spread,               ///< `radix` of them far apart, others each step
  random_nearest,       ///< of the `radix` around it some, others each step
};

/// "stencil_1d" and so on, in the order of the kinds.
const std::vector<std::string>& kind_names();

/// Tasks from `first` to `last`, both included; none where last < first.
struct Tasks {
  int first = 0;
  int last = -1;

  [[nodiscard]] int count() const { return last - first + 1; }
  bool operator==(const Tasks&) const = default;
};

inline Tasks intersection(const Tasks& a, const Tasks& b) {
  return {std::max(a.first, b.first), std::min(a.last, b.last)};
}

struct Pattern {
  Kind kind = Kind::stencil_1d;
  int width = 8;  ///< most tasks of a step
  int steps = 1000;
  int radix = 5;           ///< of nearest, spread and random_nearest
  int period = 3;          ///< steps after which spread and random_nearest repeat
  double fraction = 0.25;  ///< of the tasks around one that random_nearest takes
  int graph = 0;           ///< which of several graphs: random_nearest differs from one to the next

  /// The tasks of a step; none of step -1.
  [[nodiscard]] Tasks tasks(int step) const;
  /// Steps differ in what their tasks need; this many kinds of steps follow one another.
  [[nodiscard]] int sets() const;
  [[nodiscard]] int set_of(int step) const;
  /// What a task of such a step needs of the step before: disjoint, with gaps between them, ascending. Some may not be
  /// among the tasks of that step; those are not needed then.
  [[nodiscard]] std::vector<Tasks> inputs(int set, int task) const;
};

/// A number in [0, 1) that follows from the others.
double uniform(std::uint64_t a, std::uint64_t b, std::uint64_t c);

}  // namespace patterns
