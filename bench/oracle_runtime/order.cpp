#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "autotrace/applications.hpp"
#include "circuit/parallel.hpp"
#include "oracle_runtime/measure.hpp"
#include "support/forked.hpp"
#include "support/options.hpp"
#include "support/rounds.hpp"

namespace refrain::bench {

namespace {

constexpr double most_of_uneven = 0.85;  ///< of the time with `fifo`
constexpr double most_of_others = 1.02;
constexpr int threads = 2;

/// Pieces of sizes 4:1:1:1:1, so many of each, the smallest launched first.
Application uneven_circuit(const char* name, int of_each, bool quick) {
  constexpr std::int64_t wires = 1600;
  const Course course{30, quick ? 30 : 120, false};
  return {name, "large", wires, 6, course, [of_each](Context& context, const Course& chosen) {
            circuit::Setup setup;
            setup.pieces = Coord{5} * of_each;
            setup.sizes = {{1, 1, 1, 1, 4}, 5};
            setup.wires = wires;
            setup.nodes = wires / 4;
            setup.warm_up = chosen.warm_up;
            setup.steps = chosen.iterations;
            apps::Progress progress("circuit", setup.warm_up + setup.steps);
            const circuit::Outcome outcome = circuit::run_parallel(context, setup, progress);
            if (outcome.imbalance > circuit::largest_imbalance)
              throw std::runtime_error("the check of the uneven circuit failed");
            return outcome.seconds;
          }};
}

double seconds(const Application& application, refrain::Options::Order order) {
  refrain::Options options;
  options.workers = threads - 1;
  options.order = order;
  return forked([&] {
           double timed = 0;
           Runtime runtime(options);
           runtime.run(
               [&](Context& context) { timed = application.run(context, application.course); });
           return std::vector<double>{timed};
         })
      .at(0);
}

void measure(const Options& options, Records& records, const Application& application,
             double most_of_fifo) {
  using Order = refrain::Options::Order;
  std::vector<Contestant> contestants = {
      {"refrain", "local", [&] { return seconds(application, Order::local); }},
      {"refrain", "fifo", [&] { return seconds(application, Order::fifo); }},
      {"refrain", "path", [&] { return seconds(application, Order::path); }}};
  run_rounds(contestants, options.reps);
  std::printf("\norder: %s, %s tasks (%lld): iterations per second, median (min - max)\n",
              application.name.c_str(), application.grain.c_str(),
              static_cast<long long>(application.size));
  const auto add = [&](const std::string& variant, const char* metric, const char* unit,
                       const Spread& value) {
    records.add({"order_" + application.name, "refrain", variant, threads, application.size, metric,
                 unit, value});
  };
  for (const Contestant& c : contestants) {
    std::vector<double> rates;
    rates.reserve(c.samples.size());
    for (const double sample : c.samples) rates.push_back(application.course.iterations / sample);
    const Spread s = spread(rates);
    std::printf("  %-10s %10.1f  (%.1f - %.1f)\n", c.variant.c_str(), s.median, s.min, s.max);
    add(c.variant, "iterations_per_s", "1/s", s);
  }
  const auto compare = [&](const Contestant& other, const char* metric, double goal) {
    const PairedRatio ratio = paired_ratio(contestants.back().samples, other.samples);
    std::printf("  time, path / %-5s %.3f  (%s: %.3f - %.3f)  goal %.2f  %s\n",
                other.variant.c_str(), ratio.median, ratio.level(), ratio.low, ratio.high, goal,
                verdict(ratio.low <= goal));
    add("path", metric, "x", {ratio.median, ratio.low, ratio.high});
  };
  compare(contestants[0], "to_local", most_of_others);
  compare(contestants[1], "to_fifo", most_of_fifo);
  std::fflush(stdout);
}

}  // namespace

void measure_order(const Options& options, Records& records) {
  if (options.wants("uneven")) {
    measure(options, records, uneven_circuit("uneven", threads, options.quick), most_of_uneven);
    measure(options, records, uneven_circuit("uneven_five", 1, options.quick), most_of_uneven);
  }
  for (const Application& application : applications(options.quick))
    if (options.wants(application.name) && (application.grain != "large" || options.all))
      measure(options, records, application, most_of_others);
}

}  // namespace refrain::bench
