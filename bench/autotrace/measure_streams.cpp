#include <malloc.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "autotrace/measure.hpp"
#include "autotrace/streams.hpp"
#include "runtime/runtime_impl.hpp"
#include "support/clock.hpp"
#include "support/memory.hpp"
#include "support/options.hpp"
#include "support/rounds.hpp"

namespace refrain::bench {

namespace {

constexpr double slower_goal = 1.1, mining_goal = 0.05;
constexpr std::int64_t body_ns = 10'000;

refrain::Options runtime_options(int threads, bool found) {
  refrain::Options options;
  options.workers = threads - 1;
  options.autotrace = found;
  return options;
}

/// With automatic tracing and without, each on a runtime of its own.
class Streams {
 public:
  Streams(const Options& options, int threads, std::int64_t body, Records& records)
      : options_(options), threads_(threads), body_(body), records_(records) {
    for (const bool found : {false, true})
      runtimes_.push_back(std::make_unique<Runtime>(runtime_options(threads, found)));
  }

  void measure(const AdversarialStream& stream) {
    // More than a history has, and twice the longest loop.
    const std::vector<std::uint32_t> tokens = tokens_of(stream, options_.quick ? 5'000 : 35'000);
    std::vector<double> shares;
    std::vector<Contestant> contestants;
    contestants.push_back({"refrain", "off", [&] { return ns_per_launch(*runtimes_[0], tokens); }});
    contestants.push_back({"refrain", "on", [&] {
                             const std::uint64_t before = mining_ns();
                             const double ns = ns_per_launch(*runtimes_[1], tokens);
                             const double all = ns * static_cast<double>(tokens.size()) * threads_;
                             shares.push_back(static_cast<double>(mining_ns() - before) / all);
                             return ns;
                           }});
    run_rounds(contestants, options_.reps);
    report(stream, contestants, spread(shares));
  }

 private:
  double ns_per_launch(Runtime& runtime, const std::vector<std::uint32_t>& tokens) const {
    double ns = 0;
    runtime.run([&](Context& context) {
      StreamProgram program(context, body_);
      const std::int64_t start = now_ns();
      program.launch(tokens);
      ns = static_cast<double>(now_ns() - start) / static_cast<double>(tokens.size());
    });
    return ns;
  }

  /// By workers; where there is none the launching thread mines, and nobody counts that.
  [[nodiscard]] std::uint64_t mining_ns() const {
    return runtimes_[1]->impl().executor().counters().background_ns;
  }

  void report(const AdversarialStream& stream, const std::vector<Contestant>& contestants,
              const Spread& share) {
    const bool bars = body_ > 0;
    const PairedRatio ratio = paired_ratio(contestants[1].samples, contestants[0].samples);
    std::printf("  %-16s %9.1f %9.1f   %.3f (%.3f - %.3f) %s", stream.name,
                spread(contestants[0].samples).median, spread(contestants[1].samples).median,
                ratio.median, ratio.low, ratio.high, bars ? verdict(ratio.low <= slower_goal) : "");
    for (const Contestant& c : contestants)
      add(stream, c.variant, "ns_per_launch", "ns", spread(c.samples));
    add(stream, "on", "to_off", "x", {ratio.median, ratio.low, ratio.high});
    if (threads_ > 1) {
      std::printf("   mining %.2f%%", 100 * share.median);
      if (!stream.repeats) std::printf(" %s", verdict(share.median <= mining_goal));
      add(stream, "on", "mining_share", "", share);
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  void add(const AdversarialStream& stream, const std::string& variant, const char* metric,
           const char* unit, const Spread& value) {
    records_.add({"autotrace_streams", stream.name, variant, threads_, body_, metric, unit, value});
  }

  const Options& options_;
  const int threads_;
  const std::int64_t body_;
  Records& records_;
  std::vector<std::unique_ptr<Runtime>> runtimes_;
};

/// By how many bytes memory grows per launch, once what is bounded has had time to fill.
double bytes_per_launch(const AdversarialStream& stream, bool found, std::size_t launches) {
  const std::vector<std::uint32_t> tokens = tokens_of(stream, 2 * launches);
  const std::span<const std::uint32_t> all(tokens);
  double bytes = 0;
  Runtime runtime(runtime_options(1, found));
  runtime.run([&](Context& context) {
    StreamProgram program(context, 0);
    program.launch(all.first(launches));
    malloc_trim(0);
    const auto before = static_cast<double>(resident_bytes());
    program.launch(all.last(launches));
    malloc_trim(0);
    bytes = static_cast<double>(resident_bytes()) - before;
  });
  return bytes / static_cast<double>(launches);
}

void measure_growth(const Options& options, Records& records) {
  std::printf("\nbytes by which memory grows per launch: off, on\n");
  for (const AdversarialStream& stream : adversarial_streams) {
    std::printf("  %-16s", stream.name);
    for (const bool found : {false, true}) {
      const double bytes = bytes_per_launch(stream, found, options.quick ? 20'000 : 100'000);
      std::printf(" %9.1f", bytes);
      records.add({"autotrace_streams", stream.name, found ? "on" : "off", 1, 0, "bytes_per_launch",
                   "bytes", Spread{bytes, bytes, bytes}});
    }
    std::printf("\n");
  }
}

}  // namespace

void measure_streams(const Options& options, Records& records) {
  if (!options.wants("streams")) return;
  for (const int threads : {2, 1}) {
    const std::int64_t body = threads == 2 ? body_ns : 0;
    std::printf("\n%d thread%s, bodies of %lld us: ns per launch off, on; on / off\n", threads,
                threads == 1 ? "" : "s", static_cast<long long>(body / 1000));
    Streams streams(options, threads, body, records);
    for (const AdversarialStream& stream : adversarial_streams) streams.measure(stream);
  }
  measure_growth(options, records);
}

}  // namespace refrain::bench
