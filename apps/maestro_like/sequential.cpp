#include "sequential.hpp"

#include <utility>

#include "../common/checks.hpp"
#include "../common/progress.hpp"
#include "physics.hpp"

namespace maestro {

namespace {

struct Sample {
  std::vector<Conserved> conserved, change, flux[3];
  std::vector<Primitive> primitive;
  std::vector<Gradient> gradient[3];
};

// The samples of one fidelity.
class Ensemble {
 public:
  explicit Ensemble(const Fidelity& f)
      : box_(f.sample(0)), h_(1.0 / static_cast<double>(f.n)), inner_(slab({f.n, 1, 1}, 0).inner) {
    for (Coord s = 0; s < f.samples; ++s) {
      samples_.push_back(make_sample());
      start(inner_, view(samples_.back().conserved), box_, s);
    }
  }

  [[nodiscard]] Totals measure() const {
    Totals totals{};
    for (const Sample& sample : samples_)
      totals.add(maestro::measure(inner_, view(sample.conserved)));
    return totals;
  }

  void step() {
    const double dt = time_step(measure(), h_);
    for (const Stage& stage : stages)
      for (Sample& sample : samples_) advance(sample, stage, dt);
  }

  [[nodiscard]] State state() && {
    State state;
    for (Sample& sample : samples_) state.push_back(std::move(sample.conserved));
    return state;
  }

 private:
  [[nodiscard]] Sample make_sample() const {
    const std::size_t points = box_.volume();
    Sample sample;
    for (auto* values :
         {&sample.conserved, &sample.change, &sample.flux[0], &sample.flux[1], &sample.flux[2]})
      values->resize(points);
    sample.primitive.resize(points);
    for (auto& gradient : sample.gradient) gradient.resize(points);
    return sample;
  }

  template <class T>
  [[nodiscard]] View<T> view(std::vector<T>& values) const {
    return {values.data(), box_.lo, {edge() * edge(), edge(), 1}};
  }
  template <class T>
  [[nodiscard]] View<const T> view(const std::vector<T>& values) const {
    return {values.data(), box_.lo, {edge() * edge(), edge(), 1}};
  }
  [[nodiscard]] Coord edge() const { return box_.hi[1] + 1; }

  void advance(Sample& sample, const Stage& stage, double dt) const {
    const auto primitive = view(sample.primitive);
    find_primitives(inner_, view(sample.conserved), primitive);
    for (int d = 0; d < 3; ++d) mirror(d, box_, primitive, box_);
    for (int d = 0; d < 3; ++d) {
      Rect3 between = box_;
      between.lo[d] += 1, between.hi[d] -= 1;
      find_gradients(d, between, primitive, view(sample.gradient[d]), h_);
    }
    for (int d = 0; d < 3; ++d) {
      Rect3 faces = inner_;
      faces.hi[d] += 1;
      find_fluxes(d, faces, primitive, view(sample.gradient[(d + 1) % 3]),
                  view(sample.gradient[(d + 2) % 3]), view(sample.flux[d]), h_);
    }
    maestro::advance(inner_, view(sample.flux[0]), view(sample.flux[1]), view(sample.flux[2]),
                     view(sample.conserved), view(sample.change), stage, dt, h_);
  }

  const Rect3 box_;
  const double h_;  // the distance of points
  const Rect3 inner_;
  std::vector<Sample> samples_;
};

}  // namespace

Outcome run_sequential(const Setup& setup, States* states) {
  Ensemble high(setup.high), low(setup.low);
  const Totals high_before = high.measure(), low_before = low.measure();
  const int steps = setup.warm_up + setup.steps;
  apps::Progress progress("maestro-like, sequential", steps);
  apps::Timer timer;
  for (int t = 0; t < steps; ++t) {
    if (t == setup.warm_up) timer = apps::Timer();
    high.step();
    if (setup.low.samples > 0) low.step();
    progress.step();
  }
  Outcome outcome;
  outcome.seconds = timer.seconds();
  outcome.drift = drift(high_before, high.measure());
  if (setup.low.samples > 0)
    outcome.drift = apps::larger(outcome.drift, drift(low_before, low.measure()));
  if (states != nullptr) *states = {std::move(high).state(), std::move(low).state()};
  return outcome;
}

}  // namespace maestro
