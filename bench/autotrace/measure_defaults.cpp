#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "autotrace/measure.hpp"
#include "autotrace/streams.hpp"
#include "support/clock.hpp"
#include "support/rounds.hpp"
#include "support/streams.hpp"

namespace refrain::bench {

namespace {

constexpr std::size_t launches = 40'000;

/// One parameter is another than by default.
struct Setting {
  const char* name;
  std::function<void(refrain::Options&)> change;
};

const std::vector<Setting> settings{
    {"off", [](auto& o) { o.autotrace = false; }},
    {"default", [](auto&) {}},
    {"min-length 4", [](auto& o) { o.autotrace_min_length = 4; }},
    {"min-length 8", [](auto& o) { o.autotrace_min_length = 8; }},
    {"min-length 32", [](auto& o) { o.autotrace_min_length = 32; }},
    {"min-length 64", [](auto& o) { o.autotrace_min_length = 64; }},
    {"sample 16", [](auto& o) { o.autotrace_sample = 16; }},
    {"sample 32", [](auto& o) { o.autotrace_sample = 32; }},
    {"sample 128", [](auto& o) { o.autotrace_sample = 128; }},
    {"sample 512", [](auto& o) { o.autotrace_sample = 512; }},
    {"history 1024", [](auto& o) { o.autotrace_history = 1024; }},
    {"history 4096", [](auto& o) { o.autotrace_history = 4096; }},
    {"history 65536", [](auto& o) { o.autotrace_history = 65'536; }},
    {"paper",
     [](auto& o) {
       o.autotrace_min_length = 25;
       o.autotrace_history = 5000;
       o.autotrace_sample = 500;
     }},
};

/// What a stream has come to in one setting.
struct Result {
  double ns = 0, replayed = 0;
};

class Defaults {
 public:
  Defaults(const Options& options, Records& records) : options_(options), records_(records) {}

  void measure(const std::string& group, const std::vector<std::string>& streams) {
    std::map<std::string, std::vector<Result>> results;
    for (const std::string& stream : streams) measure(stream, results);
    std::printf("\n%s, empty bodies, one thread: time of off, share replayed; mean of %zu\n",
                group.c_str(), streams.size());
    for (const Setting& setting : settings) {
      double logarithms = 0, replayed = 0;
      for (std::size_t i = 0; i < streams.size(); ++i) {
        logarithms += std::log(results[setting.name][i].ns / results["off"][i].ns);
        replayed += results[setting.name][i].replayed;
      }
      const auto count = static_cast<double>(streams.size());
      const double time = std::exp(logarithms / count);
      std::printf("  %-16s %.3f  %5.1f%%\n", setting.name, time, 100 * replayed / count);
      add(group, setting, "to_off", time);
      add(group, setting, "replayed_share", replayed / count);
    }
    std::fflush(stdout);
  }

 private:
  void measure(const std::string& stream, std::map<std::string, std::vector<Result>>& results) {
    const std::vector<std::uint32_t> tokens =
        tokens_of({stream.c_str(), true}, options_.quick ? launches / 8 : launches);
    std::vector<Result> latest(settings.size());
    std::vector<Contestant> contestants;
    for (std::size_t i = 0; i < settings.size(); ++i)
      contestants.push_back({"refrain", settings[i].name, [&, i] {
                               latest[i] = run(settings[i], tokens);
                               return latest[i].ns;
                             }});
    run_rounds(contestants, options_.reps);
    for (std::size_t i = 0; i < settings.size(); ++i)
      results[settings[i].name].push_back(
          {spread(contestants[i].samples).median, latest[i].replayed});
  }

  static Result run(const Setting& setting, const std::vector<std::uint32_t>& tokens) {
    refrain::Options options;
    options.workers = 0;
    setting.change(options);
    Runtime runtime(options);
    Result result;
    runtime.run([&](Context& context) {
      StreamProgram program(context, 0);
      const std::int64_t start = now_ns();
      program.launch(tokens);
      result.ns = static_cast<double>(now_ns() - start);
    });
    result.replayed = static_cast<double>(runtime.counters().autotrace.replayed) /
                      static_cast<double>(tokens.size());
    return result;
  }

  void add(const std::string& group, const Setting& setting, const char* metric, double value) {
    records_.add(
        {"autotrace_defaults", group, setting.name, 1, 0, metric, "", Spread{value, value, value}});
  }

  const Options& options_;
  Records& records_;
};

}  // namespace

void measure_defaults(const Options& options, Records& records) {
  if (!options.wants("defaults")) return;
  Defaults defaults(options, records);
  defaults.measure("streams of programs", test::program_streams);
  defaults.measure("streams of few use",
                   {"random_2", "random_100", "distinct", "fibonacci", "thue_morse"});
}

}  // namespace refrain::bench
