#pragma once
// What is known about a dam break. Mass is kept to rounding. Behind a straight dam all depends on time and on the
// distance from it alone, as J. J. Stoker found ("Water Waves", 1957): a rarefaction runs back into the high water, a
// shock forward into the low, and between them the water stands at one height. A round dam leaves the lake's symmetry.

#include <vector>

#include "water.hpp"

namespace shallow_water {

struct Outcome {
  double seconds = 0;
  std::int64_t steps = 0;
  double mass_before = 0, mass = 0;  ///< sums of the height
  double time = 0;                   ///< of the water, in seconds
  std::vector<double> h, hu, hv;     ///< between the walls, in C order
};

/// Stoker's solution.
class DamBreak {
 public:
  explicit DamBreak(const Lake& lake);
  /// The height at a distance from the dam, positive on the low side.
  [[nodiscard]] double height(double distance, double time) const;
  /// Of the wave that runs fastest.
  [[nodiscard]] double fastest() const;

 private:
  double high_, low_;                 ///< heights
  double middle_ = 0, velocity_ = 0;  ///< of the water between the waves
  double shock_ = 0;                  ///< its speed
};

/// Along the middle of the lake, across the dam: where cells are (from the dam) and how high the water stands.
struct Line {
  std::vector<double> distance, height;
};
Line middle_line(const Lake& lake, const std::vector<double>& h);

/// Says what it looks at and what it finds.
bool check(const Lake& lake, const Outcome& outcome);

}  // namespace shallow_water
