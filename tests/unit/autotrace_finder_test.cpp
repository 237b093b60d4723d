// The trace finder, with miners that are as slow as a test wants.

#include "finder/trace_finder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "support/random.hpp"
#include "support/streams.hpp"

namespace refrain::autotrace::autotrace_finder_test {
namespace {

/// Mines when it is told to.
class SlowMiners {
 public:
  bool post(const std::shared_ptr<MiningJob>& job) {
    EXPECT_EQ(job_, nullptr) << "one at a time";
    if (!there_are_some) return false;
    job_ = job;
    return true;
  }
  void mine() {
    if (job_ != nullptr) job_->run();
    job_ = nullptr;
  }
  void forget() { job_ = nullptr; }
  Miners as_miners() {
    return {[this](const std::shared_ptr<MiningJob>& job) { return post(job); },
            [this] { ++hurried; }};
  }

  bool there_are_some = true;
  int hurried = 0;

 private:
  std::shared_ptr<MiningJob> job_;
};

constexpr FinderOptions kSmall{{.least = 2, .most = ~std::size_t{0}}, 256, 8, 0, 0};

/// What a finder has decided, and after how many calls.
using Decisions = std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>;

class Finding {
 public:
  explicit Finding(const FinderOptions& options = kSmall) : finder(options, miners.as_miners()) {}

  /// The next call; `mine`: what was posted is mined before it.
  void call(Token token, bool mine) {
    if (mine) miners.mine();
    finder.add(token);
    note(finder.now());
  }
  void turn_if_due() {
    if (!finder.is_due()) return;
    finder.turn();
    note(finder.now());
  }
  void note(std::uint64_t now) {
    const AutotraceCounters counters = finder.counters();
    if (!decisions.empty() && std::get<1>(decisions.back()) == counters.mined_calls &&
        std::get<2>(decisions.back()) == counters.candidates)
      return;
    decisions.emplace_back(now, counters.mined_calls, counters.candidates);
  }

  SlowMiners miners;
  TraceFinder finder;
  Decisions decisions;
};

test::Stream hashed(const std::string& name, std::size_t size, std::uint64_t seed = 1) {
  test::Stream stream = test::make_stream(name, size, seed);
  for (std::uint64_t& token : stream) token = test::mix(token, 1);
  return stream;
}

/// All calls are analysed, and each result is there after a number of calls that depends on how many are mined.
template <class Delay>
Decisions decisions(const std::string& stream, Delay delay) {
  Finding finding;
  std::uint64_t mined_at = 0, mined = 0;
  for (const Token token : hashed(stream, 20'000)) {
    finding.call(token, finding.finder.now() + 1 >= mined_at);
    finding.turn_if_due();
    const std::uint64_t more = finding.finder.counters().mined_calls - mined;
    mined += more;
    if (more > 0) mined_at = finding.finder.now() + delay(more);
  }
  EXPECT_EQ(finding.finder.counters().late, 0u);
  EXPECT_EQ(finding.miners.hurried, 0);
  return finding.decisions;
}

TEST(TraceFinder, DecidesTheSameHoweverFastItIsMined) {
  for (const char* stream : {"loop", "insertions", "nested", "random_2", "fibonacci", "distinct"}) {
    const Decisions at_once = decisions(stream, [](std::uint64_t) { return 0; });
    EXPECT_GE(at_once.size(), 20u) << stream;
    EXPECT_EQ(decisions(stream, [](std::uint64_t mined) { return mined / 4; }), at_once) << stream;
    test::Random random(1);
    EXPECT_EQ(decisions(stream,
                        [&](std::uint64_t mined) {
                          return static_cast<std::uint64_t>(
                              random.below(static_cast<int>(mined / 4) + 1));
                        }),
              at_once)
        << stream;
    Finding nobody;
    nobody.miners.there_are_some = false;
    for (const Token token : hashed(stream, 20'000)) {
      nobody.call(token, false);
      nobody.turn_if_due();
    }
    EXPECT_EQ(nobody.decisions, at_once) << stream;
  }
}

constexpr FinderOptions kDefault{{.least = 16, .most = ~std::size_t{0}}, 16384, 64, 256, 2048};

/// Whether the loop of four calls is a candidate after its second iteration.
bool finds_in_two_iterations(Work work) {
  Finding finding(kDefault);
  for (Token call = 0; call < 8; ++call) {
    finding.finder.add(1 + call % 4, work);
    finding.turn_if_due();
  }
  Candidates::Position at = finding.finder.candidates().begin(1);
  for (Token call = 1; call < 4; ++call) at = Candidates::next(at, 1 + call);
  return Candidates::ending(at) != nullptr;
}

// A loop of a few large launches is as much work as one of many small ones.
TEST(TraceFinder, FindsTheLoopOfLargeCallsAtOnce) {
  EXPECT_TRUE(finds_in_two_iterations(5000));
  EXPECT_FALSE(finds_in_two_iterations(1));
}

// Per operation no more is mined than of small calls.
TEST(TraceFinder, LargeCallsPayForWhatIsMined) {
  constexpr std::uint64_t kCalls = 20'000, kWork = 50;
  Finding finding(kDefault);
  for (const Token token : hashed("distinct", kCalls)) {
    finding.finder.add(token, kWork);
    finding.miners.mine();
    finding.turn_if_due();
  }
  EXPECT_LE(finding.finder.counters().mined_calls, 8192 + 2 * 16384 + kCalls * kWork / 2);
}

TEST(TraceFinder, IsDueWhenThereIsSomethingToMine) {
  Finding finding;
  for (int i = 0; i < 7; ++i) finding.call(1, true);
  EXPECT_FALSE(finding.finder.is_due());
  finding.call(1, true);
  EXPECT_TRUE(finding.finder.is_due());
  finding.finder.turn();
  EXPECT_EQ(finding.finder.counters().mined, 1u);
  EXPECT_EQ(finding.finder.counters().mined_calls, 8u);
  // Nothing is taken in before it is due, even if it is there.
  finding.miners.mine();
  EXPECT_FALSE(finding.finder.is_due());
  finding.finder.turn();
  EXPECT_TRUE(finding.finder.candidates().empty());
  finding.call(1, true);
  EXPECT_FALSE(finding.finder.is_due());
  finding.call(1, true);
  EXPECT_TRUE(finding.finder.is_due());
  finding.finder.turn();
  EXPECT_EQ(finding.finder.candidates().size(), 1u);
}

TEST(TraceFinder, WaitsForNothingAndGivesLateOnesMoreTime) {
  Finding finding;
  const auto go_on = [&] {
    finding.call(1, false);
    finding.turn_if_due();
  };
  while (finding.finder.now() < 1000) go_on();  // and nobody mines
  EXPECT_EQ(finding.finder.counters().late, 1u);
  EXPECT_EQ(finding.miners.hurried, 1);
  EXPECT_EQ(finding.finder.counters().mined_calls, 8u);
  EXPECT_TRUE(finding.finder.candidates().empty());
  // Once it is there it is taken in soon, ...
  finding.miners.mine();
  while (finding.finder.candidates().empty()) go_on();
  EXPECT_LE(finding.finder.now(), 1002u);
  // ... and the next is due after twice a quarter of what is mined.
  while (finding.finder.counters().mined == 1) go_on();
  finding.miners.mine();
  const std::uint64_t mined = finding.finder.counters().mined_calls - 8;
  for (std::uint64_t left = std::max<std::uint64_t>(1, mined / 4) * 2; left > 0; --left) {
    EXPECT_FALSE(finding.finder.is_due());
    finding.call(1, false);
  }
  EXPECT_TRUE(finding.finder.is_due());
}

TEST(TraceFinder, MinesAloneWhatNobodyHasBegun) {
  FinderOptions options = kSmall;
  options.alone = 64;
  Finding finding(options);
  const auto go_on = [&] {
    finding.call(1, false);  // nobody mines
    finding.turn_if_due();
  };
  while (finding.finder.candidates().empty()) go_on();
  EXPECT_LE(finding.finder.now(), 10u);
  EXPECT_EQ(finding.finder.counters().late, 0u);
  EXPECT_EQ(finding.miners.hurried, 0);
  // More than it would mine alone is late.
  while (finding.finder.counters().late == 0) {
    finding.miners.forget();
    go_on();
  }
  EXPECT_GE(finding.finder.now(), 128u);
}

TEST(TraceFinder, TimeForLateOnesIsBounded) {
  Finding finding;
  // Each of many results comes in the moment after it was due.
  for (int call = 0; call < 200'000; ++call) {
    const std::uint64_t late = finding.finder.counters().late;
    finding.finder.add(1 + static_cast<Token>(call % 5));
    if (finding.finder.is_due()) finding.finder.turn();
    if (finding.finder.counters().late != late) finding.miners.mine();
  }
  EXPECT_GE(finding.finder.counters().late, 4u);
  // 8 times a quarter of 256.
  const std::uint64_t mined = finding.finder.counters().mined;
  while (finding.finder.counters().mined == mined) {
    finding.miners.mine();
    finding.call(1, true);
    finding.turn_if_due();
  }
  finding.miners.mine();
  int calls = 0;
  for (; !finding.finder.is_due(); ++calls) finding.call(1, true);
  EXPECT_LE(calls, 8 * 256 / 4);
}

TEST(TraceFinder, CallsThatCannotBeTracedAreNoRepeats) {
  Finding finding;
  for (int i = 0; i < 2000; ++i) {
    finding.finder.add_unique();
    finding.miners.mine();
    finding.turn_if_due();
  }
  EXPECT_GE(finding.finder.counters().mined, 5u);
  EXPECT_EQ(finding.finder.counters().candidates, 0u);
  EXPECT_EQ(finding.finder.counters().analysed, 2000u);
}

TEST(TraceFinder, NoRepeatReachesAcrossACallThatCannotBeTraced) {
  Finding finding;
  for (int round = 0; round < 200; ++round) {
    for (Token token = 1; token <= 5; ++token) finding.call(token, true);
    finding.finder.add_unique();
    finding.turn_if_due();
  }
  const Candidates& candidates = finding.finder.candidates();
  auto at = candidates.begin(1);
  for (Token token = 2; token <= 5; ++token) at = Candidates::next(at, token);
  ASSERT_NE(Candidates::ending(at), nullptr);
  EXPECT_EQ(Candidates::ending(at)->repeat.period, 0u);
  for (Token token = 1; token <= 5; ++token) EXPECT_FALSE(Candidates::next(at, token));
}

TEST(TraceFinder, CountsWhatBecameOfCalls) {
  Finding finding;
  const std::vector<Token> replay(10, 7);
  finding.finder.add(1);
  finding.finder.add_replayed(replay, std::vector<Work>(10, 1));
  finding.finder.add_replayed({}, {});
  finding.finder.was_wrong();
  const AutotraceCounters counters = finding.finder.counters();
  EXPECT_EQ(counters.analysed, 1u);
  EXPECT_EQ(counters.replayed, 10u);
  EXPECT_EQ(counters.wrong, 1u);
  EXPECT_EQ(finding.finder.now(), 11u);
}

/// How many calls are analysed, after a long time without anything to find, until something is mined.
std::uint64_t calls_until_mined(bool something_was_replayed) {
  Finding finding;
  const test::Stream stream = hashed("distinct", 100'000);
  for (std::size_t i = 0; i < 50'000; ++i) {
    finding.call(stream[i], true);
    finding.turn_if_due();
  }
  if (something_was_replayed)
    finding.finder.add_replayed(std::vector<Token>(100, 7), std::vector<Work>(100, 1));
  const std::uint64_t mined = finding.finder.counters().mined, from = finding.finder.now();
  for (std::size_t i = 50'000; finding.finder.counters().mined == mined; ++i) {
    finding.call(stream[i], true);
    finding.turn_if_due();
  }
  return finding.finder.now() - from;
}

TEST(TraceFinder, LooksAgainWhenReplaysAreNoMore) {
  EXPECT_LE(calls_until_mined(true), 24u);
  EXPECT_GE(calls_until_mined(false), 100u);
}

TEST(TraceFinder, LooksForMoreWhenSomethingWasOfUse) {
  Finding finding;
  // A loop that nobody replays is found once; waits grow.
  for (std::size_t i = 0; i < 50'000; ++i) {
    finding.call(1 + i % 5, true);
    finding.turn_if_due();
  }
  ASSERT_GE(finding.finder.counters().candidates, 1u);
  auto at = finding.finder.candidates().begin(1);
  const TraceCandidate* candidate = Candidates::best(at, finding.finder.now());
  ASSERT_NE(candidate, nullptr);
  finding.finder.recorded(candidate->repeat.identity, true);
  finding.finder.replayed(candidate->repeat.identity);
  EXPECT_EQ(candidate->recordings, 1u);
  EXPECT_EQ(candidate->replays, 1u);
  const std::uint64_t mined = finding.finder.counters().mined;
  for (Token token = 0; token < 8; ++token) {
    finding.call(token, true);
    finding.turn_if_due();
  }
  EXPECT_EQ(finding.finder.counters().mined, mined + 1);
  // One that has gone is only counted.
  finding.finder.recorded(12345, true);
  finding.finder.replayed(12345);
  EXPECT_EQ(finding.finder.counters().recordings, 2u);
  EXPECT_EQ(finding.finder.counters().replays, 2u);
}

TEST(TraceFinder, KeepsNoMoreThanItMay) {
  for (const std::string& stream : test::other_streams) {
    Finding finding;
    for (const Token token : hashed(stream, 100'000)) {
      finding.call(token, true);
      finding.turn_if_due();
      ASSERT_LE(finding.finder.candidates().size(), 64u) << stream;
    }
  }
}

}  // namespace
}  // namespace refrain::autotrace::autotrace_finder_test
