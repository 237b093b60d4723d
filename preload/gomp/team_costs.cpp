#include "gomp/team_costs.hpp"

#include <algorithm>
#include <bit>

namespace refrain::gomp {
namespace {

/// New observations count by that much.
constexpr float share = 1.0F / 8;
/// Interruptions that may be chance.
constexpr float few = 2.5F;
/// The mean of fewer regions would be one interruption's.
constexpr float fewest = TeamCosts::memory / 4;

}  // namespace

unsigned TeamCosts::doublings(unsigned threads) {
  return static_cast<unsigned>(std::bit_width(threads - 1));
}

double TeamCosts::most_overhead(unsigned threads) const {
  const unsigned running = at_once(threads);
  return most_ns * (1 + doublings(running)) * threads / running;
}

double TeamCosts::overhead(unsigned threads) const {
  if (threads == 1) return 0;
  const Cost& cost = costs_[doublings(threads)];
  const double known = cost.overhead > 0 ? cost.overhead : most_overhead(threads);
  return std::min<double>(known, cost.shortest);
}

double TeamCosts::interruptions(unsigned threads) const {
  const Cost& own = costs_[doublings(threads)];
  const Cost& cost = own.regions < fewest ? costs_[known_] : own;
  if (cost.interruptions <= few) return 0;
  return cost.waits * static_cast<float>(threads) / static_cast<float>(cost.threads);
}

void TeamCosts::expect(unsigned threads, double ns) {
  float& shortest = costs_[doublings(threads)].shortest;
  shortest = std::min(shortest, static_cast<float>(ns));
}

void TeamCosts::saw(unsigned threads, double ns, double alone_ns) {
  if (ns > longest * most_overhead(threads)) return;
  float& known = costs_[doublings(threads)].overhead;
  const auto seen =
      static_cast<float>(std::clamp(ns - alone_ns / at_once(threads), 1.0, most_overhead(threads)));
  known = known > 0 ? known + share * (seen - known) : seen;
}

void TeamCosts::ended(unsigned threads, double ns, double typical_ns) {
  const unsigned which = doublings(threads);
  Cost& cost = costs_[which];
  cost.threads = threads;
  if (cost.regions >= fewest) known_ = which;
  const bool waited = ns > interrupted * typical_ns + little_ns;
  const float wait = waited ? static_cast<float>(ns - typical_ns) : 0;
  cost.regions = std::min(cost.regions + 1, memory);
  cost.waits += (wait - cost.waits) / std::max(cost.regions, fewest);
  cost.interruptions += (waited ? 1.0F : 0.0F) - cost.interruptions / memory;
}

}  // namespace refrain::gomp
