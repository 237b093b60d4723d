// A run whose loops go round as often as they like is predicted as well as one that does what the reference did, once
// it has shown how often.

#include "oracle/own_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "oracle/tracker.hpp"
#include "support/random.hpp"
#include "support/test_budget.hpp"

namespace refrain::oracle::own_counts_test {
namespace {

using test::Random;
using test::TestBudget;
using Events = std::vector<std::uint32_t>;
using Rules = std::vector<std::vector<Use>>;

Events unfolded(const Grammar& grammar) {
  Events events;
  grammar.unfold([&](std::uint32_t event) { events.push_back(event); });
  return events;
}

constexpr std::uint32_t kBegin = 0, kInner = 1, kEnd = 2, kOver = 3;
/// A loop in a loop.
Grammar nest(std::uint64_t outer, std::uint64_t inner) {
  return Grammar(
      {{{Symbol::rule(1), outer}, {Symbol::event(kOver)}},
       {{Symbol::event(kBegin)}, {Symbol::event(kInner), inner}, {Symbol::event(kEnd)}}});
}
void once(Tracker& tracker, int inner) {
  tracker.track(kBegin);
  for (int i = 0; i < inner; ++i) tracker.track(kInner);
  tracker.track(kEnd);
}

TEST(OracleOwnCounts, ACountThatComesTwiceIsExpectedAgain) {
  const Reference reference(nest(10, 20));
  Tracker tracker(reference);
  tracker.start();
  once(tracker, 50);
  EXPECT_EQ(tracker.predict(22).event, kEnd);  // as it was
  once(tracker, 50);
  EXPECT_EQ(tracker.predict(22).event, kInner);
  EXPECT_EQ(tracker.predict(52).event, kEnd);
  EXPECT_EQ(tracker.next(kOver).distance, 8 * 52 + 1u);
  EXPECT_EQ(tracker.next(kOver).probability, 1);
  once(tracker, 4);
  EXPECT_EQ(tracker.predict(52).event, kEnd);
  for (int i = 0; i < 6; ++i) once(tracker, 4);  // what costs time is not done at once
  EXPECT_EQ(tracker.predict(6).event, kEnd);
}

TEST(OracleOwnCounts, OneThatAlternatesIsNot) {
  const Reference reference(nest(100, 20));
  Tracker tracker(reference);
  tracker.start();
  for (int i = 0; i < 20; ++i) once(tracker, i % 2 == 0 ? 50 : 20);
  EXPECT_EQ(tracker.predict(22).event, kEnd);
  for (int i = 0; i < 20; ++i) once(tracker, i % 2 == 0 ? 50 : 30);
  EXPECT_EQ(tracker.predict(22).event, kEnd);
}

TEST(OracleOwnCounts, WhatIsNoLoopInTheReferenceIsNone) {
  const Reference reference(nest(10, 1));
  Tracker tracker(reference);
  tracker.start();
  for (int i = 0; i < 5; ++i) once(tracker, 2);
  EXPECT_EQ(tracker.predict(3).event, kEnd);
}

TEST(OracleOwnCounts, DelaysGoAlong) {
  const Reference reference(nest(10, 20));
  // A begin takes 5, an inner 2 after the one before, an end 3.
  const Delays delays(reference,
                      std::vector<Delays::Recorded>{{{2}, 50, 10}, {{3}, 400, 200}, {{4}, 30, 10}});
  Tracker tracker(reference, &delays);
  tracker.start();
  once(tracker, 50);
  once(tracker, 50);
  EXPECT_DOUBLE_EQ(tracker.predict(52).delay, 5 + 50 * 2 + 3);
  EXPECT_DOUBLE_EQ(tracker.predict(3 * 52).delay, 3 * (5 + 50 * 2 + 3));
}

TEST(OracleOwnCounts, ANewRunBeginsWithTheReferences) {
  const Reference reference(nest(10, 20));
  Tracker tracker(reference);
  tracker.start();
  once(tracker, 50);
  once(tracker, 50);
  tracker.start();
  once(tracker, 20);
  EXPECT_EQ(tracker.predict(22).event, kEnd);
}

TEST(OracleOwnCounts, OnesThatWouldBeTooLongAreLeft) {
  // 2^60 events; with the inner loop 16 times as long they would be 2^64.
  const Reference reference(nest(std::uint64_t{1} << 58, 2));
  Tracker tracker(reference);
  tracker.start();
  for (int i = 0; i < 10; ++i) once(tracker, 64);
  EXPECT_EQ(tracker.predict(1).event, kBegin);
  EXPECT_EQ(tracker.predict(4).event, kEnd);
}

/// Loops in loops, each with events of its own, so that it is always plain where a run is.
class Nests {
 public:
  explicit Nests(Random& random) : random_(random) {
    rules_.emplace_back();
    const Symbol body = loop(2);
    rules_[0] = {{body, kRounds}};
  }
  [[nodiscard]] Grammar grammar() const { return Grammar(rules_); }
  /// With other counts of all loops but the outermost. Events that are repeated are so no less often: two of them that
  /// follow each other look like one that is inserted into the other.
  [[nodiscard]] Grammar of_another_size() {
    Rules rules = rules_;
    for (std::size_t r = 1; r < rules.size(); ++r)
      for (Use& use : rules[r])
        if (use.times > 1)
          use.times = static_cast<std::uint64_t>(random_.between(use.symbol.is_rule() ? 1 : 3, 9));
    return Grammar(rules);
  }
  static constexpr std::uint64_t kRounds = 40;

 private:
  Symbol loop(int levels) {
    std::vector<Use> body;
    for (int i = random_.between(1, 4); i > 0 || body.size() < 2; --i) {
      body.push_back({Symbol::event(events_++), random_.percent(80) ? 1u : 3u});
      if (levels > 0 && random_.percent(60))
        body.push_back({loop(levels - 1), static_cast<std::uint64_t>(random_.between(2, 6))});
    }
    rules_.push_back(std::move(body));
    return Symbol::rule(static_cast<std::uint32_t>(rules_.size() - 1));
  }

  Random& random_;
  Rules rules_;
  std::uint32_t events_ = 0;
};

TEST(OracleOwnCounts, RunsOfAnyOtherSizeAreForeseenOnceTheyAreKnown) {
  for (TestBudget budget{300, 30}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    Random random(budget.seed());
    Nests nests(random);
    const Reference reference(nests.grammar());
    const Events run = unfolded(nests.of_another_size());
    Settings settings;
    settings.limits.goes_on = false;  // its end is that of the reference
    Tracker tracker(reference, nullptr, settings);
    tracker.start();
    for (std::size_t at = 0; at < run.size(); ++at) {
      tracker.track(run[at]);
      // By then all counts have come twice, and have been taken over.
      if (at < run.size() * 3 / 4) continue;
      for (const std::size_t distance : {1, 2, 3, 7, 20, 64, 300}) {
        if (at + distance >= run.size()) continue;
        ASSERT_EQ(tracker.predict(distance).event, run[at + distance]) << at << " + " << distance;
        ASSERT_EQ(tracker.predict(distance).probability, 1);
      }
      const auto next = std::find(run.begin() + std::ptrdiff_t(at) + 1, run.end(), run[at / 2]);
      const std::size_t expected = next == run.end() ? 0 : std::size_t(next - run.begin()) - at;
      ASSERT_EQ(tracker.next(run[at / 2]).distance, expected);
    }
  }
}

}  // namespace
}  // namespace refrain::oracle::own_counts_test
