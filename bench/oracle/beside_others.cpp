#include "oracle/beside_others.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "oracle/eight_streams.hpp"
#include "oracle/most_prevalent.hpp"
#include "oracle/recorder.hpp"
#include "oracle/tracker.hpp"
#include "support/clock.hpp"
#include "support/random.hpp"

namespace refrain::bench {

namespace {

using oracle::Grammar;
using oracle::Reference;

constexpr std::size_t size = 100'000;
constexpr std::array<std::size_t, 4> distances{1, 8, 32, 128};

Spread once(double value) { return {value, value, value}; }

struct File {
  double ns = 0;  ///< per event, with what is done at the end
  std::uintmax_t bytes = 0;
};

File record(const Events& events, bool times) {
  const std::string path = (std::filesystem::temp_directory_path() / "bench_oracle.run").string();
  test::Random random(5);
  std::vector<std::uint64_t> when;
  std::uint64_t now = 0;
  for (const std::uint32_t event : events)
    when.push_back(now += 1000 + 100 * event + static_cast<std::uint64_t>(random.below(200)));
  oracle::create_run(path, "p");
  oracle::RunWriter writer(path);
  oracle::Recorder recorder(writer, 0, 0, times);
  const std::int64_t begin = now_ns();
  for (std::size_t i = 0; i < events.size(); ++i)
    recorder.add(events[i], when[i], [&] { return std::to_string(events[i]); });
  recorder.append();
  File file{double(now_ns() - begin) / double(events.size()), std::filesystem::file_size(path)};
  std::filesystem::remove(path);
  return file;
}

/// A word for each symbol, one for each rule's end, and five bytes or six for a count.
std::size_t bytes_in_words(const Grammar& grammar) {
  const std::size_t symbols = grammar.rules() + grammar.events();
  const std::size_t word = symbols < 254 ? 1 : 2;
  std::size_t bytes = 1 + 2 * word;
  for (std::uint32_t event = 0; event < grammar.events(); ++event)
    bytes += word + std::to_string(event).size();
  for (const oracle::Use& use : grammar.uses()) bytes += word + (use.times > 1 ? word + 4 : 0);
  return bytes + grammar.rules() * word;
}

/// ns per event, of a run of another seed.
double follow(const Reference& reference, const Events& run) {
  oracle::Tracker tracker(reference);
  tracker.start();
  const std::int64_t begin = now_ns();
  for (const std::uint32_t event : run) tracker.track(event);
  return double(now_ns() - begin) / double(run.size());
}

struct Predictions {
  std::array<double, distances.size()> right{}, ns{}, most_prevalent{};
};

Predictions predict(const Reference& reference, const Events& run) {
  constexpr std::size_t every = 13;
  Predictions found;
  oracle::Tracker tracker(reference);
  MostPrevalent other(reference);
  tracker.start();
  double asked = 0;
  for (std::size_t i = 0; i + distances.back() < run.size(); ++i) {
    tracker.track(run[i]);
    other.track(run[i]);
    if (i % every != 0) continue;
    ++asked;
    const std::vector<std::uint32_t> next = other.next(distances.back());
    for (std::size_t d = 0; d < distances.size(); ++d) {
      const std::uint32_t event = run[i + distances[d]];
      const std::int64_t begin = now_ns();
      const auto predicted = tracker.predict(distances[d]).event;
      found.ns[d] += double(now_ns() - begin);
      found.right[d] += predicted == event ? 100 : 0;
      found.most_prevalent[d] +=
          next.size() >= distances[d] && next[distances[d] - 1] == event ? 100 : 0;
    }
  }
  for (auto* const sums : {&found.right, &found.ns, &found.most_prevalent})
    for (double& sum : *sums) sum /= asked;
  return found;
}

}  // namespace

void measure_eight_streams(const Options&, Records& records) {
  std::printf(
      "\nEight streams of 10^5 events: ns per event and bytes of the file, with times, and "
      "without; "
      "bytes of the grammar\nin words; of another seed's run, at distances 1, 8, 32 and 128: %% "
      "right, from the most prevalent place, and ns.\n");
  for (const std::string& name : eight_streams) {
    const Events events = eight_stream(name, size, 1);
    oracle::Reduction reduction;
    for (const std::uint32_t event : events) reduction.add(event);
    const Reference reference(reduction.grammar());
    const File untimed = record(events, false), timed = record(events, true);
    const std::size_t words = bytes_in_words(reference.grammar());
    const Events other = eight_stream(name, size, 2);
    const double follows = follow(reference, other);
    const auto predictions = predict(reference, other);
    std::printf("  %-11s %5.0f %5.0f ns %7zu %7zu %7zu bytes %5.0f ns ", name.c_str(), untimed.ns,
                timed.ns, std::size_t(untimed.bytes), std::size_t(timed.bytes), words, follows);
    const auto add = [&](const std::string& metric, const char* unit, double value) {
      records.add({"oracle_eight_streams", "refrain", name, 1, size, metric, unit, once(value)});
    };
    add("ns_per_event", "ns", untimed.ns);
    add("ns_per_event_timed", "ns", timed.ns);
    add("ns_to_follow", "ns", follows);
    add("bytes", "B", double(untimed.bytes));
    add("bytes_timed", "B", double(timed.bytes));
    add("bytes_in_words", "B", double(words));
    const auto print = [&](const char* metric, const char* unit, const auto& values) {
      for (std::size_t d = 0; d < distances.size(); ++d) {
        std::printf(" %5.1f", values[d]);
        add(metric + std::to_string(distances[d]), unit, values[d]);
      }
      std::printf("  ");
    };
    print("right at ", "%", predictions.right);
    print("most prevalent right at ", "%", predictions.most_prevalent);
    print("ns to predict at ", "ns", predictions.ns);
    std::printf("\n");
  }
}

}  // namespace refrain::bench
