#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

#include "autotrace/measure.hpp"
#include "autotrace/streams.hpp"
#include "support/clock.hpp"
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

}  // namespace

void measure_lengths(const Options& options, Records& records) {
  if (!options.wants("lengths")) return;
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
  std::printf("  5000 / 500: %.3f (95%%: %.3f - %.3f)  goal %.1f  %s\n", ratio.median, ratio.low,
              ratio.high, slower_goal, ratio.low <= slower_goal ? "met" : "missed");
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
