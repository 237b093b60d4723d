// Are the repeats that Algorithm 2 finds good traces?
//   against the optimum  coverage as a share of what could be covered (support/optimal_coverage.hpp): all texts of up
//                        to 12 tokens over 3 letters up to renaming, and random ones of up to 16
//   against others       coverage of program-like streams (support/streams.hpp) beside tandem repeats and LZW
//   time                 goals: 5,000 tokens under 1 ms, 100,000 under 50 ms, 10^6 under 120 ms (not in passes)
//
// Beside Algorithm 2 there is what it finds in passes (repeats/passes.hpp).

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "coverage/distribution.hpp"
#include "coverage/lzw.hpp"
#include "coverage/tandem_repeats.hpp"
#include "repeats/passes.hpp"
#include "repeats/repeats.hpp"
#include "support/clock.hpp"
#include "support/optimal_coverage.hpp"
#include "support/options.hpp"
#include "support/random.hpp"
#include "support/records.hpp"
#include "support/streams.hpp"

namespace {

using namespace refrain::bench;
using refrain::autotrace::Repeat;
using refrain::autotrace::Token;
using refrain::test::make_stream;
using Text = std::span<const Token>;

Spread once(double value) { return {value, value, value}; }

struct Finder {
  std::string name;
  std::vector<Repeat> (*find)(Text, std::uint32_t least_length);
};
/// Algorithm 2, again on what it left, and what else might find traces.
const std::vector<Finder> own_finders{{"algorithm_2", refrain::autotrace::find_repeats},
                                      {"passes", refrain::autotrace::find_repeats_in_passes}};
const std::vector<Finder> finders{
    own_finders[0], own_finders[1], {"tandem", tandem_repeats}, {"lzw", lzw_phrases}};

// --- against the optimum

/// `length`: of the texts; 0 for all lengths together.
void report(const Finder& finder, const Distribution& d, std::size_t length, std::uint32_t least,
            Records& records) {
  if (d.coverable() == 0) return;
  std::printf("  %-11s %5u %6s  %6zu %9zu  %6.1f%%  %5.3f  %5.3f  %5.3f  %s\n", finder.name.c_str(),
              least, length == 0 ? "all" : std::to_string(length).c_str(), d.texts(), d.coverable(),
              100 * d.share_of_optimal(), d.mean(), d.low(), d.worst(), d.worst_name().c_str());
  const auto add = [&](const char* metric, double value) {
    records.add({"optimal_coverage", finder.name, "least " + std::to_string(least), 1,
                 std::int64_t(length), metric, "", once(value)});
  };
  add("share_of_optimal", d.share_of_optimal());
  add("mean", d.mean());
  add("low_5_percent", d.low());
  add("worst", d.worst());
}

void for_random_texts(std::size_t length, int number, const std::function<void(Text)>& call) {
  refrain::test::Random random(length);
  std::vector<Token> text(length);
  for (int i = 0; i < number; ++i) {
    for (Token& token : text) token = Token(random.below(3));
    call(text);
  }
}

void compare_with_optimum(const Finder& finder, std::uint32_t least, const Options& options,
                          Records& records) {
  const std::size_t all_up_to = options.quick ? 9 : 12;
  Distribution together;
  for (std::size_t length = 1; length <= 16; ++length) {
    if (length == all_up_to + 1) report(finder, together, 0, least, records);
    Distribution distribution;
    const auto add = [&](Text text) {
      const std::size_t covered = coverage(finder.find(text, least));
      const std::size_t optimal = refrain::test::optimal_coverage(text, least);
      const std::string name = refrain::test::in_letters(text);
      distribution.add(covered, optimal, name);
      together.add(covered, optimal, name);
    };
    if (length <= all_up_to) refrain::test::for_each_text(length, 3, add);
    else for_random_texts(length, options.quick ? 1000 : 10000, add);
    report(finder, distribution, length, least, records);
  }
}

void compare_with_optimum(const Options& options, Records& records) {
  std::printf(
      "\nCoverage as a share of the optimum, where that is not 0; texts over 3 letters.\n"
      "              least length   texts coverable  optimal   mean     5%%  worst  the worst\n");
  for (const std::uint32_t least : {2U, 3U})
    for (const Finder& finder : own_finders) compare_with_optimum(finder, least, options, records);
}

// --- against others

bool is_chosen_twice(const Repeat& repeat) { return repeat.begins.size() > 1; }

/// How long a repeat is, as a token in one sees it.
double mean_length(const std::vector<Repeat>& repeats) {
  double sum = 0;
  for (const Repeat& repeat : repeats)
    if (is_chosen_twice(repeat))
      sum += double(repeat.length) * double(repeat.length) * double(repeat.begins.size());
  return sum == 0 ? 0 : sum / double(coverage(repeats));
}

void compare_on(const std::string& stream, std::size_t size, std::uint32_t least,
                const Options& options, Records& records) {
  std::printf("  %-13s %5u", stream.c_str(), least);
  for (const Finder& finder : finders) {
    std::vector<double> percents, numbers, lengths;
    for (int seed = 1; seed <= (options.quick ? 1 : 10); ++seed) {
      const auto text = make_stream(stream, size, std::uint64_t(seed));
      const std::vector<Repeat> found = finder.find(text, least);
      percents.push_back(100 * double(coverage(found)) / double(size));
      numbers.push_back(double(std::ranges::count_if(found, is_chosen_twice)));
      lengths.push_back(mean_length(found));
    }
    const Spread percent = spread(percents), number = spread(numbers), length = spread(lengths);
    std::printf("  %5.1f (%4.1f - %5.1f) %4.0f %5.0f", percent.median, percent.min, percent.max,
                number.median, length.median);
    const auto add = [&](const char* metric, const char* unit, const Spread& value) {
      records.add({"stream_coverage", finder.name, stream + ", least " + std::to_string(least), 1,
                   std::int64_t(size), metric, unit, value});
    };
    add("coverage", "%", percent);
    add("repeats", "", number);
    add("mean_length", "tokens", length);
  }
  std::printf("\n");
}

void compare_with_others(const Options& options, Records& records) {
  constexpr std::size_t size = 5000;
  std::printf(
      "\nCoverage of streams of %zu tokens, %% (median, least - most of 10 seeds), the number of "
      "repeats, and the\nlength of the one that a covered token is in.\n  %-13s least",
      size, "stream");
  for (const Finder& finder : finders) std::printf("  %-31s", finder.name.c_str());
  std::printf("\n");
  for (const std::uint32_t least : {2U, 10U})
    for (const auto* streams : {&refrain::test::program_streams, &refrain::test::noisy_streams})
      for (const std::string& stream : *streams) compare_on(stream, size, least, options, records);
}

// --- time

struct Goal {
  std::size_t size;
  double ms;
};
constexpr Goal goals[]{{5000, 1}, {100000, 50}, {1000000, 120}};

/// Of one finder.
class Mining {
 public:
  Mining(const Finder& finder, const std::vector<std::size_t>& sizes, const Options& options,
         Records& records)
      : finder_(finder), sizes_(sizes), options_(options), records_(records) {}

  void measure(const std::string& stream) {
    std::printf("\n  %-16s", stream.c_str());
    const auto whole = make_stream(stream, sizes_.back(), 1);
    for (const std::size_t size : sizes_) {
      const Spread ms = mine(Text(whole).first(size));
      std::printf("  %7.3f (%7.3f) %4.0f", ms.median, ms.max, ms.median * 1e6 / double(size));
      records_.add({"mining", finder_.name, stream, 1, std::int64_t(size), "ms", "ms", ms});
      for (std::size_t i = 0; i < std::size(goals); ++i)
        if (goals[i].size == size && ms.median > slowest_[i].median) slowest_[i] = ms;
    }
    std::fflush(stdout);
  }
  void judge(const char* streams) const {
    std::printf("\n");
    for (std::size_t i = 0; i < std::size(goals); ++i) {
      if (slowest_[i].median == 0) continue;  // no text is so long
      std::printf("  %zu tokens, the slowest %s: %.3f ms (%.3f - %.3f)  goal %.0f  %s\n",
                  goals[i].size, streams, slowest_[i].median, slowest_[i].min, slowest_[i].max,
                  goals[i].ms, verdict(slowest_[i].median <= goals[i].ms));
    }
  }

 private:
  [[nodiscard]] Spread mine(Text text) const {
    std::vector<double> samples;
    const int reps = text.size() > 100000 ? std::min(options_.reps, 5) : options_.reps;
    for (int i = 0; i < reps; ++i) {
      const std::int64_t start = now_ns();
      finder_.find(text, 2);
      samples.push_back(double(now_ns() - start) * 1e-6);
    }
    return spread(samples);
  }

  const Finder& finder_;
  const std::vector<std::size_t>& sizes_;
  const Options& options_;
  Records& records_;
  Spread slowest_[std::size(goals)];
};

void time_mining(const Finder& finder, const Options& options, Records& records) {
  std::vector<std::size_t> sizes{1000, 5000, 10000, 50000, 100000};
  if (&finder == &own_finders.front()) sizes.push_back(1000000);
  std::printf("\nMilliseconds to mine a stream (median, most of %d) and ns per token: %s.\n  %-16s",
              options.reps, finder.name.c_str(), "stream");
  for (const std::size_t size : sizes) std::printf("  %22zu", size);
  Mining mining(finder, sizes, options, records);
  for (const auto* streams : {&refrain::test::program_streams, &refrain::test::noisy_streams})
    for (const std::string& stream : *streams) mining.measure(stream);
  mining.judge("program");
  for (const std::string& stream : refrain::test::other_streams) mining.measure(stream);
  mining.judge("of all");
}

}  // namespace

int main(int argc, char** argv) {
  const Options options =
      parse_options(argc, argv, "How good are the repeats, and how quickly found?", 15, 3);
  Records records;
  compare_with_optimum(options, records);
  compare_with_others(options, records);
  for (const Finder& finder : own_finders) time_mining(finder, options, records);
  records.write(options.out);
  return 0;
}
