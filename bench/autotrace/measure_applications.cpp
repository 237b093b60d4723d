#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "autotrace/applications.hpp"
#include "autotrace/measure.hpp"
#include "support/forked.hpp"
#include "support/options.hpp"
#include "support/rounds.hpp"

namespace refrain::bench {

namespace {

constexpr double throughput_goal = 0.98;

/// A way to run an application.
struct Variant {
  const char* name;
  bool marked, found;
};

const Variant variants[] = {
    {"untraced", false, false}, {"manual", true, false}, {"auto", false, true}};

/// What a run has come to.
struct Run {
  double seconds = 0;
  double calls = 0, before_steady = 0;  ///< where automatic tracing is on
};

Run run(const Application& application, const Course& course, const Variant& variant, int threads) {
  refrain::Options options;
  options.workers = threads - 1;
  options.autotrace = variant.found;
  const std::vector<double> results = forked([&] {
    Runtime runtime(options);
    double seconds = 0;
    runtime.run([&](Context& context) { seconds = application.run(context, course); });
    const AutotraceCounters counters = runtime.counters().autotrace;
    const std::uint64_t calls = counters.analysed + counters.replayed;
    return std::vector<double>{seconds, static_cast<double>(calls),
                               static_cast<double>(counters.before_steady.value_or(calls))};
  });
  return {results.at(0), results.at(1), results.at(2)};
}

/// How many calls of iterations came before the steady state.
class WarmUp {
 public:
  /// `run`: one of so many iterations. Of a run all calls are known; a few come before the first iteration.
  WarmUp(const Application& application, int iterations, const Run& run)
      : application_(application), setup_(run.calls - iterations * application.calls) {}

  void add(const Run& run) { samples_.push_back(std::max(0.0, run.before_steady - setup_)); }

  [[nodiscard]] Spread calls() const { return spread(samples_); }
  [[nodiscard]] Spread iterations() const {
    const Spread s = calls();
    return {s.median / application_.calls, s.min / application_.calls, s.max / application_.calls};
  }
  [[nodiscard]] double goal() const { return std::max(10.0 * application_.calls, 500.0); }

 private:
  const Application& application_;
  double setup_;
  std::vector<double> samples_;
};

class Applications {
 public:
  Applications(const Options& options, int threads, Records& records)
      : options_(options), threads_(threads), records_(records) {}

  void measure(const Application& application) {
    constexpr int few = 4;
    WarmUp warm_up(application, few,
                   run(application, {0, few, false}, std::end(variants)[-1], threads_));
    std::vector<Contestant> contestants;
    for (const Variant& variant : variants) {
      contestants.push_back({"refrain", variant.name,
                             [&] { return iterations_per_second(variant, application, warm_up); }});
    }
    run_rounds(contestants, options_.reps);
    print_head(application);
    for (const Contestant& c : contestants) {
      const Spread s = spread(c.samples);
      std::printf("  %-10s %10.1f  (%.1f - %.1f)\n", c.variant.c_str(), s.median, s.min, s.max);
      add(application, c.variant, "iterations_per_s", "1/s", s);
    }
    report_ratio(application, contestants, 1, "to_manual");
    report_ratio(application, contestants, 0, "to_untraced");
    report(application, warm_up);
  }

 private:
  [[nodiscard]] double iterations_per_second(const Variant& variant, const Application& application,
                                             WarmUp& warm_up) const {
    Course course = application.course;
    course.marked = variant.marked;
    const Run made = run(application, course, variant, threads_);
    if (variant.found) warm_up.add(made);
    return course.iterations / made.seconds;
  }

  void print_head(const Application& application) const {
    std::printf("\n%s, %s tasks (%lld), %d thread%s: iterations per second, median (min - max)\n",
                application.name.c_str(), application.grain.c_str(),
                static_cast<long long>(application.size), threads_, threads_ == 1 ? "" : "s");
  }

  void add(const Application& application, const std::string& variant, const char* metric,
           const char* unit, const Spread& value) {
    records_.add({"autotrace_" + application.name, "refrain", variant, threads_, application.size,
                  metric, unit, value});
  }

  void report_ratio(const Application& application, const std::vector<Contestant>& contestants,
                    std::size_t other, const char* metric) {
    const PairedRatio ratio = paired_ratio(contestants.back().samples, contestants[other].samples);
    std::printf("  auto / %-10s %.3f  (%s: %.3f - %.3f)  goal %.2f  %s\n",
                contestants[other].variant.c_str(), ratio.median, ratio.level(), ratio.low,
                ratio.high, throughput_goal, verdict(ratio.high >= throughput_goal));
    add(application, "auto", metric, "x", {ratio.median, ratio.low, ratio.high});
  }

  void report(const Application& application, const WarmUp& warm_up) {
    const Spread calls = warm_up.calls(), iterations = warm_up.iterations();
    std::printf("  steady after %.0f calls (%.0f - %.0f), %.1f iterations  goal %.0f calls  %s\n",
                calls.median, calls.min, calls.max, iterations.median, warm_up.goal(),
                verdict(calls.median <= warm_up.goal()));
    if (iterations.max > application.course.warm_up)
      std::printf("  not always steady when the clock started, after %d iterations\n",
                  application.course.warm_up);
    std::fflush(stdout);
    add(application, "auto", "calls_before_steady", "", calls);
    add(application, "auto", "iterations_before_steady", "", iterations);
  }

  const Options& options_;
  const int threads_;
  Records& records_;
};

}  // namespace

void measure_applications(const Options& options, Records& records) {
  for (const int threads : {1, 2}) {
    Applications applications_on(options, threads, records);
    for (const Application& application : applications(options.quick)) {
      if (!options.wants(application.name)) continue;
      if (threads == 1 && application.grain != "small" && !options.all) continue;
      applications_on.measure(application);
    }
  }
}

}  // namespace refrain::bench
