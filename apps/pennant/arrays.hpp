#pragma once
// The simulation in plain arrays, chunk by chunk: what the sequential program and its twin with OpenMP share.

#include "../common/progress.hpp"
#include "kernels.hpp"
#include "state.hpp"

namespace pennant {

class Arrays {
 public:
  Arrays(const Deck& deck, const Mesh& mesh)
      : gas_(deck.gas),
        mesh_(mesh),
        state_(first_state(deck, mesh)),
        velocity_sum_(mesh.points.size()),
        radius_(mesh.points.size()),
        force_(mesh.side_point.size()),
        corner_(mesh.side_point.size()) {}

  // The three parts of a cycle. Each wants all chunks of the one before it, in whatever order.
  Limits predict(const Chunk& chunk, double dt);
  void move_points(const PointChunk& chunk, double dt);
  Limits correct(const Chunk& chunk, double dt);

  [[nodiscard]] State state() && { return std::move(state_); }

 private:
  [[nodiscard]] ZoneRange range(const Chunk& chunk) const;

  const Gas gas_;
  const Mesh& mesh_;
  State state_;
  std::vector<Vec2> velocity_sum_;  // of points, see Motion
  std::vector<double> radius_;
  std::vector<Vec2> force_;  // of sides
  std::vector<Corner> corner_;
};

/// Cycles until the deck's end; cycle(dt) does one and returns the limits of the next step.
template <class Cycle>
Outcome run_cycles(const Deck& deck, const char* name, const Cycle& cycle) {
  apps::Progress progress(name, deck.time.cycles);
  Outcome outcome;
  Limits limits;
  const apps::Timer timer;
  do {
    outcome.last = next_step(deck.time, outcome.last, limits);
    limits = cycle(outcome.last.dt);
    progress.step();
    if (outcome.last.cycle == 1) outcome.first_cycle = timer.seconds();
  } while (!is_last(deck.time, outcome.last));
  outcome.seconds = timer.seconds();
  check_shapes(limits, outcome.last.cycle);
  return outcome;
}

}  // namespace pennant
