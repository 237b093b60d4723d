// Traces: what is replayed, when, and that nothing else changes.

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <stdexcept>
#include <vector>

#include "refrain/refrain.hpp"
#include "runtime/runtime_impl.hpp"
#include "support/settings.hpp"

namespace refrain::test::trace_test {
namespace {

constexpr Field<double> state{"state"}, flux{"flux"};

const Task add_one{"add_one", [](ReadWrite<double> x) {
                     for (auto p : x.domain()) x[p] += 1;
                   }};
const Task smooth{"smooth", [](ReadWrite<double> y, Read<double> x) {
                    for (auto p : y.domain()) y[p] += 0.5 * (x[p - 1] + x[p + 1]);
                  }};
const Task scale{"scale", [](ReadWrite<double> x, double by) {
                   for (auto p : x.domain()) x[p] *= by;
                 }};
const Task sum_of{"sum_of", [](Read<double> x) {
                    double sum = 0;
                    for (auto p : x.domain()) sum += x[p];
                    return sum;
                  }};
const Task add_up{"add_up", [](Reduce<Sum, double> into, Read<double> x) {
                    for (auto p : x.domain()) into[p] += x[p];
                  }};

std::vector<double> values(Context& ctx, const Region<1>& region, const Field<double>& field) {
  std::vector<double> found;
  const auto access = ctx.access<Read>(region[field]);
  for (auto p : access.domain()) found.push_back(access[p]);
  return found;
}

/// Runs the program with and without tracing; both must find the same, and the counters are returned.
Counters same_with_and_without(Options options,
                               const std::function<std::vector<double>(Context&)>& program) {
  std::vector<double> plain, traced;
  options.tracing = false;
  Runtime without(options);
  without.run([&](Context& ctx) { plain = program(ctx); });
  EXPECT_EQ(without.counters().recordings, 0u);
  options.tracing = true;
  Runtime with(options);
  with.run([&](Context& ctx) { traced = program(ctx); });
  EXPECT_EQ(plain, traced);
  return with.counters();
}

class Traces : public InEverySetting {};
REFRAIN_IN_EVERY_SETTING(Traces);

TEST_P(Traces, OfALoopAreReplayed) {
  const Counters counters = same_with_and_without(options(), [](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 63}, state, flux);
    const auto owned = ctx.blocks(cells, 4);
    const auto inner = ctx.interior(owned, 1);
    const auto ghost = ctx.halo(owned, 1);
    ctx.fill(cells, state, 1.0);
    ctx.fill(cells, flux, 1.0);
    for (int t = 0; t < 20; ++t)
      ctx.trace(step, [&] {
        ctx.launch(add_one, 4, owned[state]);
        ctx.launch(smooth, 4, inner[flux], ghost[state]);
      });
    return values(ctx, cells, flux);
  });
  EXPECT_LE(counters.recordings, 3u);
  EXPECT_GE(counters.replays, 17u);
  EXPECT_GE(counters.replayed_tasks, 17u * 8u);
}

TEST_P(Traces, TakeTheArgumentsOfThisLaunch) {
  const Counters counters = same_with_and_without(options(), [](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 7}, state);
    ctx.fill(cells, state, 1.0);
    std::vector<Future<double>> sums;
    for (int t = 0; t < 10; ++t)
      ctx.trace(step, [&] {
        ctx.launch(scale, cells[state], 1.0 + t);
        sums.push_back(ctx.launch(sum_of, cells[state]));
      });
    std::vector<double> found = values(ctx, cells, state);
    for (auto& sum : sums) found.push_back(sum.get());
    return found;
  });
  EXPECT_GE(counters.replays, 7u);
}

TEST_P(Traces, MayReadFuturesInside) {
  const Counters counters = same_with_and_without(options(), [](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 7}, state);
    ctx.fill(cells, state, 1.0);
    double factor = 1.5;
    for (int t = 0; t < 10; ++t)
      ctx.trace(step, [&] {
        ctx.launch(scale, cells[state], factor);
        const double sum = ctx.launch(sum_of, cells[state]).get();
        factor = sum > 100 ? 0.25 : 2.0;
        ctx.launch(add_one, cells[state]);
      });
    return values(ctx, cells, state);
  });
  EXPECT_GE(counters.replays, 7u);
}

TEST_P(Traces, MayPassFutures) {
  same_with_and_without(options(), [](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 7}, state, flux);
    ctx.fill(cells, state, 1.0);
    ctx.fill(cells, flux, 1.0);
    Future<double> last = ctx.launch(sum_of, cells[flux]);
    for (int t = 0; t < 10; ++t)
      ctx.trace(step, [&] {
        ctx.launch(scale, cells[state], last);  // of the round before
        last = ctx.launch(sum_of, cells[state]);
        ctx.launch(scale, cells[flux], last);
        ctx.launch(scale, cells[state], 0.125);
      });
    std::vector<double> found = values(ctx, cells, state);
    found.push_back(last.get());
    return found;
  });
}

TEST_P(Traces, MayFillCopyAndReduce) {
  const Counters counters = same_with_and_without(options(), [](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 31}, state, flux);
    const auto owned = ctx.blocks(cells, 4);
    const auto ghost = ctx.halo(owned, 2);
    ctx.fill(cells, state, 1.0);
    for (int t = 0; t < 12; ++t)
      ctx.trace(step, [&] {
        ctx.fill(cells, flux, 0.5 * t);
        ctx.launch(add_up, 4, ghost[flux], ghost[state]);
        ctx.copy(cells[flux], cells[state]);
        ctx.launch(add_one, 4, owned[state]);
      });
    return values(ctx, cells, state);
  });
  EXPECT_GE(counters.replays, 8u);
}

// The groups of folds are begun and read in the trace; go on from one replay to the next; or are joined by
// those of an earlier part of the program and of a later one.
TEST_P(Traces, MayReduceInAnyOrder) {
  constexpr Field<Coord> count{"count"}, sum{"sum"};
  const Task add{"add", [](Reduce<Sum, Coord> into, Coord by) {
                   for (auto p : into.domain()) into[p] += by;
                 }};
  const Task raise{"raise", [](Reduce<Max, Coord> into, Coord to) {
                     for (auto p : into.domain()) into.reduce(p, to);
                   }};
  const Task take{"take", [](ReadWrite<Coord> to, Read<Coord> from) {
                    for (auto p : to.domain()) to[p] = 3 * to[p] % 1000 + from[p];
                  }};
  const Counters counters = same_with_and_without(options(), [&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 31}, count, sum);
    const auto owned = ctx.blocks(cells, 4);
    const auto ghost = ctx.halo(owned, 2);
    ctx.launch(add, 4, ghost[count].relaxed(), Coord{100});
    for (int shape = 0; shape < 3; ++shape) {
      for (int t = 0; t < 8; ++t)
        ctx.trace(step, [&] {
          ctx.launch(add, 4, ghost[count].relaxed(), Coord{t});
          ctx.launch(add, cells[count].relaxed(), Coord{7});
          if (shape > 0) ctx.launch(raise, 4, ghost[count].relaxed(), Coord{50 * t});
          if (shape > 1) ctx.launch(take, 4, owned[sum], owned[count]);
          if (shape > 1) ctx.launch(add, 4, ghost[count].relaxed(), Coord{1});
        });
      ctx.launch(add, 4, ghost[count].relaxed(), Coord{10});
    }
    std::vector<double> found;
    for (const auto& field : {count, sum}) {
      const auto access = ctx.access<Read>(cells[field]);
      for (auto p : access.domain()) found.push_back(static_cast<double>(access[p]));
    }
    return found;
  });
  EXPECT_GE(counters.replays, 18u);
}

TEST_P(Traces, MayReduceTheValuesOfAGroup) {
  const Counters counters = same_with_and_without(options(), [](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 31}, state);
    const auto owned = ctx.blocks(cells, 4);
    ctx.fill(cells, state, 1.0);
    auto sums = ctx.launch(sum_of, 4, owned[state]);
    std::vector<Future<double>> totals;
    for (int t = 0; t < 12; ++t)
      ctx.trace(step, [&] {
        totals.push_back(ctx.reduce(sums, Max{}));  // of the round before
        ctx.launch(add_one, 4, owned[state]);
        sums = ctx.launch(sum_of, 4, owned[state]);
        const auto total = ctx.reduce(sums, Sum{});
        totals.push_back(total);
        ctx.launch(scale, 4, owned[state], total);
        ctx.launch(scale, 4, owned[state], 1.0 / (32 + 48 * t));
      });
    std::vector<double> found = values(ctx, cells, state);
    for (auto& total : totals) found.push_back(total.get());
    return found;
  });
  EXPECT_GE(counters.replays, 9u);
}

TEST_P(Traces, MayMakeAndDestroyPartitions) {
  const Counters counters = same_with_and_without(options(), [](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 31}, state, flux);
    const auto owned = ctx.blocks(cells, 4);
    ctx.fill(cells, state, 1.0);
    ctx.fill(cells, flux, 1.0);
    for (int t = 0; t < 12; ++t)
      ctx.trace(step, [&] {
        const auto inner = ctx.interior(owned, 1);
        const auto ghost = ctx.halo(owned, 1);
        ctx.launch(smooth, 4, inner[flux], ghost[state]);
        ctx.destroy(ghost);
        ctx.launch(add_one, 4, owned[state]);
        ctx.destroy(inner);
      });
    return values(ctx, cells, flux);
  });
  EXPECT_GE(counters.replays, 9u);
}

TEST_P(Traces, GoOnAfterLaunchesOnOtherData) {
  const Counters counters = same_with_and_without(options(), [](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 31}, state), others = ctx.region(Rect1{0, 31}, state);
    const auto owned = ctx.blocks(cells, 4), apart = ctx.blocks(others, 2);
    ctx.fill(cells, state, 1.0);
    ctx.fill(others, state, 2.0);
    double found = 0;
    for (int t = 0; t < 20; ++t) {
      ctx.trace(step, [&] {
        ctx.launch(add_one, 4, owned[state]);
        ctx.launch(scale, 4, owned[state], 1.25);
      });
      ctx.launch(add_one, 2, apart[state]);
      found += ctx.launch(sum_of, others[state]).get();
    }
    std::vector<double> all = values(ctx, cells, state);
    all.push_back(found);
    return all;
  });
  EXPECT_GE(counters.replays, 17u);
  EXPECT_LE(counters.catch_ups, 3u);
}

TEST_P(Traces, MayEndAnywhereAndChange) {
  for (int cut = 0; cut <= 4; ++cut) {
    same_with_and_without(options(), [cut](Context& ctx) {
      const Trace step{"step"};
      const auto cells = ctx.region(Rect1{0, 31}, state, flux);
      const auto owned = ctx.blocks(cells, 4);
      const auto ghost = ctx.halo(owned, 1);
      const auto inner = ctx.interior(owned, 1);
      ctx.fill(cells, state, 1.0);
      ctx.fill(cells, flux, 1.0);
      for (int t = 0; t < 12; ++t) {
        ctx.begin_trace(step);
        for (int i = 0; i < 4; ++i) {
          if (t % 5 == 4 && i == cut) {
            if (t % 2 == 0) break;
            ctx.launch(scale, 4, owned[flux], 0.5);
          }
          if (i % 2 == 0) ctx.launch(add_one, 4, owned[state]);
          else ctx.launch(smooth, 4, inner[flux], ghost[state]);
        }
        ctx.end_trace(step);
      }
      return values(ctx, cells, flux);
    });
  }
}

TEST_P(Traces, GoOnAfterATaskThatThrows) {
  struct Count {
    int* alive;
    explicit Count(int* counter) : alive(counter) { ++*alive; }
    Count(const Count& other) : alive(other.alive) { ++*alive; }
    ~Count() { --*alive; }
    Count& operator=(const Count&) = delete;
  };
  const Task may_throw{"may_throw", [](ReadWrite<double> x, int t) {
                         if (t == 5) throw std::runtime_error("five");
                         for (auto p : x.domain()) x[p] += t;
                       }};
  Runtime runtime(options());
  std::vector<double> left, right;
  runtime.run([&](Context& ctx) {
    const Trace step{"step"};
    const auto a = ctx.region(Rect1{0, 3}, state), b = ctx.region(Rect1{0, 3}, state);
    ctx.fill(a, state, 0.0);
    ctx.fill(b, state, 0.0);
    for (int t = 0; t < 10; ++t) {
      ctx.trace(step, [&] {
        ctx.launch(may_throw, a[state], t);
        ctx.launch(may_throw, b[state], t == 5 ? 0 : t);
        ctx.launch(add_one, a[state]);
      });
    }
    EXPECT_THROW(ctx.fence(), TaskFailed);
    right = values(ctx, b, state);
    EXPECT_THROW(values(ctx, a, state), TaskFailed);
    ctx.fill(a, state, 1.0);
    for (int t = 0; t < 3; ++t)
      ctx.trace(step, [&] {
        ctx.launch(may_throw, a[state], t);
        ctx.launch(may_throw, b[state], t);
        ctx.launch(add_one, a[state]);
      });
    left = values(ctx, a, state);
  });
  EXPECT_EQ(right, std::vector<double>(4, 40.0));
  EXPECT_EQ(left, std::vector<double>(4, 7.0));
}

// Without values a body is called as it is, in a loop where replays run in order.
TEST_P(Traces, StopBehindABodyWithoutValuesThatThrows) {
  static std::atomic<int> bodies;
  const Task refuse_five{"refuse_five", [](ReadWrite<double> x) {
                           ++bodies;
                           if (x[0] == 5) throw std::runtime_error("five");
                         }};
  const Task count_up{"count_up", [](ReadWrite<double> x) {
                        ++bodies;
                        x[0] += 1;
                      }};
  bodies = 0;
  Runtime runtime(options());
  double other = 0;
  runtime.run([&](Context& ctx) {
    const Trace step{"step"};
    const auto a = ctx.region(Rect1{0, 0}, state), b = ctx.region(Rect1{0, 0}, state);
    ctx.fill(a, state, 0.0);
    ctx.fill(b, state, 10.0);
    for (int t = 0; t < 10; ++t)
      ctx.trace(step, [&] {
        ctx.launch(refuse_five, a[state]);
        ctx.launch(count_up, b[state]);
        ctx.launch(count_up, a[state]);
      });
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { ctx.fence(); }), {"refuse_five", "five"}));
    other = values(ctx, b, state).front();
    EXPECT_THROW(values(ctx, a, state), TaskFailed);
  });
  EXPECT_EQ(bodies, 10 + 5 * 2 + 1) << "of a, none after the one that threw";
  EXPECT_EQ(other, 20.0);
}

TEST_P(Traces, PassOnFailuresThroughReducedValues) {
  const Task odd{"odd", [](Read<double> x, int t) {
                   if (t == 4 && x.domain().bounds().lo[0] > 0) throw std::runtime_error("four");
                   return double(t);
                 }};
  Runtime runtime(options());
  int failed = 0;
  double sum = 0;
  runtime.run([&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 7}, state);
    const auto owned = ctx.blocks(cells, 2);
    std::vector<Future<double>> totals;
    for (int t = 0; t < 8; ++t)
      ctx.trace(step,
                [&] { totals.push_back(ctx.reduce(ctx.launch(odd, 2, owned[state], t), Sum{})); });
    for (auto& total : totals) try {
        sum += total.get();
      } catch (const TaskFailed& error) {
        ++failed;
        EXPECT_TRUE(mentions(error.what(), {"'odd' launched at", "four"}));
      }
  });
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(sum, 2.0 * (0 + 1 + 2 + 3 + 5 + 6 + 7));
  EXPECT_GE(runtime.counters().replays, 5u);
}

struct Picky {
  static constexpr std::string_view name = "picky";
  template <class T>
  static constexpr T identity() {
    return T{0};
  }
  template <class T>
  static T fold(T a, T b) {
    if (a > 5 && b == 5) throw std::runtime_error("five");
    return a + b;
  }
};

TEST_P(Traces, NameTheTaskWhoseFoldThrows) {
  const Task give{"give", [](Reduce<Picky, double> x, double t) { x.reduce(0, t); }};
  Runtime runtime(options());
  runtime.run([&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 3}, state);
    for (int t = 0; t < 6; ++t) ctx.trace(step, [&] { ctx.launch(give, cells[state], double(t)); });
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { ctx.fence(); }),
                         {"'give' launched at", "argument 0", "folding", "five"}));
  });
  EXPECT_GE(runtime.counters().replays, 3u);
}

// Rounds that wait for an access that the program holds open are in flight up to the window, as launches are.
TEST_P(Traces, MayWaitForAnAccessThatIsHeld) {
  Options chosen = options();
  chosen.window = 8192;
  const Counters counters = same_with_and_without(chosen, [](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 7}, state);
    ctx.fill(cells, state, 0.0);
    const auto rounds = [&](int count) {
      for (int t = 0; t < count; ++t)
        ctx.trace(step, [&] {
          ctx.launch(add_one, cells[state]);
          ctx.launch(scale, cells[state], 0.5);
        });
    };
    rounds(5);
    std::vector<double> seen;
    {
      const auto held = ctx.access<Read>(cells[state]);
      rounds(100);
      for (auto p : held.domain()) seen.push_back(held[p]);
    }
    for (const double value : values(ctx, cells, state)) seen.push_back(value);
    return seen;
  });
  EXPECT_GE(counters.replays, 100u);
}

// Of each round only one launch waits for the access. All are in the window, although whole rounds are counted.
TEST_P(Traces, OfWhichFewLaunchesWaitForAnAccessThatIsHeld) {
  Options chosen = options();
  chosen.window = 100;
  const Counters counters = same_with_and_without(chosen, [](Context& ctx) {
    const Trace steps[] = {Trace{"one"}, Trace{"two"}, Trace{"three"}, Trace{"four"}};
    const auto cells = ctx.region(Rect1{0, 7}, state, flux);
    ctx.fill(cells, state, 0.0);
    ctx.fill(cells, flux, 0.0);
    const auto round = [&](int number) {
      ctx.trace(steps[number], [&] {
        ctx.launch(scale, cells[state], 1.0 + number);
        for (int i = 0; i < 9; ++i) ctx.launch(add_one, cells[flux]);
      });
    };
    const int order[] = {0, 1, 2, 3, 1, 0, 3, 2, 2, 0, 1, 3, 3, 2, 1, 0};
    for (const int number : order) round(number);
    std::vector<double> seen;
    {
      const auto held = ctx.access<Read>(cells[state]);
      for (const int number : order) round(number);
      for (auto p : held.domain()) seen.push_back(held[p]);
    }
    for (const double value : values(ctx, cells, state)) seen.push_back(value);
    for (const double value : values(ctx, cells, flux)) seen.push_back(value);
    return seen;
  });
  EXPECT_GE(counters.replays, 16u);
}

// A copy that has nothing to do lends nothing, replayed or not: the parent goes on reading.
TEST_P(Traces, LendNothingToCopiesOfNothing) {
  const Task parent{"parent", [](Context& ctx, ReadWrite<double> x) {
                      const Trace copying{"copying"};
                      const auto cells = x.region();
                      for (int t = 0; t < 4; ++t) {
                        ctx.trace(copying, [&] { ctx.copy(cells[state], cells[state]); });
                        x[0] += 1;
                      }
                    }};
  run_checked([&](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 3}, state);
    ctx.fill(cells, state, 1.0);
    ctx.launch(parent, cells[state]);
    EXPECT_EQ(ctx.access<Read>(cells[state])[0], 5.0);
  });
}

// A body that uses the context of its launcher is told so, also where the launching thread runs it in a replay.
TEST(TraceReplays, AreNotDisturbedByTheirBodies) {
  Options options;
  options.workers = 0;
  options.check = false;
  Context* outer = nullptr;
  bool capture = false;
  const Task evil{"evil", [&](ReadWrite<double> x) {
                    if (capture) outer->launch(add_one, x.region()[state]);
                    x[0] += 1;
                  }};
  EXPECT_TRUE(mentions(error_of<TaskFailed>([&] {
                         Runtime(options).run([&](Context& ctx) {
                           outer = &ctx;
                           const Trace trace{"trace"};
                           const auto cells = ctx.region(Rect1{0, 3}, state);
                           ctx.fill(cells, state, 0.0);
                           for (int t = 0; t < 10; ++t) {
                             capture = t == 8;
                             ctx.trace(trace, [&] { ctx.launch(evil, cells[state]); });
                           }
                         });
                       }),
                       {"task 'evil'", "does not capture the one of its launcher"}));
}

// A program inside a program, on one thread, that replays in the outer one's context.
TEST(TraceReplays, OfAProgramWithinWhichAnotherRuns) {
  Options options;
  options.workers = 0;
  options.check = false;  // which refuses it
  Runtime(options).run([&](Context& ctx) {
    const Trace trace{"trace"};
    const auto cells = ctx.region(Rect1{0, 3}, state);
    ctx.fill(cells, state, 0.0);
    Runtime(options).run([&](Context&) {
      for (int t = 0; t < 10; ++t) ctx.trace(trace, [&] { ctx.launch(add_one, cells[state]); });
    });
    EXPECT_EQ(ctx.access<Read>(cells[state])[0], 10.0);
  });
}

TEST_P(Traces, ThatAreLongerThanTheLimitAreCut) {
  Options cut = options();
  cut.trace_length = 3;
  const Counters counters = same_with_and_without(cut, [](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 7}, state);
    ctx.launch(scale, cells[state], 1.0);
    for (int t = 0; t < 6; ++t)
      ctx.trace(step, [&] {
        for (int i = 0; i < 10; ++i) ctx.launch(scale, cells[state], 1.0 + i);
      });
    return values(ctx, cells, state);
  });
  EXPECT_EQ(counters.recordings, 4u);  // of 3, 3, 3 and 1
  EXPECT_EQ(counters.replays, 5u * 4u);
  EXPECT_EQ(counters.replayed_tasks, 5u * 10u);
}

// What a chain is of stays while it is open, also between its replays.
TEST_P(Traces, GoOnWithoutRoomForRecordings) {
  for (const std::size_t limit : {1, 1500, 6000}) {
    Options bounded = options();
    bounded.trace_memory = limit;
    same_with_and_without(bounded, [](Context& ctx) {
      const Trace step{"step"}, other{"other"};
      const auto cells = ctx.region(Rect1{0, 7}, state, flux);
      ctx.fill(cells, state, 1.0);
      ctx.fill(cells, flux, 1.0);
      for (int t = 0; t < 30; ++t) {
        ctx.trace(step, [&] {
          ctx.launch(add_one, cells[state]);
          ctx.launch(add_one, cells[state]);
        });
        if (t >= 10)  // a round
          ctx.trace(other, [&] { ctx.launch(scale, cells[flux], 0.5); });
        if (t % 7 == 6) ctx.launch(scale, cells[state], 0.5);
      }
      return values(ctx, cells, state);
    });
  }
}

// Recordings grow when they are replayed, by what each replay in flight has of its own.
TEST_P(Traces, TakeNoMoreMemoryThanTheyMay) {
  const auto most_bytes = [&](std::size_t limit) {
    Options bounded = options();
    bounded.trace_memory = limit;
    Runtime runtime(bounded);
    std::vector<double> found;
    runtime.run([&](Context& ctx) {
      std::deque<Trace> names;
      for (int i = 0; i < 24; ++i) names.emplace_back("step");
      const auto cells = ctx.region(Rect1{0, 7}, state);
      ctx.fill(cells, state, 1.0);
      for (int round = 0; round < 3; ++round)
        for (const Trace& name : names) {
          for (int t = 0; t < 4; ++t)
            ctx.trace(name, [&] {
              for (int i = 0; i < 5; ++i) ctx.launch(scale, cells[state], 1.25 - 0.1 * i);
            });
          ctx.fence();
        }
      found = values(ctx, cells, state);
    });
    EXPECT_GE(runtime.counters().replays, 24u * 3u);
    return std::pair(runtime.impl().totals().traces.most_bytes, found);
  };
  const auto [all, expected] = most_bytes(std::size_t{1} << 30);
  const auto [most, found] = most_bytes(all / 6);
  EXPECT_LE(most, all / 6);
  EXPECT_GE(most, all / 12) << "less is kept than there is room for";
  EXPECT_EQ(found, expected);
}

TEST(TraceMarks, AreChecked) {
  Options options;
  options.workers = 0;
  Runtime runtime(options);
  runtime.run([](Context& ctx) {
    const Trace one{"one"}, two{"two"};
    EXPECT_TRUE(mentions(error_of<UsageError>([&] { ctx.end_trace(one); }),
                         {"end_trace('one')", "trace_test.cpp", "no trace has been begun"}));
    ctx.begin_trace(one);
    EXPECT_TRUE(mentions(error_of<UsageError>([&] { ctx.begin_trace(two); }),
                         {"begin_trace('two')", "'one'", "begun at", "trace_test.cpp", "nest"}));
    EXPECT_TRUE(mentions(error_of<UsageError>([&] { ctx.end_trace(two); }),
                         {"end_trace('two')", "'one'", "begun at", "trace_test.cpp"}));
    ctx.end_trace(one);
  });
}

}  // namespace
}  // namespace refrain::test::trace_test
