// Does the cost of a task grow with the size of the program around it? Along four axes, one at a time,
// the others at their base: the number of regions (10^2 to 10^5), pieces per partition, fields,
// and tasks in flight.
//   instructions_per_task  callgrind's count over a steady stretch of launches, one thread; the bar is
//                          that sizes differ by at most 1.1x
//   ns_per_task            one thread, beside `ns_per_step`, a bare walk (one random load per 64 bytes)
//                          over as many bytes as the state of the program has resident; the bar is that
//                          no size is slower than the smallest by a larger factor than the walk, with
//                          the same allowance of 1.1x
//   bytes_per_task         peak resident memory with 10^5 parked tasks against none; at most 1 KiB
//
// The programs are those of peer_growth_refrain (peers/growth_refrain.cpp).

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "support/callgrind.hpp"
#include "support/memory.hpp"
#include "support/options.hpp"
#include "support/peer_process.hpp"
#include "support/records.hpp"

namespace {

using namespace refrain::bench;

constexpr double allowance = 1.1;
constexpr double bytes_goal = 1024;

using Shape = std::map<std::string, long>;

struct Axis {
  std::string name;
  std::vector<long> sizes;
};

/// What does not grow.
const Shape base{{"regions", 16}, {"pieces", 0}, {"fields", 1}, {"in_flight", 0}};

std::vector<Axis> axes(bool quick) {
  if (quick) {
    return {{"regions", {100, 1000, 10000}},
            {"pieces", {64, 4096}},
            {"fields", {1, 16}},
            {"in_flight", {100, 10000}}};
  }
  return {{"regions", {100, 1000, 10000, 100000}},
          {"pieces", {64, 512, 4096, 32768}},
          {"fields", {1, 4, 16, 64}},
          {"in_flight", {100, 1000, 10000, 100000}}};
}

std::string shape_of(const Axis& axis, long size) {
  Shape shape = base;
  shape[axis.name] = size;
  std::string line;
  for (const auto& [key, value] : shape) line += key + "=" + std::to_string(value) + " ";
  return line;
}

/// Enough that everything is met twice, and a whole number of rounds.
long tasks_for(long size, long at_least) {
  return size * std::max(2L, (at_least + size - 1) / size);
}

Spread once(double value) { return {value, value, value}; }

/// The factor by which a series grew from its first entry to its largest.
double growth(const std::vector<double>& series) {
  return *std::max_element(series.begin(), series.end()) / series.front();
}

/// The factor between its smallest and its largest entry.
double range(const std::vector<double>& series) {
  const auto [low, high] = std::minmax_element(series.begin(), series.end());
  return *high / *low;
}

class Growth {
 public:
  Growth(const Options& options, Records& records)
      : options_(options), records_(records), program_(options.peers + "/peer_growth_refrain") {}

  void measure(const Axis& axis) {
    std::vector<double> instructions;
    std::vector<double> times;
    std::vector<double> walks;
    for (long size : axis.sizes) {
      if (can_count_) count(axis, size, instructions);
      time(axis, size, times);
      walk(axis, size, walks);
    }
    if (!instructions.empty()) {
      const double differ = range(instructions);
      std::printf("  instructions differ by %.3fx  bar %.1f  %s\n", differ, allowance,
                  verdict(differ <= allowance));
    }
    const double grew = growth(times);
    const double walk_grew = growth(walks);
    std::printf("  time grew %.2fx, the walk %.2fx  %s\n", grew, walk_grew,
                verdict(grew <= allowance * walk_grew));
    std::printf("  at %ld a task takes as much longer as %.1f steps of the walk there\n",
                axis.sizes.back(), (times.back() - times.front()) / walks.back());
  }

  void measure_parked() {
    constexpr long parked = 100000;
    Peer peer(program_,
              {"2", "parked", "regions=16 pieces=0 fields=1 in_flight=" + std::to_string(parked)});
    const double bytes = peer.ask("");
    std::printf("\nmemory per task in flight: %.0f bytes  bar %.0f  %s\n", bytes, bytes_goal,
                verdict(bytes <= bytes_goal));
    records_.add(
        {"growth_in_flight", "refrain", "", 2, parked, "bytes_per_task", "B", once(bytes)});
  }

 private:
  void add(const Axis& axis, const char* system, long size, const char* metric, const char* unit,
           const Spread& value) {
    records_.add({"growth_" + axis.name, system, "", 1, size, metric, unit, value});
    std::printf("  %-10s %8ld  %-22s %10.1f\n", axis.name.c_str(), size, metric, value.median);
    std::fflush(stdout);
  }

  void count(const Axis& axis, long size, std::vector<double>& series) {
    const long tasks = tasks_for(size, 20000);
    const auto total = count_instructions(
        program_, {"1", "count", shape_of(axis, size) + "tasks=" + std::to_string(tasks)});
    if (!total) throw Peer::Lost("does not run under callgrind");
    series.push_back(static_cast<double>(*total) / static_cast<double>(tasks));
    add(axis, "refrain", size, "instructions_per_task", "", once(series.back()));
  }

  void time(const Axis& axis, long size, std::vector<double>& series) {
    Peer peer(program_, {"1", "time", shape_of(axis, size)});
    const std::string request = "tasks=" + std::to_string(tasks_for(size, 200000));
    std::vector<double> samples(static_cast<std::size_t>(options_.reps));
    for (double& sample : samples) sample = peer.ask(request);
    series.push_back(spread(samples).median);
    add(axis, "refrain", size, "ns_per_task", "ns", spread(samples));
  }

  void walk(const Axis& axis, long size, std::vector<double>& series) {
    Peer peer(program_, {"1", "bytes", shape_of(axis, size)});
    const double bytes = std::max(peer.ask(""), 65536.0);
    series.push_back(bare_walk_ns(static_cast<std::size_t>(bytes), 64, 3));
    add(axis, "refrain", size, "bytes_of_state", "B", once(bytes));
    add(axis, "walk", size, "ns_per_step", "ns", once(series.back()));
  }

  const Options& options_;
  Records& records_;
  std::string program_;
  bool can_count_ = can_count_instructions();
};

}  // namespace

int main(int argc, char** argv) {
  const Options options =
      parse_options(argc, argv, "Cost of a task against the size of the program.", 5, 1);
  Records records;
  if (!can_count_instructions()) std::printf("left out: instruction counts: needs valgrind\n");
  Growth growth(options, records);
  try {
    for (const Axis& axis : axes(options.quick)) {
      std::printf("\n%s\n", axis.name.c_str());
      growth.measure(axis);
    }
    growth.measure_parked();
  } catch (const Peer::Lost& lost) { std::printf("left out: refrain: %s\n", lost.what()); }
  records.write(options.out);
  return 0;
}
