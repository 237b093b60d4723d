// What each launch has of its own, in replays as elsewhere: values, futures, failures. And recordings that
// are made in all kinds of circumstances.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/cells.hpp"
#include "support/same_run.hpp"
#include "support/settings.hpp"

namespace refrain::test::trace_values_test {
namespace {

using namespace programs;

class TraceValues : public InEverySetting {};
REFRAIN_IN_EVERY_SETTING(TraceValues);

/// A value that has one owner, whoever it was moved to, and knows when that ended.
class Owned {
 public:
  struct Ledger {
    std::mutex mutex;
    std::map<int, int> ended;  ///< how often, by number
    int copy_fails = -1, move_fails = -1;
  };
  Owned(Ledger& ledger, int number) : ledger_(&ledger), number_(number) {}
  Owned(const Owned& other) : ledger_(other.ledger_), number_(other.number_ + 1000) {
    if (other.number_ == ledger_->copy_fails) throw std::runtime_error("no copy");
  }
  Owned(Owned&& other) : ledger_(other.ledger_), number_(other.number_) {  // NOLINT: it may throw
    if (number_ == ledger_->move_fails) throw std::runtime_error("no move");
    other.ledger_ = nullptr;
  }
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (ledger_ == nullptr) return;
    const std::lock_guard lock(ledger_->mutex);
    ++ledger_->ended[number_];
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  Ledger* ledger_;
  int number_;
};

/// Every value from 0 to `count` ended once (but for `missing`, which never came to be).
void expect_once(Owned::Ledger& ledger, int first, int count, int missing = -1) {
  for (int i = first; i < first + count; ++i)
    EXPECT_EQ(ledger.ended[i], i == missing ? 0 : 1) << "value " << i;
}

TEST_P(TraceValues, EndOnceWhateverBecomesOfTheLaunch) {
  Owned::Ledger ledger;
  const Task take{"take", [](ReadWrite<double> x, const Owned& value) {
                    if (value.number() % 10 == 7) throw std::runtime_error("seven");
                    x[0] += value.number();
                  }};
  Runtime runtime(options());
  runtime.run([&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 3}, a, b);
    ctx.fill(cells, a, 0.0);
    ctx.fill(cells, b, 0.0);
    for (int t = 0; t < 60; t += 3) {
      ctx.begin_trace(step);
      ctx.launch(take, cells[a], Owned(ledger, t));
      if (t % 5 != 4) {  // left early now and then
        ctx.launch(take, cells[b], Owned(ledger, t + 1));
        ctx.launch(take, cells[b], Owned(ledger, t + 2));
      } else {
        Owned(ledger, t + 1), Owned(ledger, t + 2);
      }
      ctx.end_trace(step);
      if (t % 12 == 0) ctx.fill(cells, b, 0.0);
    }
    int failures = 0;
    for (bool told = false; !told;) try {
        ctx.fence();
        told = true;
      } catch (const TaskFailed&) { ++failures; }
    EXPECT_GE(failures, 3);
  });
  expect_once(ledger, 0, 60);
  EXPECT_GE(runtime.counters().replayed_tasks, 10u);
}

TEST_P(TraceValues, EndOnceWhenCopyingOrMovingThrowsInAReplay) {
  for (const bool moving : {false, true}) {
    Owned::Ledger ledger;
    (moving ? ledger.move_fails : ledger.copy_fails) = 5;
    std::vector<int> seen;
    const Task take{"take", [&seen](ReadWrite<double> x, const Owned& value) {
                      x[0] += 1;
                      seen.push_back(value.number() % 1000);
                    }};
    Runtime runtime(options());
    runtime.run([&](Context& ctx) {
      const Trace step{"step"};
      const auto cells = ctx.region(Rect1{0, 3}, a, b);
      ctx.fill(cells, a, 0.0);
      ctx.fill(cells, b, 0.0);
      for (int t = 0; t < 12; ++t) {
        ctx.begin_trace(step);
        ctx.launch(add, cells[b], cells[a]);
        Owned value(ledger, t);
        if (t != 5) {
          if (moving) ctx.launch(take, cells[a], std::move(value));
          else ctx.launch(take, cells[a], value);
        } else if (moving) {
          EXPECT_TRUE(
              mentions(error_of<Error>([&] { ctx.launch(take, cells[a], std::move(value)); }),
                       {"'take'", "by-value argument", "no move"}));
        } else {
          EXPECT_TRUE(mentions(error_of<Error>([&] { ctx.launch(take, cells[a], value); }),
                               {"'take'", "by-value argument", "no copy"}));
        }
        ctx.launch(add, cells[b], cells[a]);
        ctx.end_trace(step);
      }
      EXPECT_EQ(values(ctx, cells, a)[0], 11);
    });
    EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11}));
    expect_once(ledger, 0, 12);
    if (!moving) expect_once(ledger, 1000, 12, 1005);
    EXPECT_GE(runtime.counters().replays, 7u);
    EXPECT_GE(runtime.counters().early_exits, 1u);
  }
}

TEST(TraceValuesOf, ASlowChainAreNotThoseOfAFastOne) {
  const Task number{"number", [](ReadWrite<double> x, int chain, int t) {
                      x[0] = 3 * x[0] + 7 * chain + t;
                      return chain + 2 * t;
                    }};
  int ahead = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Options options;
    options.workers = 0;
    options.schedule = seed;
    Runtime runtime(options);
    runtime.run([&](Context& ctx) {
      const Trace step{"step"};
      const auto x = ctx.region(Rect1{0, 0}, a), y = ctx.region(Rect1{0, 0}, a);
      ctx.fill(x, a, 0.0);
      ctx.fill(y, a, 0.0);
      int at[2] = {0, 0};
      const Task notice{"notice", [&at, &ahead](ReadWrite<double> z, int chain, int t) {
                          z[0] += 0;
                          EXPECT_EQ(at[chain], t);
                          at[chain] = t + 1;
                          ahead = std::max(ahead, std::abs(at[0] - at[1]));
                        }};
      std::vector<Future<int>> made;
      for (int t = 0; t < 12; ++t)
        ctx.trace(step, [&] {
          for (const int chain : {0, 1}) {
            const auto& mine = chain == 0 ? x : y;
            made.push_back(ctx.launch(number, mine[a], chain, t));
            ctx.launch(notice, mine[a], chain, t);
          }
        });
      double expected[2] = {0, 0};
      for (int t = 0; t < 12; ++t)
        for (const int chain : {0, 1}) {
          expected[chain] = 3 * expected[chain] + 7 * chain + t;
          EXPECT_EQ(made[static_cast<std::size_t>(2 * t + chain)].get(), chain + 2 * t);
        }
      EXPECT_EQ(values(ctx, x, a)[0], expected[0]);
      EXPECT_EQ(values(ctx, y, a)[0], expected[1]);
    });
    EXPECT_GE(runtime.counters().replays, 9u);
  }
  EXPECT_GE(ahead, 4) << "no schedule had several replays in flight";
}

// --- recordings --------------------------------------------------------------------------------------

TEST(Recordings, DoNotDependOnWhatWasDoneMeanwhile) {
  // Everything is complete by the time the next launch is analysed, until replays begin.
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx, 1.0);
    std::vector<Future<double>> sums;
    for (int t = 0; t < 10; ++t)
      ctx.trace(step, [&] {
        const auto done = [&] {
          if (t < 3) ctx.fence();
        };
        ctx.launch(set, cells[a], double(t));
        done();
        for (int i = 0; i < 12;
             ++i) {  // more readers than a piece remembers without being asked to
          sums.push_back(ctx.launch(sum, cells[a]));
          done();
        }
        ctx.launch(add, cells[b], cells[a]);
        done();
        ctx.launch(add, cells[a], cells[b]);
        done();
        ctx.copy(cells[a], cells[c]);
        done();
        ctx.launch(set, cells[b], double(t));
      });
    std::vector<double> found = values(ctx, cells, c);
    for (const auto& one : sums) found.push_back(one.get());
    return found;
  });
  EXPECT_GE(counters.replays, 6u);
}

TEST(Recordings, MayBeMadeWhileOthersReplay) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace one{"one"}, two{"two"};
    const auto cells = make_cells(ctx, 1.0);
    for (int t = 0; t < 16; ++t) {
      ctx.trace(one, [&] {
        ctx.launch(add, cells[b], cells[a]);
        ctx.launch(add, cells[a], cells[b]);
      });
      if (t < 4) continue;
      ctx.trace(two, [&] {
        ctx.launch(add, cells[c], cells[b]);
        ctx.launch(add, cells[b], cells[c]);
        ctx.launch(add, cells[c], cells[a]);
      });
    }
    return values(ctx, cells, c);
  });
  EXPECT_GE(counters.replays, 20u);
}

TEST(Recordings, AreMadeAgainWhereDataHasMoved) {
  const Counters counters = SameRun{}.compare([&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx, 1.0);
    for (int t = 0; t < 36; ++t) {
      if (t % 4 == 0) {
        const int where = t / 4 % 3;
        if (where == 0) ctx.launch(set, cells[a], double(t));
        else if (where == 1) ctx.launch(set_0, cells[a], double(t));
        else ctx.launch(set_1, cells[a], double(t));
      }
      ctx.trace(step, [&] {
        ctx.launch(add, cells[b], cells[a]);
        ctx.launch(add, cells[a], cells[b]);
      });
    }
    return values(ctx, cells, b);
  });
  // Of the twelve places of data, six are new; each is recorded once.
  EXPECT_LE(counters.recordings, 6u);
  EXPECT_GE(counters.replays, 30u);
}

// --- failures ----------------------------------------------------------------------------------------

TEST_P(TraceValues, WhatThrowsInAReplayStopsOnlyWhatReadsIt) {
  using Ran = std::set<std::pair<char, int>>;
  const auto program = [](Runtime& runtime) {
    Ran ran;
    std::mutex mutex;
    const auto note = [&](char who, int t) {
      const std::lock_guard lock(mutex);
      ran.emplace(who, t);
    };
    const Task work{"work", [&](ReadWrite<double> x, char who, int t) {
                      note(who, t);
                      if (who == 'p' && t % 8 == 6) throw std::runtime_error("six");
                      for (auto p : x.domain()) x[p] += t;
                    }};
    const Task join{"join", [&](ReadWrite<double> y, Read<double> x, char who, int t) {
                      note(who, t);
                      for (auto p : y.domain()) y[p] += x[p];
                    }};
    const Task reset{"reset", [](Write<double> x) {
                       for (auto p : x.domain()) x[p] = 1;
                     }};
    std::vector<double> found;
    runtime.run([&](Context& ctx) {
      const Trace step{"step"};
      const auto cells = ctx.region(Rect1{0, 3}, a, b, c);
      for (int t = 0; t < 32; ++t) {
        if (t % 8 == 0)  // good again
          for (const auto& field : {a, b, c}) ctx.launch(reset, cells[field]);
        ctx.trace(step, [&] {
          ctx.launch(work, cells[a], 'p', t);
          ctx.launch(work, cells[b], 'q', t);
          ctx.launch(join, cells[c], cells[b], 'r', t);
          ctx.launch(join, cells[c], cells[a], 's', t);
        });
        if (t % 8 != 7) continue;
        EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { ctx.fence(); }), {"'work'", "six"}));
        for (const double value : values(ctx, cells, b)) found.push_back(value);
        EXPECT_THROW(values(ctx, cells, c), TaskFailed);
      }
    });
    return std::pair(ran, found);
  };
  Options plain = options();
  plain.tracing = false;
  Runtime without(plain), with(options());
  const auto [expected, expected_values] = program(without);
  const auto [ran, found] = program(with);
  EXPECT_EQ(ran, expected);
  EXPECT_EQ(found, expected_values);
  EXPECT_TRUE(ran.contains({'q', 7}));
  EXPECT_FALSE(ran.contains({'p', 7}));
  EXPECT_FALSE(ran.contains({'r', 7}));
  EXPECT_GE(with.counters().replays, 20u);
}

// The launch has the last reference to a future that is moved into it, and may have ended before it is recorded.
TEST(TraceFutures, AreHeldWhileTheirLaunchIsRecorded) {
  constexpr Field<long> number{"number"};
  const Task make{"make", [](Read<long> x) { return x[0]; }};
  const Task use{"use", [](ReadWrite<long> x, long v) { x[0] += v + 1; }};
  const Trace all{"all"};
  Options options;
  options.workers = 0;
  long expected = 1, found = 0;
  Runtime(options).run([&](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 0}, number);
    ctx.fill(cells, number, 1L);
    for (int i = 0; i < 40; ++i) {
      ctx.trace(all, [&] {
        for (int k = 0; k < 1 + i % 7; ++k) {
          ctx.launch(use.with({.inline_if_ready = true}), cells[number],
                     ctx.launch(make.with({.inline_if_ready = true}), cells[number]));
          expected += expected + 1;
        }
      });
      if (i < 39) ctx.access<ReadWrite>(cells[number])[0] = expected = i + 3;
    }
    found = ctx.access<Read>(cells[number])[0];
  });
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace refrain::test::trace_values_test
