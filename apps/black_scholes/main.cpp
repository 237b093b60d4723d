// Black and Scholes' prices: command line and report. See README.md.

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../common/array_run.hpp"
#include "../common/picture.hpp"
#include "check.hpp"
#include "pricing.hpp"

namespace {

using namespace black_scholes;

struct CommandLine {
  Coord n = 1000000;
  apps::ArrayRun run{.iterations = 100, .warm_up = 10};
};

/// The price of a call over its spot, when it is due and a few times before.
void draw(Session& np, const std::string& path) {
  apps::CurvePicture picture{.title = "a call with a strike of 100, rate 3 %, volatility 30 %",
                             .curves = {},
                             .x_name = "spot",
                             .y_name = "price"};
  const Array spot = np.linspace(50.0, 150.0, 201);
  const auto x = spot.to_vector<double>();
  picture.curves.push_back({"when due", x, maximum(spot - 100.0, 0.0).to_vector<double>()});
  const auto constant = [&](double value) { return np.full({}, value); };
  for (const double years : {0.25, 1.0, 2.0}) {
    const Prices prices =
        price({spot, constant(100.0), constant(years), constant(0.03), constant(0.3)});
    char name[32];
    std::snprintf(name, sizeof name, "%g years before", years);
    picture.curves.push_back({name, x, prices.call.to_vector<double>()});
  }
  apps::write_picture(path, picture);
}

Result in_memory(const Portfolio& portfolio, std::int64_t scenarios) {
  const auto mean = [&](const Array& sum) { return (sum / scenarios).to_vector<double>(); };
  const Options& options = portfolio.options;
  return {options.spot.to_vector<double>(),
          options.strike.to_vector<double>(),
          options.time.to_vector<double>(),
          options.rate.to_vector<double>(),
          options.volatility.to_vector<double>(),
          mean(portfolio.sums.call),
          mean(portfolio.sums.put),
          scenarios};
}

bool run(const CommandLine& line, apps::Runner& runner) {
  const apps::ArrayRun& r = line.run;
  const std::int64_t steps = r.warm_up + r.iterations;
  std::printf("black-scholes: %lld options, %lld iterations after %lld\n",
              static_cast<long long>(line.n), static_cast<long long>(r.iterations),
              static_cast<long long>(r.warm_up));
  std::fflush(stdout);
  const auto program = [&](refrain::Context& ctx, apps::Progress&) {
    Session np(ctx, r.settings());
    Portfolio portfolio(np, line.n);
    const double seconds = apps::time_steps(np, r, [&] { portfolio.value(); });
    apps::print_speed(seconds, r.iterations, line.n, runner.options());
    const Prices& sums = portfolio.sums;
    const auto all = static_cast<double>(steps);
    std::printf("  mean call %.12g, mean put %.12g\n", mean(sums.call).item<double>() / all,
                mean(sums.put).item<double>() / all);
    if (!r.picture.empty()) draw(np, r.picture);
    return r.no_check ? Result{} : in_memory(portfolio, steps);
  };
  const Result result = runner.run("black-scholes", steps, program);
  if (r.no_check) return true;
  apps::print_bits({result.call, result.put});
  return check(result);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"European calls and puts by the formulas of Black and Scholes", "black-scholes"};
  CommandLine line;
  app.add_option("--n", line.n, "options, of each a call and a put")
      ->check(CLI::Range(Coord{1}, Coord{1} << 28))
      ->capture_default_str();
  line.run.add_flags(app);
  return apps::run_program(app, argc, argv,
                           [&](apps::Runner& runner) { return run(line, runner); });
}
