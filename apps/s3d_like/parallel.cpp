#include "parallel.hpp"

#include <cstring>
#include <stdexcept>
#include <vector>

#include "../common/host_task.hpp"
#include "driver.hpp"
#include "physics.hpp"
#include "tasks.hpp"

namespace s3d {

namespace {

using namespace refrain;
using apps::host_task;

// The fields of a quantity, and how it is cut.
struct Quantity {
  static constexpr Field<double> value{"value"}, change{"change"}, rate{"rate"};
  Region<2> grid;
  Partition<2> tile, inner, around;
};

class Simulation {
 public:
  Simulation(Context& ctx, const Setup& setup, apps::Progress& progress)
      : ctx_(ctx),
        setup_(setup),
        tiles_{{0, 0}, {setup.tiles[0] - 1, setup.tiles[1] - 1}},
        driver_(setup),
        diffuse_(host_task("diffuse", tasks::Diffuse{})),
        react_(host_task("react", tasks::React{setup})),
        advance_(host_task("advance", tasks::Advance{})),
        filter_(host_task("filter", tasks::Filter{})),
        accept_(host_task("accept", tasks::Accept{&progress})) {
    const auto start = host_task("start", tasks::Start{setup});
    for (int q = 0; q < setup.quantities(); ++q) {
      quantities_.push_back(make_quantity());
      ctx.launch(start, tiles_, quantities_.back().tile[Quantity::value], q);
    }
  }

  void iterate(int t) {
    advance_stages();
    end_trace();
    if (setup_.hands_off(t)) hand_off(t);
    begin_trace();
    filter();
  }

  /// After the last iteration.
  void end_trace() {
    if (trace_is_open_) ctx_.end_trace(between_hand_offs_);
    trace_is_open_ = false;
  }

  [[nodiscard]] bool equals(const State& expected) const {
    for (std::size_t q = 0; q < expected.size(); ++q)
      if (!equal(quantities_[q].grid, expected[q])) return false;
    return true;
  }

  void note_temperatures(Outcome& outcome) const {
    const auto value = ctx_.access<Read>(temperature().grid[Quantity::value]);
    for (auto p : value.domain()) note_temperature(outcome, value[p]);
  }

 private:
  Quantity make_quantity() {
    Quantity q;
    q.grid = ctx_.region(Rect2{{0, 0}, {setup_.n - 1, setup_.n - 1}}, Quantity::value,
                         Quantity::change, Quantity::rate);
    q.tile = ctx_.blocks(q.grid, setup_.tiles);
    q.inner = ctx_.interior(q.tile, 1);
    q.around = ctx_.halo(q.inner, 1);
    return q;
  }

  // A hand-off cannot be traced, and comes in the middle of an iteration, but not of each. Marks around iterations
  // would see two kinds of them, one of which is cut. What is the same for all are the calls from where one
  // hand-off may be to where the next may be: the filter that ends an iteration and the stages of the next one. So
  // the trace begins in one call of `iterate` and ends in the next, or after the last.
  void begin_trace() {
    if (setup_.trace) ctx_.begin_trace(between_hand_offs_);
    trace_is_open_ = setup_.trace;
  }

  void advance_stages() {
    for (const Stage& stage : stages) {
      for (const Quantity& q : quantities_)
        ctx_.launch(diffuse_, tiles_, q.inner[Quantity::rate], q.around[Quantity::value]);
      for (std::size_t s = 1; s + 1 < quantities_.size(); ++s)
        ctx_.launch(react_, tiles_, quantities_[s].inner[Quantity::rate],
                    quantities_[s + 1].inner[Quantity::rate], temperature().inner[Quantity::rate],
                    quantities_[s].inner[Quantity::value], temperature().inner[Quantity::value]);
      for (const Quantity& q : quantities_)
        ctx_.launch(advance_, tiles_, q.inner[Quantity::value], q.inner[Quantity::change],
                    q.inner[Quantity::rate], stage, driver_.dt());
    }
  }

  // The access waits for the stages, and the filter waits for its end.
  void hand_off(int t) {
    const auto value = ctx_.access<ReadWrite>(temperature().grid[Quantity::value]);
    if (!value.contiguous_rows())
      throw std::runtime_error("the driver wants the temperature in C order");
    driver_.take_over({value.pointer({0, 0}), value.stride(0) / Coord{sizeof(double)}}, t);
  }

  // The rate has been used; until the next stage it has room for what is smooth.
  void filter() {
    const Quantity& q = temperature();
    ctx_.launch(filter_, tiles_, q.inner[Quantity::rate], q.around[Quantity::value]);
    ctx_.launch(accept_, tiles_, q.inner[Quantity::value], q.inner[Quantity::rate]);
  }

  [[nodiscard]] bool equal(const Region<2>& grid, const std::vector<double>& expected) const {
    const auto value = ctx_.access<Read>(grid[Quantity::value]);
    const auto row = static_cast<std::size_t>(setup_.n);
    for (Coord i = 0; i < setup_.n; ++i) {
      const double* wanted = expected.data() + static_cast<std::size_t>(i) * row;
      if (std::memcmp(value.row({i, 0}, row).data(), wanted, row * sizeof(double)) != 0)
        return false;
    }
    return true;
  }

  [[nodiscard]] const Quantity& temperature() const { return quantities_.front(); }

  Context& ctx_;
  const Setup setup_;
  const Rect2 tiles_;
  Driver driver_;
  std::vector<Quantity> quantities_;
  const Task<tasks::Diffuse> diffuse_;
  const Task<tasks::React> react_;
  const Task<tasks::Advance> advance_;
  const Task<tasks::Filter> filter_;
  const Task<tasks::Accept> accept_;
  const Trace between_hand_offs_{"between hand-offs"};
  bool trace_is_open_ = false;
};

}  // namespace

Outcome run_parallel(Context& ctx, const Setup& setup, apps::Progress& progress,
                     const State* expected) {
  Simulation simulation(ctx, setup, progress);
  for (int t = 0; t < setup.warm_up; ++t) simulation.iterate(t);
  ctx.fence();
  const apps::Timer timer;
  for (int t = 0; t < setup.iterations; ++t) simulation.iterate(setup.warm_up + t);
  simulation.end_trace();
  ctx.fence();

  Outcome outcome;
  outcome.seconds = timer.seconds();
  simulation.note_temperatures(outcome);
  outcome.identical = expected == nullptr || simulation.equals(*expected);
  return outcome;
}

}  // namespace s3d
