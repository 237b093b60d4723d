#include "time_step.hpp"

#include <algorithm>

namespace pennant {

Limits tighter(const Limits& a, const Limits& b) {
  Limits both = a;
  if (b.courant < a.courant || (b.courant == a.courant && b.courant_zone < a.courant_zone)) {
    both.courant = b.courant;
    both.courant_zone = b.courant_zone;
  }
  if (b.swelling > a.swelling || (b.swelling == a.swelling && b.swelling_zone < a.swelling_zone)) {
    both.swelling = b.swelling;
    both.swelling_zone = b.swelling_zone;
  }
  both.inverted = std::min(a.inverted, b.inverted);
  return both;
}

void check_shapes(const Limits& limits, int cycle) {
  if (limits.inverted == Limits::none) return;
  throw std::runtime_error("zone " + std::to_string(limits.inverted + 1) +
                           " of the mesh is inside out " +
                           (cycle == 0 ? "at the start"
                                       : "in cycle " + std::to_string(cycle) +
                                             ": the deck may want a smaller dtinit, cfl or cflv"));
}

Step next_step(const TimeControl& control, const Step& last, const Limits& limits) {
  check_shapes(limits, last.cycle);
  Step step;
  step.cycle = last.cycle + 1;
  step.dt = control.longest_step;
  const auto limit = [&](double dt, Limiter limiter, Index zone) {
    if (!(dt < step.dt)) return;
    step.dt = dt;
    step.limiter = limiter;
    step.zone = zone;
  };
  if (last.cycle == 0) limit(control.first_step, Limiter::first, Limits::none);
  else limit(control.growth * last.dt, Limiter::growth, Limits::none);
  limit(control.end - last.time, Limiter::end, Limits::none);
  if (last.cycle > 0) {
    limit(limits.courant, Limiter::courant, limits.courant_zone);
    limit(last.dt * control.swelling / limits.swelling, Limiter::swelling, limits.swelling_zone);
  }
  step.time = last.time + step.dt;
  return step;
}

std::string limiter_name(const Step& step) {
  const std::string zone = " of zone " + std::to_string(step.zone + 1);
  switch (step.limiter) {
    case Limiter::longest: return "dtmax";
    case Limiter::first: return "dtinit";
    case Limiter::growth: return "dtfac";
    case Limiter::end: return "tstop";
    case Limiter::courant: return "the Courant limit" + zone;
    case Limiter::swelling: return "the volume" + zone;
  }
  return "nothing";
}

}  // namespace pennant
