#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

#include "autotrace/measure.hpp"
#include "autotrace/streams.hpp"
#include "support/clock.hpp"
#include "support/options.hpp"
#include "support/rounds.hpp"

namespace refrain::bench {

namespace {

constexpr double slower_goal = 1.1;
/// Until the longest loop has been found, and then for so long.
constexpr std::size_t warm_up = 60'000, timed = 100'000;

double ns_per_launch(Runtime& runtime, std::uint32_t length) {
  std::vector<std::uint32_t> body(length);
  std::iota(body.begin(), body.end(), 0U);
  double ns = 0;
  runtime.run([&](Context& context) {
    StreamProgram program(context, 0);
    for (std::size_t calls = 0; calls < warm_up; calls += length) program.launch(body);
    std::size_t calls = 0;
    const std::int64_t start = now_ns();
    for (; calls < timed; calls += length) program.launch(body);
    ns = static_cast<double>(now_ns() - start) / static_cast<double>(calls);
  });
  return ns;
}

/// How many calls come before the steady state, on a fresh runtime; all of them if it is not reached.
double calls_before_steady(int threads, std::uint32_t length) {
  std::vector<std::uint32_t> body(length);
  std::iota(body.begin(), body.end(), 0U);
  refrain::Options options;
  options.workers = threads - 1;
  Runtime runtime(options);
  runtime.run([&](Context& context) {
    StreamProgram program(context, 0);
    for (int i = 0; i < 30; ++i) program.launch(body);
    for (int i = 0; i * length < 4 * 1000; ++i) program.launch(body);
  });
  const AutotraceCounters counters = runtime.counters().autotrace;
  return static_cast<double>(
      counters.before_steady.value_or(counters.analysed + counters.replayed));
}

void measure_warm_up(const Options& options, Records& records) {
  std::printf("\nloops of so many launches, empty bodies: calls before the steady state\n");
  for (const int threads : {1, 2})
    for (const std::uint32_t length : {50U, 300U, 1000U, 5000U}) {
      std::vector<double> samples(static_cast<std::size_t>(options.reps));
      for (double& sample : samples) sample = calls_before_steady(threads, length);
      const Spread calls = spread(samples);
      const double goal = std::max(10.0 * length, 500.0);
      std::printf("  %6u, %d thread%s  %8.0f  (%.0f - %.0f)  goal %.0f  %s\n", length, threads,
                  threads == 1 ? " " : "s", calls.median, calls.min, calls.max, goal,
                  verdict(calls.median <= goal));
      records.add({"autotrace_lengths", "refrain", "on", threads, length, "calls_before_steady", "",
                   calls});
    }
}

}  // namespace

void measure_lengths(const Options& options, Records& records) {
  if (!options.wants("lengths")) return;
  measure_warm_up(options, records);
  std::printf("\nloops of so many launches, 1 thread, empty bodies: ns per launch, off and on\n");
  std::vector<std::unique_ptr<Runtime>> runtimes;
  for (const bool found : {false, true}) {
    refrain::Options chosen;
    chosen.workers = 0;
    chosen.autotrace = found;
    runtimes.push_back(std::make_unique<Runtime>(chosen));
  }
  std::vector<Contestant> contestants;
  const std::vector<std::uint32_t> lengths{50, 500, 5000};
  for (const std::uint32_t length : lengths)
    for (const bool found : {false, true})
      contestants.push_back({std::to_string(length), found ? "on" : "off", [&, length, found] {
                               return ns_per_launch(*runtimes[found], length);
                             }});
  run_rounds(contestants, options.reps);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const Spread off = spread(contestants[2 * i].samples),
                 on = spread(contestants[2 * i + 1].samples);
    std::printf("  %6u  %8.1f  %8.1f\n", lengths[i], off.median, on.median);
    for (const bool found : {false, true})
      records.add({"autotrace_lengths", "refrain", found ? "on" : "off", 1, lengths[i],
                   "ns_per_launch", "ns", found ? on : off});
  }
  const PairedRatio ratio = paired_ratio(contestants.back().samples, contestants[3].samples);
  std::printf("  5000 / 500: %.3f (%s: %.3f - %.3f)  goal %.1f  %s\n", ratio.median, ratio.level(),
              ratio.low, ratio.high, slower_goal, verdict(ratio.low <= slower_goal));
  records.add({"autotrace_lengths",
               "refrain",
               "on",
               1,
               5000,
               "to_500",
               "x",
               {ratio.median, ratio.low, ratio.high}});
}

}  // namespace refrain::bench
