#pragma once
// The arithmetic of one row, shared by the parallel and the sequential program so that both compute the same
// bits. Distances are in units of the grid's, and so are the coefficients.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "setup.hpp"

namespace s3d {

inline constexpr double cold = 1.0;
inline constexpr double kernel = 3.0;  ///< the hot spot in the middle that lights the gas
inline constexpr double heat = 2.0;    ///< of burning all fuel
inline constexpr double diffusivity = 0.2;
inline constexpr double activation = 6.0;  ///< as a temperature
inline constexpr double frequency = 3.0;
inline constexpr double filtered =
    1.0 / 64;  ///< how much of a point's curvature the filter takes away

/// The maximum principle: what diffuses and burns is never colder than the coldest gas, nor hotter than what has
/// burnt where it was hottest. The scheme keeps that to its own error.
inline constexpr double hottest_possible = kernel + heat;
/// Has seen a temperature at the end. A NaN is hotter than all others.
inline void note_temperature(Outcome& outcome, double t) {
  outcome.coldest = std::min(outcome.coldest, t);
  outcome.hottest = std::max(outcome.hottest, t);
  if (std::isnan(t)) outcome.hottest = std::numeric_limits<double>::infinity();
}
inline bool keeps_bounds(const Outcome& outcome) {
  constexpr double error = 1e-6;
  return outcome.coldest >= cold - error && outcome.hottest <= hottest_possible + error;
}

/// How fast a species turns into the next one (Arrhenius).
inline double reaction_rate(double temperature) {
  return frequency * std::exp(-activation / temperature);
}

/// Quantity q at the beginning: a round hot spot in a cold mixture of the first species, the fuel.
inline double first_value(const Setup& setup, int q, Coord i, Coord j) {
  if (q > 0) return q == 1 ? 1.0 : 0.0;
  const double radius = static_cast<double>(setup.n) / 8.0;
  const double y = (static_cast<double>(i) - static_cast<double>(setup.n - 1) / 2) / radius;
  const double x = (static_cast<double>(j) - static_cast<double>(setup.n - 1) / 2) / radius;
  return cold + (kernel - cold) * std::max(0.0, 1.0 - (x * x + y * y));
}

/// The curvature at `value[j]`: the sum of its four neighbours less four times itself.
inline double curvature(const double* value, std::ptrdiff_t stride, std::ptrdiff_t j) {
  return (value[j - 1] + value[j + 1]) + (value[j - stride] + value[j + stride]) - 4.0 * value[j];
}

/// rate = what diffuses to each point.
inline void diffuse_row(double* __restrict rate, const double* __restrict value,
                        std::ptrdiff_t stride, std::ptrdiff_t count) {
  for (std::ptrdiff_t j = 0; j < count; ++j) rate[j] = diffusivity * curvature(value, stride, j);
}

/// A species turns into the next one and heats the gas; its rates are the mean over one unit of time,
/// in `substeps`, in which the point is on its own.
inline void react_row(double* __restrict from_rate, double* __restrict to_rate,
                      double* __restrict temperature_rate, const double* __restrict from,
                      const double* __restrict temperature, const Setup& setup,
                      std::ptrdiff_t count) {
  const double step = 1.0 / setup.substeps;
  const double released = heat / (setup.species - 1);
  for (std::ptrdiff_t j = 0; j < count; ++j) {
    double left = from[j];
    double burnt = 0.0;
    for (int s = 0; s < setup.substeps; ++s) {
      const double burns = step * reaction_rate(temperature[j] + released * burnt) * left;
      left -= burns;
      burnt += burns;
    }
    from_rate[j] -= burnt;
    to_rate[j] += burnt;
    temperature_rate[j] += released * burnt;
  }
}

inline void advance_row(double* __restrict value, double* __restrict change,
                        const double* __restrict rate, const Stage& stage, double dt,
                        std::ptrdiff_t count) {
  for (std::ptrdiff_t j = 0; j < count; ++j) {
    change[j] = stage.a * change[j] + dt * rate[j];
    value[j] += stage.b * change[j];
  }
}

inline void filter_row(double* __restrict smooth, const double* __restrict value,
                       std::ptrdiff_t stride, std::ptrdiff_t count) {
  for (std::ptrdiff_t j = 0; j < count; ++j)
    smooth[j] = value[j] + filtered * curvature(value, stride, j);
}

}  // namespace s3d
