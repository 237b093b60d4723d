// Times become the delays of a grammar while it changes: what is exact, and how far the rest is from the paper's replay
// of all times at the end.

#include "oracle/timed_reduction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "oracle/reference.hpp"
#include "oracle/support/random_events.hpp"
#include "oracle/support/replayed_times.hpp"
#include "support/random.hpp"
#include "support/test_budget.hpp"

namespace refrain::oracle::timed_reduction_test {
namespace {

using test::Random;
using test::Times;
using test::TimesByContext;
using Doubles = std::vector<double>;

/// Whole numbers, so that sums are exact.
Doubles random_times(Random& random, std::size_t size) {
  Doubles times(size);
  std::ranges::generate(times, [&] { return static_cast<double>(random.below(1000)); });
  return times;
}

TimesByContext by_context(const TimedGrammar& timed) {
  TimesByContext all;
  for (const auto& [context, sum, count] : timed.delays) {
    Times& same = all[context];
    same.sum += sum;
    same.count += count;
  }
  return all;
}

Times total(const TimedGrammar& timed) {
  Times all;
  for (const auto& [context, sum, count] : timed.delays) {
    all.sum += sum;
    all.count += count;
  }
  return all;
}

void add(TimedReduction& reduction, std::span<const std::uint32_t> events,
         std::span<const double> times) {
  for (std::size_t i = 0; i < events.size(); ++i) reduction.add(events[i], times[i]);
}

/// How far the means are from those of the replay, over all events, by the mean time.
double error(const TimedGrammar& timed, std::span<const double> times) {
  const Reference reference(timed.grammar);
  const Delays delays(reference, timed.delays);
  std::vector<Delays::Recorded> exact;
  for (const auto& [context, all] : test::replayed(timed.grammar, times, 2))
    exact.push_back({context, all.sum, all.count});
  const Delays replayed(reference, exact);
  double off = 0, all = 0;
  std::size_t event = 0;
  for (const Delays::Context& context : test::contexts(timed.grammar, 2)) {
    off += std::abs(delays.mean(context) - replayed.mean(context));
    all += times[event++];
  }
  return all == 0 ? 0 : off / all;
}

// --- what is exact

TEST(TimedReduction, OfAShortRunHasTheReplaysTimes) {
  for (test::TestBudget budget{2000, 50}; budget.more(); budget.next()) {
    Random random(budget.seed());
    const Events events = random_events(random);
    const Doubles times = random_times(random, events.size());
    const auto enclosing = static_cast<unsigned>(random.between(0, 2));
    TimedReduction reduction(enclosing);
    add(reduction, events, times);
    const TimedGrammar timed = reduction.grammar();
    ASSERT_TRUE(by_context(timed) == test::replayed(timed.grammar, times, enclosing))
        << "seed " << budget.seed();
  }
}

TEST(TimedReduction, KeepsEachTimeInAContextOfTheGrammar) {
  for (test::TestBudget budget{2000, 30}; budget.more(); budget.next()) {
    Random random(budget.seed());
    const Events events = random_events(random);
    const Doubles times = random_times(random, events.size());
    const auto enclosing = static_cast<unsigned>(random.between(0, 2));
    TimedReduction reduction(enclosing, static_cast<std::size_t>(random.between(1, 40)));
    Reduction untimed;
    const int asked = random.between(1, 100);  // in percent
    Times expected;
    for (std::size_t i = 0; i < events.size(); ++i) {
      reduction.add(events[i], times[i]);
      untimed.add(events[i]);
      if (i > 0) {
        expected.sum += times[i];
        ++expected.count;
      }
      if (i + 1 < events.size() && !random.percent(asked)) continue;
      const TimedGrammar timed = reduction.grammar();
      ASSERT_EQ(timed.grammar, untimed.grammar()) << "seed " << budget.seed();
      ASSERT_EQ(total(timed), expected) << "seed " << budget.seed();
      const Reference reference(timed.grammar);
      ASSERT_NO_THROW(Delays(reference, timed.delays)) << "seed " << budget.seed();
      for (const auto& [context, sum, count] : timed.delays) {
        ASSERT_TRUE(enclosing > 0 || context.around == Delays::kUnknown);
        ASSERT_TRUE(enclosing > 1 || context.outermost == Delays::kUnknown);
      }
    }
  }
}

TEST(TimedReduction, OfOneEventOverAndOver) {
  TimedReduction reduction(2, 8);
  for (int i = 0; i < 1000; ++i) reduction.add(7, i == 0 ? 5 : 3);
  const TimesByContext expected{{{.position = 0, .again = true}, {3 * 999, 999}}};
  EXPECT_TRUE(by_context(reduction.grammar()) == expected);
}

TEST(TimedReduction, MemoryDoesNotGrowWithTheRun) {
  TimedReduction reduction;
  const auto run = [&](int iterations) {
    for (int i = 0; i < iterations; ++i) {
      for (int j = 0; j < 20; ++j) {
        for (std::uint32_t event = 0; event < 50; ++event) reduction.add(event, 1);
        reduction.add(50, 2);
      }
      reduction.add(51, 3);
    }
  };
  run(50);
  const std::size_t bytes = reduction.bytes();
  run(500);
  EXPECT_LE(reduction.bytes(), bytes + bytes / 10);
}

// --- what is near

/// A program of loops that always does the same.
Events regular_program(Random& random, std::size_t size) {
  std::uint32_t next = 0;
  const auto block = [&] {
    Events events(static_cast<std::size_t>(random.between(1, 12)));
    std::ranges::generate(events, [&] { return next++; });
    return events;
  };
  const auto loop = [&](const Events& before, const Events& body) {
    Events events = before;
    for (int i = random.between(2, 9); i > 0; --i)
      events.insert(events.end(), body.begin(), body.end());
    return events;
  };
  Events iteration = block();
  for (int i = random.between(0, 2); i > 0; --i) {
    Events body = loop(block(), block());
    if (random.percent(50)) body = loop(body, block());
    iteration = loop(iteration, body);
  }
  Events events = block();
  while (events.size() < size) events.insert(events.end(), iteration.begin(), iteration.end());
  return events;
}

TEST(TimedReduction, OfARegularProgramIsTheReplays) {
  for (test::TestBudget budget{200, 20}; budget.more(); budget.next()) {
    Random random(budget.seed());
    const Events events = regular_program(random, 20'000);
    Reduction untimed;
    for (const std::uint32_t event : events) untimed.add(event);
    // Where an event is in the grammar at the end says how long it takes.
    std::map<Delays::Context, double> of_context;
    Doubles times;
    for (const Delays::Context& context : test::contexts(untimed.grammar(), 2)) {
      const int time = random.between(1, 1000);
      times.push_back(of_context.try_emplace(context, time).first->second);
    }
    TimedReduction reduction(2, static_cast<std::size_t>(random.between(100, 1000)));
    add(reduction, events, times);
    ASSERT_LT(error(reduction.grammar(), times), 0.001) << "seed " << budget.seed();
  }
}

// With far fewer times than would be kept, and times that have nothing to do with the events.
TEST(TimedReduction, OfAnyStreamIsNearTheReplays) {
  double errors = 0, streams = 0;
  for (test::TestBudget budget{2000, 50}; budget.more(); budget.next()) {
    Random random(budget.seed());
    const Events events = random_events(random);
    const Doubles times = random_times(random, events.size());
    TimedReduction reduction(2, static_cast<std::size_t>(random.between(1, 40)));
    add(reduction, events, times);
    const double off = error(reduction.grammar(), times);
    ASSERT_LT(off, 0.5) << "seed " << budget.seed();
    errors += off;
    ++streams;
  }
  EXPECT_LT(errors / streams, 0.05);
}

}  // namespace
}  // namespace refrain::oracle::timed_reduction_test
