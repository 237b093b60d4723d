// What a launch costs the thread that makes it: blocks of 1,000 single launches, all of them issued
// before any of them may run (the one worker is parked, and the window is larger than a block), minus
// the same loop with an empty function in place of the launch. The tasks form 16 chains, as in
// Figure 9 of the dynamic tracing paper.
//   traced              the block is a trace, and the mapper's answers are remembered: the bar
//   traced-every_launch the same with a mapper that is asked at every launch
//   untraced            analysed, for comparison
//   found               a trace that is found, not marked: at most 50 ns more than traced
//   unrepeated, unrepeated-auto   the links in a random order, so that nothing repeats, without automatic tracing and
//                       with it: at most 50 ns more
// A repetition is the median of some blocks, each of which follows the one before in the same chain of
// replays. The launch that parks the worker is the first of the trace, so that neither it nor
// beginning a replay is part of the time.

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/clock.hpp"
#include "support/gate.hpp"
#include "support/options.hpp"
#include "support/records.hpp"
#include "support/rounds.hpp"

namespace {

using namespace refrain;
using bench::Gate;

constexpr int launches = 1000;
constexpr int chains = 16;
constexpr double goal_ns = 60, most_added_ns = 50;

constexpr Field<double> value{"value"};
const Task link{"link", [](ReadWrite<double>) {}};

/// Agrees with the default rules, each time.
class AskedMapper final : public Mapper {
 public:
  [[nodiscard]] std::string_view name() const override { return "asked"; }
  void map(const MappingInput&, MappingOutput&) override {}
  [[nodiscard]] bool every_launch() const override { return true; }
};

/// In place of a launch. Its arguments have to be made as if it used them.
template <class F>
[[gnu::noinline]] void launch_nothing(Context& context, const Task<F>& task,
                                      const RegionArgument<double, 1>& argument) {
  asm volatile("" : : "r"(&context), "r"(&task), "r"(&argument) : "memory");
}

struct Variant {
  const char* name;
  bool marked;
  bool every_launch = false;  ///< the mapper is asked
  bool found = false;         ///< automatic tracing is on
  bool random = false;        ///< nothing repeats
};
constexpr Variant variants[] = {
    {.name = "traced", .marked = true},
    {.name = "traced-every_launch", .marked = true, .every_launch = true},
    {.name = "untraced", .marked = false},
    {.name = "found", .marked = false, .found = true},
    {.name = "unrepeated", .marked = false, .random = true},
    {.name = "unrepeated-auto", .marked = false, .found = true, .random = true}};

class Blocks {
 public:
  Blocks(Context& context, const Variant& variant)
      : context_(context), traced_(variant.marked), random_(variant.random) {
    pieces_ = context.blocks(context.region(Rect1{0, chains - 1}, value), chains);
    for (int i = 0; i < launches; ++i) parts_.push_back(pieces_(i % chains));
  }

  /// Nanoseconds per launch, without those of the empty loop; nothing when the worker was not parked.
  std::optional<double> measure() {
    if (random_) {
      std::uniform_int_distribution<Coord> any(0, chains - 1);
      for (Region<1>& part : parts_) part = pieces_(any(numbers_));
    }
    gate_.close();
    // Outside the trace, which goes on past it: in a replay the launching thread might run it itself.
    context_.launch(hold_);
    const bool parked = gate_.wait_until_held();
    if (traced_) context_.begin_trace(block_);
    const std::int64_t start = bench::now_ns();
    for (const Region<1>& part : parts_) context_.launch(link, part[value]);
    const std::int64_t issued = bench::now_ns();
    for (const Region<1>& part : parts_) launch_nothing(context_, link, part[value]);
    const std::int64_t end = bench::now_ns();
    if (traced_) context_.end_trace(block_);
    gate_.open();
    context_.fence();
    if (!parked) return std::nullopt;
    return static_cast<double>((issued - start) - (end - issued)) / launches;
  }

 private:
  Context& context_;
  const bool traced_, random_;
  const Trace block_{"block"};
  Gate gate_;
  const Task<std::function<void()>> hold_{"hold", [this] { gate_.pass(); }};
  Partition<1> pieces_;
  std::vector<Region<1>> parts_;
  std::mt19937_64 numbers_{1};
};

double median_block(Runtime& runtime, const Variant& variant, int blocks) {
  std::vector<double> samples;
  runtime.run([&](Context& context) {
    Blocks program(context, variant);
    // Plans, the recording, and slots of its replays; before one is found, histories are mined.
    const int warm = variant.found ? 64 : 4;
    for (int i = 0; i < warm; ++i) program.measure();
    // While the launching thread does best alone, workers nap, and it runs the gate's task itself.
    const auto enough = [&](int i) { return i >= (samples.empty() ? 100 * blocks : blocks); };
    for (int i = 0; !enough(i); ++i)
      if (const std::optional<double> ns = program.measure()) samples.push_back(*ns);
  });
  if (samples.empty()) throw std::runtime_error("the worker was never parked");
  return bench::spread(samples).median;
}

/// What automatic tracing adds to a launch, round by round.
void report_added(const std::vector<bench::Contestant>& contestants, const char* variant,
                  const char* without, bench::Records& records) {
  const bench::Contestant& with = *bench::find_finished(contestants, "refrain", variant);
  const bench::Contestant& base = *bench::find_finished(contestants, "refrain", without);
  std::vector<double> added;
  for (std::size_t i = 0; i < with.samples.size(); ++i)
    added.push_back(with.samples[i] - base.samples[i]);
  const bench::Spread s = bench::spread(added);
  std::printf("  %s adds %.1f  (%.1f - %.1f) to %s  goal %.0f  %s\n", variant, s.median, s.min,
              s.max, without, most_added_ns, bench::verdict(s.median <= most_added_ns));
  records.add({"issue_cost", "refrain", variant, 2, launches, "ns_added", "ns", s});
}

/// The share of calls that were replayed, for those who look for traces.
void report_replayed(const AutotraceCounters& counters, const char* variant,
                     bench::Records& records) {
  const auto calls = static_cast<double>(counters.analysed + counters.replayed);
  const double share = static_cast<double>(counters.replayed) / calls;
  std::printf("  %s: %.1f%% replayed, first blocks included\n", variant, 100 * share);
  records.add({"issue_cost", "refrain", variant, 2, launches, "share_replayed", "",
               bench::Spread{share, share, share}});
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::parse_options(
      argc, argv, "Cost of a launch to the thread that makes it, nothing running.", 15, 3);
  const int blocks = options.quick ? 20 : 100;
  std::vector<std::unique_ptr<Runtime>> runtimes;
  std::vector<bench::Contestant> contestants;
  for (const Variant& variant : variants) {
    Options runtime_options;
    runtime_options.workers = 1;
    runtime_options.autotrace = variant.found;
    Runtime& runtime = *runtimes.emplace_back(std::make_unique<Runtime>(runtime_options));
    if (variant.every_launch) runtime.set_mapper(std::make_unique<AskedMapper>());
    contestants.push_back({"refrain", variant.name, [&runtime, &variant, blocks] {
                             return median_block(runtime, variant, blocks);
                           }});
  }
  bench::run_rounds(contestants, options.reps);
  bench::Records records;
  std::printf("ns per launch, median (min - max)\n");
  for (const bench::Contestant& c : contestants) {
    const bench::Spread s = bench::spread(c.samples);
    std::printf("  %-20s %7.1f  (%.1f - %.1f)", c.variant.c_str(), s.median, s.min, s.max);
    if (c.variant == "traced")
      std::printf("  bar %.0f  %s", goal_ns, bench::verdict(s.median <= goal_ns));
    std::printf("\n");
    records.add({"issue_cost", c.system, c.variant, 2, launches, "ns_per_launch", "ns", s});
  }
  report_added(contestants, "found", "traced", records);
  report_added(contestants, "unrepeated-auto", "unrepeated", records);
  for (std::size_t i = 0; i < runtimes.size(); ++i)
    if (variants[i].found)
      report_replayed(runtimes[i]->counters().autotrace, variants[i].name, records);
  records.write(options.out);
  return 0;
}
