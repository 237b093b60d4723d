#include "sequential.hpp"

#include <algorithm>

#include "../common/progress.hpp"
#include "driver.hpp"
#include "physics.hpp"

namespace s3d {

namespace {

std::size_t at(Coord i) { return static_cast<std::size_t>(i); }

class Simulation {
 public:
  explicit Simulation(const Setup& setup)
      : setup_(setup), n_(setup.n), driver_(setup), quantities_(at(setup.quantities())) {
    for (int q = 0; q < setup.quantities(); ++q) {
      Quantity& quantity = quantities_[at(q)];
      for (Coord i = 0; i < n_; ++i)
        for (Coord j = 0; j < n_; ++j) quantity.value.push_back(first_value(setup, q, i, j));
      quantity.change.assign(at(n_ * n_), 0.0);
      quantity.rate.assign(at(n_ * n_), 0.0);
    }
  }

  void iterate(int t) {
    for (const Stage& stage : stages) advance(stage);
    Quantity& temperature = quantities_[0];
    if (setup_.hands_off(t)) driver_.take_over({temperature.value.data(), n_}, t);
    each_row([&](Coord at) {
      filter_row(temperature.rate.data() + at, temperature.value.data() + at, n_, n_ - 2);
    });
    each_row([&](Coord at) {
      std::copy_n(temperature.rate.data() + at, n_ - 2, temperature.value.data() + at);
    });
  }

  [[nodiscard]] State state() && {
    State state;
    for (Quantity& quantity : quantities_) state.push_back(std::move(quantity.value));
    return state;
  }

 private:
  struct Quantity {
    std::vector<double> value, change, rate;
  };

  // Calls f with the place of the first inner point of each inner row.
  template <class F>
  void each_row(const F& f) const {
    for (Coord i = 1; i < n_ - 1; ++i) f(i * n_ + 1);
  }

  void advance(const Stage& stage) {
    for (Quantity& q : quantities_)
      each_row([&](Coord at) { diffuse_row(q.rate.data() + at, q.value.data() + at, n_, n_ - 2); });
    Quantity& temperature = quantities_[0];
    for (int s = 1; s < setup_.species; ++s) {
      Quantity& from = quantities_[at(s)];
      Quantity& to = quantities_[at(s + 1)];
      each_row([&](Coord at) {
        react_row(from.rate.data() + at, to.rate.data() + at, temperature.rate.data() + at,
                  from.value.data() + at, temperature.value.data() + at, setup_, n_ - 2);
      });
    }
    for (Quantity& q : quantities_)
      each_row([&](Coord at) {
        advance_row(q.value.data() + at, q.change.data() + at, q.rate.data() + at, stage,
                    driver_.dt(), n_ - 2);
      });
  }

  const Setup& setup_;
  const Coord n_;
  Driver driver_;
  std::vector<Quantity> quantities_;
};

}  // namespace

Outcome run_sequential(const Setup& setup, State* result) {
  Simulation simulation(setup);
  apps::Progress progress("s3d-like, sequential", setup.warm_up + setup.iterations);
  apps::Timer timer;
  for (int t = 0; t < setup.warm_up + setup.iterations; ++t) {
    if (t == setup.warm_up) timer = apps::Timer();
    simulation.iterate(t);
    progress.step();
  }
  Outcome outcome;
  outcome.seconds = timer.seconds();
  State state = std::move(simulation).state();
  for (const double t : state[0]) note_temperature(outcome, t);
  if (result != nullptr) *result = std::move(state);
  return outcome;
}

}  // namespace s3d
