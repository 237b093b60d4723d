#include "oracle/recording.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "oracle/program_events.hpp"
#include "oracle/reduction.hpp"
#include "oracle/timed_reduction.hpp"
#include "support/clock.hpp"
#include "support/options.hpp"

namespace refrain::bench {

namespace {

using oracle::Reduction;

constexpr double goal_ns = 60, goal_bytes_per_symbol = 64, goal_bytes = 1 << 20;
/// A grammar is large enough for what it costs at least not to count.
constexpr std::size_t many_symbols = 100;

Spread once(double value) { return {value, value, value}; }

double ns_to_add(Reduction& reduction, std::span<const std::uint32_t> events) {
  const std::int64_t start = now_ns();
  for (const std::uint32_t event : events) reduction.add(event);
  return double(now_ns() - start);
}

struct Recorded {
  Spread ns, ns_at_end;  ///< for an event, of all and of the last tenth
  std::size_t rules = 0, symbols = 0, bytes = 0;
};

Recorded record(std::span<const std::uint32_t> events, int reps) {
  std::vector<double> all, end;
  Recorded recorded;
  const std::size_t tenth = events.size() / 10;
  for (int i = 0; i < reps; ++i) {
    Reduction reduction;
    const double first = ns_to_add(reduction, events.first(events.size() - tenth));
    const double last = ns_to_add(reduction, events.last(tenth));
    all.push_back((first + last) / double(events.size()));
    end.push_back(last / double(tenth));
    recorded.rules = reduction.rules();
    recorded.symbols = reduction.symbols();
    recorded.bytes = reduction.bytes();
  }
  recorded.ns = spread(all);
  recorded.ns_at_end = spread(end);
  return recorded;
}

double bytes_per_symbol(const Recorded& recorded) {
  return double(recorded.bytes) / double(recorded.symbols);
}

/// Of several measurements.
class Slowest {
 public:
  void add(const std::string& name, std::size_t size, double ns) {
    if (ns <= ns_) return;
    ns_ = ns;
    name_ = name;
    size_ = size;
  }
  void print(const char* which) const {
    std::printf("  the slowest %s: %.1f ns (%s, %.0e events)  goal %.0f  %s\n", which, ns_,
                name_.c_str(), double(size_), goal_ns, verdict(ns_ <= goal_ns));
  }

 private:
  double ns_ = 0;
  std::string name_;
  std::size_t size_ = 0;
};

void add(Records& records, const std::string& stream, std::size_t size, const Recorded& recorded) {
  const auto add = [&](const char* metric, const char* unit, const Spread& value) {
    records.add(
        {"oracle_recording", "refrain", stream, 1, std::int64_t(size), metric, unit, value});
  };
  add("ns_per_event", "ns", recorded.ns);
  add("ns_per_event_at_end", "ns", recorded.ns_at_end);
  add("rules", "", once(double(recorded.rules)));
  add("symbols", "", once(double(recorded.symbols)));
  add("bytes_per_symbol", "B", once(bytes_per_symbol(recorded)));
}

}  // namespace

void measure_recording(const Options& options, Records& records) {
  std::vector<std::size_t> sizes{10'000, 100'000, 1'000'000};
  if (!options.quick) sizes.push_back(10'000'000);
  std::printf(
      "\nRecording: ns for an event of streams of so many (median of %d; of the last tenth), and "
      "the "
      "grammar of the\nlongest.\n  %-12s",
      options.reps, "stream");
  for (const std::size_t size : sizes) std::printf("  %13.0e", double(size));
  std::printf("  %7s %8s %12s\n", "rules", "symbols", "bytes/symbol");

  Slowest settled, changing;
  double most_bytes = 0;
  for (const std::string& name : program_names()) {
    const Events events = program_events(name, sizes.back());
    std::printf("  %-12s", name.c_str());
    Recorded recorded;
    for (const std::size_t size : sizes) {
      recorded = record(std::span(events).first(size), options.reps);
      std::printf("  %5.1f (%5.1f)", recorded.ns.median, recorded.ns_at_end.median);
      std::fflush(stdout);
      add(records, name, size, recorded);
      (keeps_changing(name) ? changing : settled).add(name, size, recorded.ns.median);
      if (recorded.symbols >= many_symbols)
        most_bytes = std::max(most_bytes, bytes_per_symbol(recorded));
    }
    std::printf("  %7zu %8zu %12.1f\n", recorded.rules, recorded.symbols,
                bytes_per_symbol(recorded));
  }
  settled.print("of programs that stay as they are");
  changing.print("of programs that keep changing");
  std::printf("  the most memory, of grammars of %zu symbols or more: %.1f bytes per symbol",
              many_symbols, most_bytes);
  std::printf("  goal under %.0f  %s\n", goal_bytes_per_symbol,
              verdict(most_bytes < goal_bytes_per_symbol));
}

void measure_memory(const Options& options, Records& records) {
  const std::uint64_t scale = options.quick ? 1000 : 1;
  const auto report = [&](const char* program, auto& reduction) {
    std::printf(
        "\nMemory after %.2e events, %s: %zu bytes, %zu rules, %zu symbols  goal %.0f  %s\n",
        double(reduction.events()), program, reduction.bytes(), reduction.rules(),
        reduction.symbols(), goal_bytes, verdict(double(reduction.bytes()) < goal_bytes));
    records.add({"oracle_memory", "refrain", program, 1, std::int64_t(reduction.events()), "bytes",
                 "B", once(double(reduction.bytes()))});
  };
  {
    Reduction reduction;
    const Events iteration = regular_iteration();
    while (reduction.events() < 1'000'000'000 / scale)
      for (const std::uint32_t event : iteration) reduction.add(event);
    report("a regular program", reduction);
  }
  {
    oracle::TimedReduction reduction;
    const Events iteration = regular_iteration();
    while (reduction.events() < 100'000'000 / scale)
      for (const std::uint32_t event : iteration) reduction.add(event, event + 1);
    report("a regular program with time stamps", reduction);
  }
  {
    Reduction reduction;
    while (reduction.events() < (std::uint64_t{1} << 32) / scale + 1) reduction.add(0);
    report("one event over and over", reduction);
    const bool exact = reduction.grammar().length(0) == reduction.events();
    std::printf("  its grammar has as many: %s\n", exact ? "yes" : "no");
  }
}

}  // namespace refrain::bench
