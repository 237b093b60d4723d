#include "statement.hpp"

#include <cstdio>
#include <vector>

#include "refrain/arrays.hpp"
#include "support/clock.hpp"
#include "support/forked.hpp"
#include "support/memory.hpp"
#include "support/options.hpp"
#include "support/rounds.hpp"

namespace refrain::bench {

namespace {

using arrays::Array;
using arrays::Session;
using arrays::Settings;

constexpr int kThreads = 2;
constexpr double kMostOver = 2.0;  // microseconds
constexpr double kMostMemory = 1.5;

/// Microseconds per statement of the loop, in a process of its own.
double statement_us(Coord n, int statements, bool fusion, bool each_launched) {
  return forked([=] {
    refrain::Options options;
    options.workers = kThreads - 1;
    Runtime runtime(options);
    double us = 0;
    runtime.run([&](Context& ctx) {
      Session np(ctx, Settings{.fusion = fusion});
      Array a = np.linspace(0, 1, n);
      const Array b = np.linspace(0, 0.5, n), c = np.ones(n);
      const auto loop = [&](int count) {
        for (int i = 0; i < count; ++i) {
          a = a * b + c;
          if (each_launched) np.flush();
        }
        np.wait();
      };
      loop(statements / 4);
      const auto start = now_ns();
      loop(statements);
      us = static_cast<double>(now_ns() - start) / statements / 1000;
    });
    return std::vector<double>{us};
  })[0];
}

double bare_us(Coord n, int statements) {
  return forked([=] {
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> a(size, 0.5), b(size, 0.25), c(size, 1.0);
    const auto start = now_ns();
    for (int i = 0; i < statements; ++i) {
      for (std::size_t j = 0; j < size; ++j) a[j] = a[j] * b[j] + c[j];
      asm volatile("" : : "r"(a.data()) : "memory");
    }
    return std::vector<double>{static_cast<double>(now_ns() - start) / statements / 1000};
  })[0];
}

}  // namespace

void measure_statement(const Options& options, Records& records) {
  const int statements = options.quick ? 20'000 : 200'000;
  for (const Coord n : {Coord{16}, Coord{1024}}) {
    std::vector<Contestant> contestants = {
        {"loop", "", [=] { return bare_us(n, statements); }},
        {"refrain", "fused", [=] { return statement_us(n, statements, true, false); }},
        {"refrain", "flushed", [=] { return statement_us(n, statements, true, true); }},
        {"refrain", "unfused", [=] { return statement_us(n, statements, false, false); }}};
    run_rounds(contestants, options.reps);
    std::printf("\na = a * b + c, %lld elements: us per statement, median (min - max)\n",
                static_cast<long long>(n));
    const Contestant* bare = find_finished(contestants, "loop");
    for (const Contestant& c : contestants) {
      if (!c.finished() || bare == nullptr) continue;
      const Spread s = spread(c.samples);
      const double over = s.median - spread(bare->samples).median;
      std::printf("  %-20s %8.3f (%.3f - %.3f)", c.name().c_str(), s.median, s.min, s.max);
      if (&c != bare && n == 1024)
        std::printf("  over the loop %.3f, bar %.1f: %s", over, kMostOver,
                    verdict(over <= kMostOver));
      std::printf("\n");
      records.add({"arrays", c.system, c.variant, kThreads, n, "us_per_statement", "us", s});
    }
  }
}

void measure_memory(const Options& options, Records& records) {
  std::printf("\npeak of resident memory beside what live arrays need\n");
  for (const Coord n : {Coord{1'000'000}, Coord{10'000'000}}) {
    const auto got = forked([&] {
      refrain::Options chosen;
      chosen.workers = kThreads - 1;
      Runtime runtime(chosen);
      std::vector<double> bytes(2);
      runtime.run([&](Context& ctx) {
        Session np(ctx);
        const double before = static_cast<double>(resident_bytes());
        reset_peak_resident();
        Array u = np.random.uniform(n), v = np.zeros(n);
        for (int i = 0; i < (options.quick ? 3 : 10); ++i) {
          const Array un = u.copy();
          u["1:-1"] = un["1:-1"] + 0.1 * (un["2:"] - 2.0 * un["1:-1"] + un[":-2"]) * v["1:-1"];
          v = v * 0.5 + sum(u) * roll(u, 1);
        }
        np.wait();
        bytes = {static_cast<double>(peak_resident_bytes()) - before,
                 static_cast<double>(np.counters().bytes_most)};
      });
      return bytes;
    });
    const double ratio = got[0] / got[1];
    std::printf("  %lld elements: %.1f MiB of %.1f MiB: %.2f, bar %.1f: %s\n",
                static_cast<long long>(n), got[0] / 1048576, got[1] / 1048576, ratio, kMostMemory,
                verdict(ratio <= kMostMemory));
    records.add(
        {"arrays", "refrain", "", kThreads, n, "peak_to_live_memory", "x", {ratio, ratio, ratio}});
  }
}

}  // namespace refrain::bench
