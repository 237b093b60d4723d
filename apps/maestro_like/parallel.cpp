#include "parallel.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "../common/checks.hpp"
#include "../common/host_task.hpp"
#include "physics.hpp"
#include "tasks.hpp"

namespace maestro {

namespace {

using namespace refrain;
using apps::host_task;

struct Gas {
  static constexpr Field<Conserved> conserved{"conserved"}, change{"change"};
  static constexpr Field<Primitive> primitive{"primitive"};
  static constexpr std::array gradient{Field<Gradient>{"gradient_x"}, Field<Gradient>{"gradient_y"},
                                       Field<Gradient>{"gradient_z"}};
  static constexpr std::array flux{Field<Conserved>{"flux_x"}, Field<Conserved>{"flux_y"},
                                   Field<Conserved>{"flux_z"}};
};

struct AddTotals {
  static constexpr std::string_view name = "add totals";
  template <class T>
  static constexpr T identity() {
    return {-0.0, -0.0, 0.0};
  }
  template <class T>
  static T fold(T a, const T& b) {
    a.add(b);
    return a;
  }
};

// A task for each direction.
template <class F>
std::array<Task<F>, 3> directions(const std::string& name, const std::array<F, 3>& bodies) {
  return {host_task(name + "_x", bodies[0]), host_task(name + "_y", bodies[1]),
          host_task(name + "_z", bodies[2])};
}

// The samples of one fidelity.
class Ensemble {
 public:
  Ensemble(Context& ctx, const std::string& name, const Fidelity& f, apps::Progress* progress)
      : ctx_(ctx),
        fidelity_(f),
        pieces_(f.samples * f.pieces),
        start_(host_task(name + "_start", tasks::Start{f})),
        measure_(host_task(name + "_measure", tasks::Measure{progress})),
        find_primitives_(host_task(name + "_primitives", tasks::FindPrimitives{})),
        mirror_(directions<tasks::Mirror>(name + "_mirror", {{{0, f}, {1, f}, {2, f}}})),
        find_gradients_(
            directions<tasks::FindGradients>(name + "_gradient", {{{0, h()}, {1, h()}, {2, h()}}})),
        find_fluxes_(
            directions<tasks::FindFluxes>(name + "_flux", {{{0, h()}, {1, h()}, {2, h()}}})),
        advance_(host_task(name + "_advance", tasks::Advance{h()})) {
    grid_ =
        ctx.region(f.grid(), Gas::conserved, Gas::change, Gas::primitive, Gas::gradient[0],
                   Gas::gradient[1], Gas::gradient[2], Gas::flux[0], Gas::flux[1], Gas::flux[2]);
    own_ = cut([](const Slab& slab) { return slab.own; });
    inner_ = cut([](const Slab& slab) { return slab.inner; });
    around_ = cut([](const Slab& slab) {
      Rect3 around = slab.own;
      around.lo[0] = std::max(around.lo[0] - 1, slab.sample.lo[0]);
      around.hi[0] = std::min(around.hi[0] + 1, slab.sample.hi[0]);
      return around;
    });
    for (int d = 0; d < 3; ++d) {
      between_[d] = cut([d](const Slab& slab) {
        Rect3 between = slab.own;
        between.lo[d] = slab.inner.lo[d];
        between.hi[d] = slab.inner.hi[d];
        return between;
      });
      faces_[d] = cut([d](const Slab& slab) {
        Rect3 faces = slab.inner;
        faces.hi[d] = slab.own.hi[d];
        return faces;
      });
    }
    ctx.launch(start_, pieces_, inner_[Gas::conserved]);
    ctx.fill(grid_, Gas::change, Conserved{});
  }

  [[nodiscard]] Future<Totals> measure() const {
    return ctx_.reduce(ctx_.launch(measure_, pieces_, inner_[Gas::conserved]), AddTotals{});
  }

  void step() const {
    const auto totals = measure();
    for (const Stage& stage : stages) advance(totals, stage);
  }

  [[nodiscard]] bool equals(const State& expected) const {
    const auto values = ctx_.access<Read>(grid_[Gas::conserved]);
    const Coord n = fidelity_.n;
    for (std::size_t s = 0; s < expected.size(); ++s) {
      const Coord first = fidelity_.sample(static_cast<Coord>(s)).lo[0];
      for (Coord i = 1; i <= n; ++i)
        for (Coord j = 1; j <= n; ++j) {
          const auto count = static_cast<std::size_t>(n);
          const Conserved* wanted = expected[s].data() + (i * (n + 2) + j) * (n + 2) + 1;
          const auto row = values.row({first + i, j, 1}, count);
          if (std::memcmp(row.data(), wanted, count * sizeof(Conserved)) != 0) return false;
        }
    }
    return true;
  }

 private:
  [[nodiscard]] double h() const { return 1.0 / static_cast<double>(fidelity_.n); }

  // Of each piece what `part` says.
  template <class Part>
  [[nodiscard]] Partition<3> cut(const Part& part) const {
    std::vector<IndexSpace<3>> parts;
    for (Coord piece = 0; piece < pieces_; ++piece)
      parts.emplace_back(part(slab(fidelity_, piece)));
    return ctx_.partition(grid_, parts);
  }

  void advance(const Future<Totals>& totals, const Stage& stage) const {
    ctx_.launch(find_primitives_, pieces_, inner_[Gas::conserved], inner_[Gas::primitive]);
    for (const auto& mirror : mirror_) ctx_.launch(mirror, pieces_, own_[Gas::primitive]);
    for (std::size_t d = 0; d < 3; ++d)
      ctx_.launch(find_gradients_[d], pieces_, read(d)[Gas::primitive],
                  between_[d][Gas::gradient[d]]);
    for (std::size_t d = 0; d < 3; ++d)
      ctx_.launch(find_fluxes_[d], pieces_, read(d)[Gas::primitive],
                  read(d)[Gas::gradient[(d + 1) % 3]], read(d)[Gas::gradient[(d + 2) % 3]],
                  faces_[d][Gas::flux[d]]);
    ctx_.launch(advance_, pieces_, read(0)[Gas::flux[0]], read(1)[Gas::flux[1]],
                read(2)[Gas::flux[2]], inner_[Gas::conserved], inner_[Gas::change], totals, stage);
  }

  // What a difference in direction d may look at. Pieces are cut along x.
  [[nodiscard]] const Partition<3>& read(std::size_t d) const { return d == 0 ? around_ : own_; }

  Context& ctx_;
  const Fidelity fidelity_;
  const Coord pieces_;
  const Task<tasks::Start> start_;
  const Task<tasks::Measure> measure_;
  const Task<tasks::FindPrimitives> find_primitives_;
  const std::array<Task<tasks::Mirror>, 3> mirror_;
  const std::array<Task<tasks::FindGradients>, 3> find_gradients_;
  const std::array<Task<tasks::FindFluxes>, 3> find_fluxes_;
  const Task<tasks::Advance> advance_;
  Region<3> grid_;
  Partition<3> own_;     // all points of a sample in one piece each
  Partition<3> inner_;   // without ghost points
  Partition<3> around_;  // a point further along x
  std::array<Partition<3>, 3>
      between_;  // of which gradients are formed: without the ghost points of a direction
  std::array<Partition<3>, 3> faces_;  // the points behind faces
};

}  // namespace

Outcome run_parallel(Context& ctx, const Setup& setup, apps::Progress& progress,
                     const States* expected) {
  const Ensemble high(ctx, "high", setup.high, &progress);
  std::optional<Ensemble> low;
  if (setup.low.samples > 0) low.emplace(ctx, "low", setup.low, nullptr);
  const auto high_before = high.measure();
  const auto low_before = low ? low->measure() : high_before;

  const Trace one_step{"step"};
  const auto step = [&] {
    high.step();
    if (low) low->step();
  };
  const auto run = [&](int steps) {
    for (int t = 0; t < steps; ++t) {
      if (setup.trace) ctx.trace(one_step, step);
      else step();
    }
    ctx.fence();
  };
  run(setup.warm_up);
  const apps::Timer timer;
  run(setup.steps);

  Outcome outcome;
  outcome.seconds = timer.seconds();
  outcome.drift = drift(high_before.get(), high.measure().get());
  if (low)
    outcome.drift = apps::larger(outcome.drift, drift(low_before.get(), low->measure().get()));
  if (expected != nullptr)
    outcome.identical = high.equals(expected->high) && (!low || low->equals(expected->low));
  return outcome;
}

}  // namespace maestro
