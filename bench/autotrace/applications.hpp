#pragma once
// The applications as they are shipped, with tasks of three sizes, as in Figures 6 and 7 of the automatic tracing
// paper: small ones (some 0.5 us), which the analysis holds up, medium ones (some 10), and large ones (some 100), which
// hide it. Every group launch has eight points.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "refrain/refrain.hpp"

namespace refrain::bench {

/// What a run of an application is asked for.
struct Course {
  int warm_up;     ///< iterations that are not timed
  int iterations;  ///< timed
  bool marked;     ///< with its own traces
};

struct Application {
  std::string name;
  std::string grain;  ///< small, medium or large
  std::int64_t size;  ///< edge of the grid; wires of a piece; unknowns
  int calls;          ///< of an iteration, those that can be traced
  Course course;      ///< marks aside
  /// The seconds that were timed. Throws when the application's check fails.
  std::function<double(Context&, const Course&)> run;
};

/// All of them, small before large.
std::vector<Application> applications(bool quick);

}  // namespace refrain::bench
