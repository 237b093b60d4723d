// Does the cost of a task grow with the size of the program around it? Along four axes, one at a time,
// the others at their base: the number of regions (10^2 to 10^5), pieces per partition, fields,
// and tasks in flight.
//   instructions_per_task  callgrind's count over a steady stretch of launches; the bar is flat
//                          within 1.1x from the smallest to the largest size
//   ns_per_task            beside `ns_per_step`, a bare walk (one random load per 64 bytes) over as
//                          many bytes as the program's state is resident; the bar is that time grows
//                          from the smallest size by no larger a factor than the walk's
//   bytes_per_task         peak resident memory with 10^5 parked tasks against none; at most 1 KiB
//
// The program is peer_growth_refrain. It serves requests `regions= pieces= fields= in_flight= tasks=
// what=` (what: 0 ns per task, 1 resident bytes of the state, 2 bytes per parked task), and
// `peer_growth_refrain count REQUEST` runs a request once, collecting its steady stretch.

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

constexpr double flat = 1.1;
constexpr double bytes_goal = 1024;

struct Axis {
  std::string name;
  std::vector<long> sizes;
};

const std::map<std::string, long> base{
    {"regions", 100}, {"pieces", 16}, {"fields", 1}, {"in_flight", 1000}};

std::vector<Axis> axes(bool quick) {
  if (quick) return {{"regions", {100, 10000}}, {"pieces", {16, 1024}}, {"fields", {1, 16}}};
  return {{"regions", {100, 1000, 10000, 100000}},
          {"pieces", {16, 128, 1024, 8192}},
          {"fields", {1, 4, 16, 64}},
          {"in_flight", {100, 1000, 10000, 100000}}};
}

std::string request(const Axis& axis, long size, long tasks, int what) {
  std::string line;
  for (const auto& [key, value] : base) {
    line += key + "=" + std::to_string(key == axis.name ? size : value) + " ";
  }
  return line + "tasks=" + std::to_string(tasks) + " what=" + std::to_string(what);
}

/// Enough launches that every region and piece is met twice.
long tasks_for(long size) { return std::max<long>(20000, 2 * size); }

Spread once(double value) { return {value, value, value}; }

/// The factor by which a series grew from its first entry to its largest.
double factor(const std::vector<double>& series) {
  return *std::max_element(series.begin(), series.end()) / series.front();
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
      const long tasks = tasks_for(size);
      time(axis, size, tasks, times, walks);
      if (can_count_) count(axis, size, tasks, instructions);
    }
    if (!instructions.empty()) {
      const double grew = factor(instructions);
      std::printf("  instructions grew %.3fx  bar %.1f  %s\n", grew, flat,
                  grew <= flat ? "met" : "missed");
    }
    std::printf("  time grew %.2fx, the walk %.2fx  %s\n", factor(times), factor(walks),
                factor(times) <= factor(walks) ? "met" : "missed");
  }

  void measure_parked() {
    Peer peer(program_, {"2"});
    const double bytes = peer.ask(request({"in_flight", {}}, 100000, 100000, 2));
    std::printf("\nmemory per task in flight: %.0f bytes  bar %.0f  %s\n", bytes, bytes_goal,
                bytes <= bytes_goal ? "met" : "missed");
    records_.add(
        {"growth_in_flight", "refrain", "", 2, 100000, "bytes_per_task", "B", once(bytes)});
  }

 private:
  void add(const Axis& axis, const char* system, long size, const char* metric, const char* unit,
           const Spread& value) {
    records_.add({"growth_" + axis.name, system, "", 1, size, metric, unit, value});
    std::printf("  %-10s %8ld  %-22s %10.1f\n", axis.name.c_str(), size, metric, value.median);
    std::fflush(stdout);
  }

  void count(const Axis& axis, long size, long tasks, std::vector<double>& series) {
    const auto total = count_instructions(program_, {"count", request(axis, size, tasks, 0)});
    if (!total) throw Peer::Lost("does not run under callgrind");
    series.push_back(static_cast<double>(*total) / static_cast<double>(tasks));
    add(axis, "refrain", size, "instructions_per_task", "", once(series.back()));
  }

  void time(const Axis& axis, long size, long tasks, std::vector<double>& times,
            std::vector<double>& walks) {
    Peer peer(program_, {"1"});
    std::vector<double> samples;
    for (int i = 0; i < options_.reps; ++i) {
      samples.push_back(peer.ask(request(axis, size, 10 * tasks, 0)));
    }
    times.push_back(spread(samples).median);
    add(axis, "refrain", size, "ns_per_task", "ns", spread(samples));
    const double bytes = std::max(peer.ask(request(axis, size, tasks, 1)), 65536.0);
    walks.push_back(bare_walk_ns(static_cast<std::size_t>(bytes), 64, 3));
    add(axis, "walk", size, "ns_per_step", "ns", once(walks.back()));
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
