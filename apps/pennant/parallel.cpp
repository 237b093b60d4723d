#include "parallel.hpp"

#include <utility>

#include "../common/host_task.hpp"
#include "tasks.hpp"

namespace pennant {

namespace {

using namespace refrain;
using apps::host_task;

struct Tighter {
  static constexpr std::string_view name = "tighter";
  template <class T>
  static constexpr T identity() {
    return {};
  }
  template <class T>
  static T fold(const T& a, const T& b) {
    return tighter(a, b);
  }
};

class Simulation {
 public:
  Simulation(Context& ctx, const Deck& deck, const Mesh& mesh, const Chunks& chunks,
             const State& start, apps::Progress& progress)
      : ctx_(ctx),
        control_(deck.time),
        pieces_(make_pieces(ctx, mesh, chunks, start)),
        next_step_(host_task("next_step", tasks::NextStep{deck.time, &progress})),
        predict_(host_task("predict", tasks::Predict{deck.gas})),
        move_points_(host_task("move_points", tasks::MovePoints{})),
        correct_(host_task("correct", tasks::Correct{})) {
    const auto begin = host_task("begin", [](const Step& step) { return step; });
    const auto no_limits = host_task("no_limits", [] { return Limits{}; });
    step_ = ctx.launch(begin, Step{});
    middle_ = end_ = ctx.launch(no_limits);
  }

  /// Returns the seconds of the cycles, and of the first one.
  std::pair<double, double> run(bool trace) {
    const Trace one_cycle{"cycle"};
    const apps::Timer timer;
    double first_cycle = 0;
    // The step is known before the cycle's other tasks run: the program waits for the cycle before, and launches the
    // next one while this one runs. In a dry run no step tells its cycle.
    int launched = 0;
    do {
      if (trace) ctx_.trace(one_cycle, [&] { cycle(); });
      else cycle();
      if (step_.get().cycle == 2) first_cycle = timer.seconds();
    } while (++launched < control_.cycles && !is_last(control_, step_.get()));
    ctx_.fence();
    return {timer.seconds(), first_cycle};
  }

  [[nodiscard]] Outcome outcome(const State& start) const {
    Outcome outcome;
    outcome.last = step_.get();
    check_shapes(tighter(middle_.get(), end_.get()), outcome.last.cycle);
    State& state = outcome.state;
    state.position = values(pieces_.points[Points::position]);
    state.velocity = values(pieces_.points[Points::velocity]);
    state.mass = start.mass;
    state.mass_fraction = start.mass_fraction;
    const auto gas = ctx_.access<Read>(pieces_.gases[Gases::value]);
    const auto of_zones = [&](Gases::Row row) {
      const auto all = gas.row({row, 0}, start.mass.size());
      return std::vector<double>(all.begin(), all.end());
    };
    state.density = of_zones(Gases::density);
    state.energy = of_zones(Gases::energy);
    state.total_energy = of_zones(Gases::total_energy);
    state.pressure = of_zones(Gases::pressure);
    state.volume = of_zones(Gases::volume);
    state.work_rate = of_zones(Gases::work_rate);
    return outcome;
  }

 private:
  void cycle() {
    const Pieces& p = pieces_;
    step_ = ctx_.launch(next_step_, step_, middle_, end_);
    const auto middle = ctx_.launch(
        predict_, p.zone_chunks,
        p.own_sides[fields(Sides::point, Sides::mass_fraction, Sides::force, Sides::corner)],
        p.own_zones[Zones::sides], p.own_gases[Gases::value],
        p.touched_points[fields(Points::position, Points::velocity)], step_);
    ctx_.launch(move_points_, p.point_chunks,
                p.own_points[fields(Points::position, Points::velocity, Points::velocity_sum,
                                    Points::radius, Points::role)],
                p.own_corners[Corners::side], p.sides_around[Sides::corner], step_);
    const auto end = ctx_.launch(
        correct_, p.zone_chunks, p.own_sides[fields(Sides::point, Sides::force)],
        p.own_zones[Zones::sides], p.own_gases[Gases::value],
        p.touched_points[fields(Points::position, Points::velocity_sum, Points::radius)], step_);
    middle_ = ctx_.reduce(middle, Tighter{});
    end_ = ctx_.reduce(end, Tighter{});
  }

  [[nodiscard]] std::vector<Vec2> values(const RegionArgument<Vec2, 1>& argument) const {
    const auto access = ctx_.access<Read>(argument);
    const auto bounds = access.domain().bounds();
    const auto all = access.row(bounds.lo, bounds.volume());
    return {all.begin(), all.end()};
  }

  Context& ctx_;
  const TimeControl control_;
  const Pieces pieces_;
  const Task<tasks::NextStep> next_step_;
  const Task<tasks::Predict> predict_;
  const Task<tasks::MovePoints> move_points_;
  const Task<tasks::Correct> correct_;
  Future<Step> step_;            // of the cycle that was launched last
  Future<Limits> middle_, end_;  // what its predictor and its corrector say of the next one
};

}  // namespace

Outcome run_parallel(Context& ctx, const Deck& deck, const Mesh& mesh, const Chunks& chunks,
                     const State& start, bool trace, apps::Progress& progress) {
  Simulation simulation(ctx, deck, mesh, chunks, start, progress);
  ctx.fence();
  const auto [seconds, first_cycle] = simulation.run(trace);
  Outcome outcome = simulation.outcome(start);
  outcome.seconds = seconds;
  outcome.first_cycle = first_cycle;
  return outcome;
}

}  // namespace pennant
