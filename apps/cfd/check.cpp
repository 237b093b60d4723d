#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "../common/checks.hpp"

namespace cfd {

namespace {

using apps::larger;
using std::numbers::pi;

constexpr double rounding = 1e-11;  // of the fastest speed

double y_of(const Channel& channel, Coord row) { return channel.dy() * static_cast<double>(row); }

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = larger(most, std::abs(value));
  return most;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = larger(most, std::abs(a[i] - b[i]));
  return most;
}

/// Of a field and the same field half a channel further.
double distance_of_halves(const Channel& channel, const std::vector<double>& field) {
  const auto nx = static_cast<std::size_t>(channel.nx);
  double most = 0;
  for (std::size_t i = 0; i < field.size(); ++i)
    if (i % nx < nx / 2) most = larger(most, std::abs(field[i] - field[i + nx / 2]));
  return most;
}

/// Of rows that should have one value each, from these.
double distance_from_rows(const Channel& channel, const std::vector<double>& field,
                          const std::vector<double>& rows) {
  double most = 0;
  for (std::size_t i = 0; i < field.size(); ++i)
    most = larger(most, std::abs(field[i] - rows[i / static_cast<std::size_t>(channel.nx)]));
  return most;
}

}  // namespace

std::vector<double> poiseuille(const Channel& channel) {
  std::vector<double> u;
  for (Coord j = 0; j < channel.ny; ++j) {
    const double y = y_of(channel, j);
    u.push_back(channel.force / (2 * channel.nu) * y * (channel.height - y));
  }
  return u;
}

std::vector<double> from_rest(const Channel& channel, double time) {
  std::vector<double> u = poiseuille(channel);
  for (std::size_t j = 0; j < u.size(); ++j) {
    for (int mode = 1; mode < 400; mode += 2) {
      const double wave = mode * pi / channel.height;
      const double decay = std::exp(-channel.nu * wave * wave * time);
      u[j] -= 4 * channel.force / (channel.nu * channel.height * wave * wave * wave) * decay *
              std::sin(wave * y_of(channel, static_cast<Coord>(j)));
    }
  }
  return u;
}

std::vector<double> means_of_rows(const Channel& channel, const std::vector<double>& field) {
  std::vector<double> rows(static_cast<std::size_t>(channel.ny));
  for (std::size_t i = 0; i < field.size(); ++i)
    rows[i / static_cast<std::size_t>(channel.nx)] += field[i] / static_cast<double>(channel.nx);
  return rows;
}

bool check(const Channel& channel, const Outcome& outcome) {
  using apps::check_within;
  using apps::larger;
  const double fastest = channel.fastest();
  bool right = true;
  if (channel.swirl == 0) {
    const std::vector<double> rows = means_of_rows(channel, outcome.u);
    const std::vector<double> turned(rows.rbegin(), rows.rend());
    right &= check_within("how far u depends on x", distance_from_rows(channel, outcome.u, rows),
                          rounding * fastest);
    right &= check_within("how far u is unsymmetric", distance(rows, turned), rounding * fastest);
    right &= check_within("the largest |v|", largest(outcome.v), rounding * fastest);
    // The scheme is of first order in time and of second in y, and dt is at most 0.4 dy^2 / nu.
    const double time = static_cast<double>(outcome.steps) * channel.dt();
    right &= check_within("the distance from the flow that began at rest",
                          distance_from_rows(channel, outcome.u, from_rest(channel, time)),
                          0.05 * channel.force / channel.nu * channel.dy() * channel.dy());
  }
  if (outcome.converged) {
    // The mode that dies away last still changes the sum of u. What of it there is, by its share in that sum.
    const double rate = channel.nu * pi * pi / (channel.height * channel.height) * channel.dt();
    const double left = pi / 3 * fastest * std::abs(outcome.change) / rate;
    right &= check_within("the distance from Poiseuille's profile",
                          distance_from_rows(channel, outcome.u, poiseuille(channel)),
                          1.5 * left + rounding * fastest);
  }
  if (channel.swirl != 0) {
    const double most = larger(largest(outcome.u), largest(outcome.v));
    right &= check_within("the largest speed", most, fastest + std::abs(channel.swirl));
    if (channel.nx % 2 == 0)
      right &= check_within(
          "the difference of the channel's halves",
          larger(distance_of_halves(channel, outcome.u), distance_of_halves(channel, outcome.v)),
          rounding * fastest);
  }
  return right;
}

}  // namespace cfd
