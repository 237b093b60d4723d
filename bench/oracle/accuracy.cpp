#include "oracle/accuracy.hpp"

#include <cstdio>
#include <string>
#include <vector>

#include "oracle/program_runs.hpp"
#include "oracle/reduction.hpp"
#include "oracle/tracker.hpp"
#include "support/clock.hpp"

namespace refrain::bench {

namespace {

using oracle::Reference;
using oracle::Settings;
using oracle::Tracker;

const std::vector<std::uint64_t> distances{1, 2, 4, 8, 16, 32, 64, 128};

struct Variant {
  std::string name;
  Settings settings;
};

oracle::Grammar reduced(const Events& run) {
  oracle::Reduction reduction;
  for (const std::uint32_t event : run) reduction.add(event);
  return reduction.grammar();
}

/// The paper's way after unexpected events, and what is added to it, one after the other.
std::vector<Variant> variants() {
  std::vector<Variant> made{{"paper", Settings::paper()}};
  const auto add = [&](const char* name, auto change) {
    made.push_back({name, made.back().settings});
    change(made.back().settings);
  };
  const Settings all;
  add("+history", [&](Settings& s) { s.history = all.history; });
  add("+counts", [&](Settings& s) { s.counts = all.counts; });
  add("+skipped", [&](Settings& s) { s.skipped = all.skipped; });
  add("+aside", [&](Settings& s) { s.patience = all.patience; });
  add("+own counts", [&](Settings& s) { s.own_counts = all.own_counts; });
  return made;
}

/// Percent of the predictions that are right, by distance. A prediction is made after events of the run and speaks of
/// events of the run; what is behind its end is not asked for.
std::vector<double> accuracy(const Reference& reference, const std::vector<Submitted>& submitted,
                             const Settings& settings) {
  Events real;
  for (const auto& [event, is_real] : submitted)
    if (is_real) real.push_back(event);
  std::vector<double> right(distances.size()), all(distances.size());
  Tracker tracker(reference, nullptr, settings);
  tracker.start();
  std::size_t at = 0;
  for (const auto& [event, is_real] : submitted) {
    tracker.track(event);
    if (!is_real) continue;
    ++at;
    for (std::size_t d = 0; d < distances.size(); ++d) {
      if (at + distances[d] > real.size()) continue;
      ++all[d];
      if (tracker.predict(distances[d]).event == real[at + distances[d] - 1]) ++right[d];
    }
  }
  for (std::size_t d = 0; d < distances.size(); ++d) right[d] = 100 * right[d] / all[d];
  return right;
}

void report(const std::string& benchmark, const std::string& system, const std::string& variant,
            int size, const std::vector<double>& percents, Records& records) {
  for (std::size_t d = 0; d < distances.size(); ++d) {
    std::printf(" %6.1f", percents[d]);
    records.add({benchmark,
                 system,
                 variant,
                 1,
                 size,
                 "distance " + std::to_string(distances[d]),
                 "%",
                 {percents[d], percents[d], percents[d]}});
  }
  std::printf("\n");
}

void print_distances(const char* what) {
  std::printf("  %-32s", what);
  for (const std::uint64_t distance : distances) std::printf(" %6zu", std::size_t(distance));
  std::printf("\n");
}

}  // namespace

void measure_accuracy(const Options& options, Records& records) {
  std::vector<Reference> references;
  for (const std::string& name : program_runs)
    references.emplace_back(reduced(program_run(name, 1, 1)));

  std::printf("\nAccuracy, %%, of a run of another size, recorded with size 1.\n");
  print_distances("program, size, way");
  for (std::size_t p = 0; p < program_runs.size(); ++p) {
    for (const int size : {1, 2, 5}) {
      const std::string& name = program_runs[p];
      const auto submitted = with_noise(program_run(name, size, 2), Noise::inserted, 0, 3);
      for (const auto& [way, settings] : variants()) {
        if (!options.wants(way)) continue;
        std::printf("  %-12s %2d  %-15s", name.c_str(), size, way.c_str());
        report("oracle_accuracy", way, name, size, accuracy(references[p], submitted, settings),
               records);
      }
    }
  }

  std::printf("\nAccuracy, %%, with noise, mean of all programs in their recorded size.\n");
  print_distances("noise, percent, way");
  const std::vector<std::pair<std::string, Noise>> kinds{
      {"inserted", Noise::inserted}, {"skipped", Noise::skipped}, {"swapped", Noise::swapped}};
  for (const auto& [kind, noise] : kinds) {
    for (const int percent : {1, 5, 10, 20, 30, 40, 50}) {
      if (options.quick && percent != 10 && percent != 50) continue;
      for (const auto& [way, settings] : variants()) {
        if (!options.wants(way)) continue;
        std::vector<double> mean(distances.size());
        for (std::size_t p = 0; p < program_runs.size(); ++p) {
          const auto submitted = with_noise(program_run(program_runs[p], 1, 1), noise, percent, 3);
          const auto percents = accuracy(references[p], submitted, settings);
          for (std::size_t d = 0; d < mean.size(); ++d)
            mean[d] += percents[d] / double(program_runs.size());
        }
        std::printf("  %-10s %3d  %-16s", kind.c_str(), percent, way.c_str());
        report("oracle_noise", way, kind, percent, mean, records);
      }
    }
  }
}

void measure_prediction_time(const Options& options, Records& records) {
  std::printf("\nns, median (least - most of %d), one sequence followed.\n", options.reps);
  for (const std::string& name : program_runs) {
    const Events run = program_run(name, options.quick ? 2 : 8, 1);
    const Reference reference(reduced(run));
    Tracker tracker(reference);
    std::vector<double> track;
    for (int rep = 0; rep < options.reps; ++rep) {
      const int times = static_cast<int>(1'000'000 / run.size()) + 1;
      const std::int64_t begin = now_ns();
      for (int time = 0; time < times; ++time) {
        tracker.start();
        for (const std::uint32_t event : run) tracker.track(event);
      }
      track.push_back(double(now_ns() - begin) / double(times) / double(run.size()));
    }
    const auto add = [&](const std::string& metric, const std::vector<double>& samples) {
      const Spread ns = spread(samples);
      std::printf("  %s %.1f (%.1f - %.1f)", metric.c_str(), ns.median, ns.min, ns.max);
      records.add({"oracle_time", "refrain", name, 1, std::int64_t(run.size()), metric, "ns", ns});
    };
    std::printf("  %-10s %7zu events, %4zu rules, %5zu uses:", name.c_str(), run.size(),
                reference.grammar().rules(), reference.grammar().uses().size());
    add("track", track);
    for (const std::uint64_t distance : {1, 64, 10'000}) {
      // Tracking goes on between, so that predictions start from everywhere; its time is taken off.
      std::vector<double> samples;
      std::uint64_t found = 0;
      for (int rep = 0; rep < options.reps; ++rep) {
        tracker.start();
        std::int64_t ns = 0;
        std::size_t asked = 0;
        for (std::size_t i = 0; i + 1 < run.size(); ++i) {
          tracker.track(run[i]);
          if (i % 7 != 0) continue;
          constexpr int kTimes = 16;
          const std::int64_t begin = now_ns();
          for (int time = 0; time < kTimes; ++time)
            found += tracker.predict(distance).event.value_or(0);
          ns += now_ns() - begin;
          asked += kTimes;
        }
        samples.push_back(double(ns) / double(asked));
      }
      if (found == UINT64_MAX) std::printf("never");  // so that predictions are made
      add("at " + std::to_string(distance), samples);
    }
    std::printf("\n");
  }
}

}  // namespace refrain::bench
