// Logistic regression: command line and report. See README.md.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "../common/array_run.hpp"
#include "../common/picture.hpp"
#include "check.hpp"
#include "regression.hpp"

namespace {

using namespace logistic;

struct CommandLine {
  Coord n = 100000;
  Coord features = 32;
  double rate = 1.0;
  std::int64_t check_every = 0;
  apps::ArrayRun run{.iterations = 1000, .warm_up = 100};
};

/// Of the samples that are said to be 1 with a probability of about p, what share is it?
void draw(const CommandLine& line, const std::vector<double>& said, const std::vector<double>& y) {
  constexpr std::size_t kBins = 20;
  std::vector<double> ones(kBins), samples(kBins);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto bin = std::min(kBins - 1, static_cast<std::size_t>(said[i] * kBins));
    ones[bin] += y[i];
    samples[bin] += 1;
  }
  apps::Curve ideal{"as many as said", {0, 1}, {0, 1}}, seen{"samples", {}, {}};
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    seen.x.push_back((static_cast<double>(bin) + 0.5) / kBins);
    seen.y.push_back(ones[bin] / samples[bin]);
  }
  apps::write_picture(line.run.picture, {.title = "how reliable the probabilities are",
                                         .curves = {seen, ideal},
                                         .x_name = "probability said",
                                         .y_name = "share of ones"});
}

bool run(const CommandLine& line, apps::Runner& runner) {
  const apps::ArrayRun& r = line.run;
  const std::int64_t steps = r.warm_up + r.iterations;
  std::printf("logistic-regression: %lld samples of %lld features, %lld iterations after %lld\n",
              static_cast<long long>(line.n), static_cast<long long>(line.features),
              static_cast<long long>(r.iterations), static_cast<long long>(r.warm_up));
  std::fflush(stdout);
  const auto program = [&](refrain::Context& ctx, apps::Progress&) {
    Session np(ctx, r.settings());
    Regression regression(np, line.n, line.features, line.rate);
    double seen = -1;
    const double seconds = apps::time_steps(np, r, [&, i = 0]() mutable {
      regression.iterate();
      if (line.check_every > 0 && ++i % line.check_every == 0)
        seen = regression.loss().item<double>();
    });
    apps::print_speed(seconds, r.iterations, line.n * line.features, runner.options());
    if (seen >= 0) std::printf("  the last look saw a loss of %.6g\n", seen);
    Result result;
    result.weights = regression.weights.to_vector<double>();
    result.loss = regression.loss().item<double>();
    result.rate = line.rate;
    result.iterations = steps;
    if (!r.no_check) result.X = regression.X.to_vector<double>();
    if (!r.no_check || !r.picture.empty()) result.y = regression.y.to_vector<double>();
    if (!r.picture.empty()) draw(line, regression.probabilities().to_vector<double>(), result.y);
    return result;
  };
  const Result result = runner.run("logistic-regression", steps, program);
  double sum = 0;
  for (const double w : result.weights) sum += w;
  std::printf("  loss %.12g, sum of weights %.12g\n", result.loss, sum);
  apps::print_bits({result.weights, {&result.loss, 1}});
  return r.no_check || check(result);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Logistic regression by gradient descent", "logistic-regression"};
  CommandLine line;
  app.add_option("--n", line.n, "samples")
      ->check(CLI::Range(Coord{1}, Coord{1} << 26))
      ->capture_default_str();
  app.add_option("--features", line.features, "of a sample, the first being 1")
      ->check(CLI::Range(Coord{1}, Coord{1} << 10))
      ->capture_default_str();
  app.add_option("--rate", line.rate, "how far a step goes along the gradient")
      ->check(CLI::Range(0.0, 2.0))
      ->capture_default_str();
  app.add_option("--check-every", line.check_every,
                 "look at the loss after each so many iterations")
      ->check(apps::at_least_one());
  line.run.add_flags(app);
  return apps::run_program(app, argc, argv,
                           [&](apps::Runner& runner) { return run(line, runner); });
}
