#pragma once
// How long the next step may be. Zones limit it in two ways: sound and what moves may cross a part of a zone only
// (Courant), and a zone's volume may change by a part of itself only.

#include <limits>

#include "deck.hpp"

namespace pennant {

/// What some zones say about the next step.
struct Limits {
  static constexpr Index none = std::numeric_limits<Index>::max();

  double courant = 1e99;  ///< the longest step by Courant's condition
  Index courant_zone = none;
  double swelling = 1e-99;  ///< by how much of itself a volume has changed at most
  Index swelling_zone = none;
  Index inverted = none;  ///< the first zone with a side of no positive volume
};

/// Both together. Of equal limits the first zone's counts, so the order of the zones does not matter.
Limits tighter(const Limits& a, const Limits& b);

enum class Limiter : std::uint8_t { longest, first, growth, end, courant, swelling };

/// The step of one cycle.
struct Step {
  double dt = 0;
  double time = 0;  ///< when it ends
  int cycle = 0;    ///< the first one is 1; 0: before it
  Limiter limiter = Limiter::longest;
  Index zone = Limits::none;  ///< the zone that limits it, if one does
};

/// Throws std::runtime_error that names the first zone that has been turned inside out.
void check_shapes(const Limits& limits, int cycle);

/// The step after `last`, in which zones had these limits. Throws as check_shapes.
Step next_step(const TimeControl& control, const Step& last, const Limits& limits);

inline bool is_last(const TimeControl& control, const Step& step) {
  return step.cycle >= control.cycles || step.time >= control.end;
}

/// "growth", "the Courant limit of zone 17".
std::string limiter_name(const Step& step);

}  // namespace pennant
