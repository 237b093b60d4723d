#pragma once
// What is known about flow that began at rest: u depends on y and on time alone and is symmetric about the middle,
// v and p stay 0, and u(y, t) is Poiseuille's profile less modes that die away (a series of sines, White, "Viscous
// Fluid Flow", 3-4). After two waves of v, both halves of the channel, which is a ring, flow alike.

#include <vector>

#include "channel.hpp"

namespace cfd {

struct Outcome {
  double seconds = 0;
  long long steps = 0, timed = 0;  ///< in all; in those seconds
  double change = 0;  ///< of the sum of u in the last step that was looked at, relative
  bool converged = false;
  std::vector<double> u, v, p;  ///< in C order
};

/// F / (2 nu) y (height - y) at each row.
std::vector<double> poiseuille(const Channel& channel);
/// u(y, t) at each row.
std::vector<double> from_rest(const Channel& channel, double time);
/// Of a field, in each row.
std::vector<double> means_of_rows(const Channel& channel, const std::vector<double>& field);

/// Says what it looks at and what it finds.
bool check(const Channel& channel, const Outcome& outcome);

}  // namespace cfd
