// PENNANT beside its twin with OpenMP, each in a process of its own, 2 threads, repetition by repetition in turn: 540 x 540
// zones and a mesh of random polygons of about that size, cut into chunks of 512, 4,096 and 32,768 sides, and 45 x 45
// zones. The program on Refrain marks a cycle as a trace. Both wait in each cycle for the time step. Bars, each met if the
// 95% interval of the pairs reaches it:
//   cycles      from the second on: speed against the twin, 0.9 for chunks of 512, 0.97 for larger ones, 0.85 for 45 x 45
//   first       what the first cycle takes more than the twin's: the time of at most three of the twin's later cycles
//   chunks      the twin's time with chunks of 512 against 4,096: at most 1.1 times the reference's 1.45 s : 1.41 s

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/options.hpp"
#include "support/peer_process.hpp"
#include "support/records.hpp"
#include "support/rounds.hpp"

namespace {

using namespace refrain::bench;

constexpr int threads = 2;

struct Case {
  const char* mesh;
  int kind, zones, chunk;
  int cycles;
  double goal;
};

constexpr Case cases[] = {{"540x540", 0, 540, 512, 30, 0.9},    {"540x540", 0, 540, 4096, 30, 0.97},
                          {"540x540", 0, 540, 32768, 30, 0.97}, {"random", 1, 540, 512, 30, 0.9},
                          {"random", 1, 540, 4096, 30, 0.97},   {"random", 1, 540, 32768, 30, 0.97},
                          {"45x45", 0, 45, 512, 3000, 0.85}};

class Side {
 public:
  Side(const std::string& system, const Case& c, const Options& options)
      : peer_(options.peers + "/peer_pennant_" + system, {std::to_string(threads), shape_of(c)}) {}

  /// ns per cycle from the second on.
  double run() {
    const double ns = peer_.ask("run=1");
    first_.push_back(peer_.ask("first=1"));
    return ns;
  }
  /// ns of the first cycle of each run; the warm-up is not among them.
  [[nodiscard]] std::vector<double> first() const { return {first_.begin() + 1, first_.end()}; }

 private:
  static std::string shape_of(const Case& c) {
    return "mesh=" + std::to_string(c.kind) + " x=" + std::to_string(c.zones) +
           " y=" + std::to_string(c.zones) + " chunk=" + std::to_string(c.chunk) +
           " cycles=" + std::to_string(c.cycles);
  }

  Peer peer_;
  std::vector<double> first_;
};

class Pennant {
 public:
  Pennant(const Options& options, Records& records) : options_(options), records_(records) {}

  void compare(const Case& c) {
    Side ours("refrain", c, options_), twin("openmp", c, options_);
    std::vector<Contestant> sides{{"refrain", c.mesh, [&] { return ours.run(); }},
                                  {"openmp", c.mesh, [&] { return twin.run(); }}};
    run_rounds(sides, options_.reps);
    std::printf("\n%s, chunks of %d sides: cycles per second, median (least - most)\n", c.mesh,
                c.chunk);
    for (const Contestant& side : sides) {
      if (!side.finished()) return;
      std::vector<double> rate;
      rate.reserve(side.samples.size());
      for (const double ns : side.samples) rate.push_back(1e9 / ns);
      const Spread s = spread(rate);
      std::printf("  %-8s %9.1f  (%.1f - %.1f)\n", side.system.c_str(), s.median, s.min, s.max);
      records_.add({"pennant", side.system, c.mesh, threads, c.chunk, "cycles_per_s", "1/s", s});
    }
    const PairedRatio speed = paired_ratio(sides[1].samples, sides[0].samples);
    std::printf("  speed against the twin %.3f (%s: %.3f - %.3f)  bar %.2f  %s\n", speed.median,
                speed.level(), speed.low, speed.high, c.goal, verdict(speed.high >= c.goal));
    add(c, "speed_to_openmp", "x", {speed.median, speed.low, speed.high});
    first_cycle(c, ours.first(), twin.first(), sides[1].samples);
    twin_[{c.mesh, c.chunk}] = sides[1].samples;
  }

  // The reference takes 1.45 s with chunks of 512 and 1.41 s with 4,096.
  void compare_chunks(const std::string& mesh) {
    const auto small = twin_.find({mesh, 512}), large = twin_.find({mesh, 4096});
    if (small == twin_.end() || large == twin_.end()) return;
    const double ratio = spread(small->second).median / spread(large->second).median;
    const double goal = 1.1 * 1.45 / 1.41;
    std::printf("\n%s: the twin's time with chunks of 512 against 4096 %.3f  bar %.3f  %s\n",
                mesh.c_str(), ratio, goal, verdict(ratio <= goal));
  }

 private:
  void first_cycle(const Case& c, const std::vector<double>& ours, const std::vector<double>& twin,
                   const std::vector<double>& later) {
    std::vector<double> more;
    more.reserve(ours.size());
    for (std::size_t i = 0; i < ours.size(); ++i) more.push_back((ours[i] - twin[i]) / later[i]);
    const Spread s = spread(more);
    // The small one has cycles of less than a millisecond, and no bar.
    const bool judged = c.zones >= 100;
    std::printf("  the first cycle takes %.2f cycles of the twin more (%.2f - %.2f)%s%s\n",
                s.median, s.min, s.max, judged ? "  bar 3  " : "",
                judged ? verdict(s.median <= 3) : "");
    add(c, "first_cycle_extra", "cycles", s);
  }
  void add(const Case& c, const char* metric, const char* unit, const Spread& s) {
    records_.add({"pennant", "refrain", c.mesh, threads, c.chunk, metric, unit, s});
  }

  const Options& options_;
  Records& records_;
  std::map<std::pair<std::string, int>, std::vector<double>> twin_;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv, "PENNANT beside its OpenMP twin.", 7, 2);
  Records records;
  Pennant pennant(options, records);
  try {
    for (const Case& c : cases) pennant.compare(c);
    pennant.compare_chunks("540x540");
    pennant.compare_chunks("random");
  } catch (const Peer::Lost& lost) { std::printf("left out: %s\n", lost.what()); }
  records.write(options.out);
  return 0;
}
