#include <cstdio>
#include <string>
#include <vector>

#include "autotrace/applications.hpp"
#include "oracle_runtime/measure.hpp"
#include "support/clock.hpp"
#include "support/forked.hpp"
#include "support/options.hpp"
#include "support/rounds.hpp"
#include "support/temporary_file.hpp"

namespace refrain::bench {

namespace {

constexpr double most_added = 1.01, least_replayed = 0.95;
constexpr int threads = 2;

struct Run {
  double seconds = 0;
  double replayed = 0;  ///< the share of all calls
};

Run run(const Application& application, const std::string& warm_start, const std::string& record) {
  refrain::Options options;
  options.workers = threads - 1;
  options.warm_start = warm_start;
  options.record = record;
  Course course = application.course;
  course.iterations += course.warm_up;
  course.warm_up = 0;
  const std::vector<double> results = forked([&] {
    const std::int64_t begin = now_ns();
    double replayed = 0;
    {
      Runtime runtime(options);
      runtime.run([&](Context& context) { application.run(context, course); });
      const AutotraceCounters counters = runtime.counters().autotrace;
      replayed = static_cast<double>(counters.replayed) /
                 static_cast<double>(counters.replayed + counters.analysed);
    }
    return std::vector<double>{static_cast<double>(now_ns() - begin) * 1e-9, replayed};
  });
  return {results.at(0), results.at(1)};
}

class WarmStarts {
 public:
  WarmStarts(const Options& options, Records& records) : options_(options), records_(records) {}

  /// `others`: of another size, and another program.
  void measure(const Application& application, const Application& other_size,
               const Application& other_program) {
    const TemporaryFile own, size, program, written;
    run(application, {}, own.path());
    run(other_size, {}, size.path());
    run(other_program, {}, program.path());
    double replayed_warm = 0, replayed_cold = 0;
    const auto seconds = [&](const std::string& warm_start, const std::string& record) {
      return run(application, warm_start, record).seconds;
    };
    std::vector<Contestant> contestants = {
        {"refrain", "cold",
         [&] {
           const Run made = run(application, {}, {});
           replayed_cold = made.replayed;
           return made.seconds;
         }},
        {"refrain", "warm",
         [&] {
           const Run made = run(application, own.path(), {});
           replayed_warm = made.replayed;
           return made.seconds;
         }},
        {"refrain", "other_size", [&] { return seconds(size.path(), {}); }},
        {"refrain", "other_program", [&] { return seconds(program.path(), {}); }},
        {"refrain", "recording", [&] { return seconds({}, written.path()); }}};
    run_rounds(contestants, options_.reps);
    std::printf("\n%s, %s tasks (%lld): seconds, median (min - max)\n", application.name.c_str(),
                application.grain.c_str(), static_cast<long long>(application.size));
    for (const Contestant& c : contestants) {
      const Spread s = spread(c.samples);
      std::printf("  %-14s %8.4f  (%.4f - %.4f)", c.variant.c_str(), s.median, s.min, s.max);
      add(application, c.variant, "seconds", "s", s);
      if (c.variant != "cold") report_ratio(application, contestants[0], c);
      std::printf("\n");
    }
    std::printf("  replayed       cold %.4f, warm %.4f  goal %.2f  %s\n", replayed_cold,
                replayed_warm, least_replayed, verdict(replayed_warm >= least_replayed));
    std::fflush(stdout);
    add(application, "warm", "replayed", "", {replayed_warm, replayed_warm, replayed_warm});
  }

 private:
  void add(const Application& application, const std::string& variant, const char* metric,
           const char* unit, const Spread& value) {
    records_.add({"warm_start_" + application.name, "refrain", variant, threads, application.size,
                  metric, unit, value});
  }
  void report_ratio(const Application& application, const Contestant& cold, const Contestant& c) {
    const PairedRatio ratio = paired_ratio(c.samples, cold.samples);
    std::printf("  / cold %.3f (%s: %.3f - %.3f)", ratio.median, ratio.level(), ratio.low,
                ratio.high);
    if (c.variant != "recording")
      std::printf("  goal %.2f  %s", most_added, verdict(ratio.low <= most_added));
    add(application, c.variant, "to_cold", "x", {ratio.median, ratio.low, ratio.high});
  }

  const Options& options_;
  Records& records_;
};

}  // namespace

void measure_warm_start(const Options& options, Records& records) {
  const std::vector<Application> all = applications(options.quick);
  const auto find = [&](bool same_name, const Application& than) -> const Application& {
    for (const Application& each : all)
      if ((each.name == than.name) == same_name && each.size != than.size) return each;
    return than;
  };
  WarmStarts warm_starts(options, records);
  for (const Application& application : all)
    if (options.wants(application.name) && (application.grain == "small" || options.all))
      warm_starts.measure(application, find(true, application), find(false, application));
}

}  // namespace refrain::bench
