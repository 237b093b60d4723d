#include "oracle/timed_recording.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "oracle/program_events.hpp"
#include "oracle/support/replayed_times.hpp"
#include "oracle/timed_reduction.hpp"
#include "oracle/tracker.hpp"
#include "support/clock.hpp"
#include "support/options.hpp"
#include "support/random.hpp"

namespace refrain::bench {

namespace {

using oracle::Delays;
using oracle::Reduction;
using oracle::Reference;
using oracle::TimedReduction;

constexpr double goal_ns = 100;

/// Events and the times before them.
struct Run {
  Events events;
  std::vector<double> times;

  explicit Run(Events of) : events(std::move(of)) {
    test::Random random(1);
    std::uint64_t last = 0, last_but_one = 0;
    for (const std::uint32_t event : events) {
      std::uint64_t hash = event * 0x9e3779b97f4a7c15u ^ last * 0xbf58476d1ce4e5b9u ^
                           last_but_one * 0x94d049bb133111ebu;
      hash = (hash ^ hash >> 31) * 0x9e3779b97f4a7c15u;
      const double noise = 1 + (random.below(2001) - 1000) * 1e-4;
      times.push_back(std::round(double(100 + (hash >> 40) % 900) * noise));
      last_but_one = last;
      last = event;
    }
  }
};

struct Cost {
  std::vector<double> untimed, timed;  // ns per event
  double bytes_per_symbol = 0;
};

Cost cost(const Run& run, std::size_t size, int reps) {
  Cost cost;
  const auto measure = [&](auto& reduction, const auto& add) {
    const std::int64_t start = now_ns();
    for (std::size_t i = 0; i < size; ++i) add(reduction, i);
    return double(now_ns() - start) / double(size);
  };
  for (int rep = 0; rep < reps; ++rep) {
    Reduction untimed;
    cost.untimed.push_back(
        measure(untimed, [&](Reduction& r, std::size_t i) { r.add(run.events[i]); }));
    TimedReduction timed;
    cost.timed.push_back(measure(
        timed, [&](TimedReduction& r, std::size_t i) { r.add(run.events[i], run.times[i]); }));
    cost.bytes_per_symbol = double(timed.bytes()) / double(timed.symbols());
  }
  return cost;
}

/// All along the run, of the delay predicted for the next event.
double prediction_error(const Reference& reference, const Delays& delays, const Run& run) {
  oracle::Tracker tracker(reference, &delays);
  tracker.start();
  double off = 0, all = 0;
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    off += std::abs(tracker.predict(1).delay - run.times[i]);
    all += run.times[i];
    tracker.track(run.events[i]);
  }
  return off / all;
}

struct Errors {
  double delays = 0, predicted = 0, predicted_by_replay = 0;
};

Errors errors(const Run& run) {
  TimedReduction reduction;
  for (std::size_t i = 0; i < run.events.size(); ++i) reduction.add(run.events[i], run.times[i]);
  const oracle::TimedGrammar timed = reduction.grammar();
  const Reference reference(timed.grammar);
  const Delays delays(reference, timed.delays);
  const std::vector<Delays::Context> contexts = test::contexts(timed.grammar, 2);
  std::vector<Delays::Recorded> all;
  for (std::size_t i = 0; i < contexts.size(); ++i) all.push_back({contexts[i], run.times[i], 1});
  const Delays replayed(reference, all);
  Errors errors;
  double sum = 0;
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    errors.delays += std::abs(delays.mean(contexts[i]) - replayed.mean(contexts[i]));
    sum += run.times[i];
  }
  errors.delays /= sum;
  errors.predicted = prediction_error(reference, delays, run);
  errors.predicted_by_replay = prediction_error(reference, replayed, run);
  return errors;
}

}  // namespace

void measure_timed_recording(const Options& options, Records& records) {
  const std::size_t accurate = 1'000'000;
  std::vector<std::size_t> sizes{100'000, accurate};
  if (options.all) sizes.push_back(10'000'000);
  std::printf(
      "\nRecording with time stamps: ns for an event with times, and without, of streams of so "
      "many "
      "(median of %d);\nof 10^6, errors in %%: of delays, by those of a replay at the end; of the "
      "delay predicted for the next event;\nof that by the replay.\n  %-12s",
      options.reps, "stream");
  for (const std::size_t size : sizes) std::printf("  %13.0e", double(size));
  std::printf(" %13s %7s %10s %10s\n", "bytes/symbol", "delays", "predicted", "by replay");
  double slowest = 0;
  std::string slowest_name;
  for (const std::string& name : program_names()) {
    const Run run(program_events(name, sizes.back()));
    std::printf("  %-12s", name.c_str());
    double bytes_per_symbol = 0;
    const auto add = [&](std::size_t size, const char* metric, const char* unit, Spread value) {
      records.add(
          {"oracle_timed_recording", "refrain", name, 1, std::int64_t(size), metric, unit, value});
    };
    const auto once = [](double value) { return Spread{value, value, value}; };
    for (const std::size_t size : sizes) {
      const Cost measured = cost(run, size, options.reps);
      const Spread timed = spread(measured.timed), untimed = spread(measured.untimed);
      std::printf("  %5.1f (%5.1f)", timed.median, untimed.median);
      std::fflush(stdout);
      add(size, "ns_per_event", "ns", timed);
      add(size, "ns_per_event_untimed", "ns", untimed);
      bytes_per_symbol = measured.bytes_per_symbol;
      add(size, "bytes_per_symbol", "B", once(bytes_per_symbol));
      if (timed.median <= slowest) continue;
      slowest = timed.median;
      slowest_name = name;
    }
    const Errors found = errors(Run(program_events(name, accurate)));
    add(accurate, "delay_error", "%", once(100 * found.delays));
    add(accurate, "prediction_error", "%", once(100 * found.predicted));
    add(accurate, "prediction_error_of_replay", "%", once(100 * found.predicted_by_replay));
    std::printf(" %13.1f %7.2f %10.2f %10.2f\n", bytes_per_symbol, 100 * found.delays,
                100 * found.predicted, 100 * found.predicted_by_replay);
  }
  std::printf("  the slowest: %.1f ns (%s)  goal %.0f  %s\n", slowest, slowest_name.c_str(),
              goal_ns, verdict(slowest <= goal_ns));
}

}  // namespace refrain::bench
