// Loops that nobody has marked, with all that programs do between and in their iterations. What they compute is the same
// with automatic tracing, without, and in every setting; and where it is said here, nearly all is replayed.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/autotrace_settings.hpp"
#include "support/same_run.hpp"
#include "support/settings.hpp"
#include "support/token_program.hpp"

namespace refrain::test::autotrace_loops_test {
namespace {

const Task look{"look", [](Read<std::uint64_t> x) { return x[x.domain().bounds().lo]; }};
const Task add_to{"add to", [](ReadWrite<std::uint64_t> x, std::uint64_t value) {
                    for (auto p : x.domain()) x[p] = mixed(x[p], value);
                  }};
const Task contribute{"contribute", [](Reduce<Sum, std::uint64_t> x) {
                        for (auto p : x.domain()) x[p] += 3;
                      }};

/// What an iteration works on, and what the program has seen.
struct Loop {
  Context& ctx;
  TokenData data;
  Bits seen;
  std::uint64_t value = 0;

  void launch(std::uint64_t first, std::uint64_t last) const {
    for (std::uint64_t letter = first; letter < last; ++letter) data.launch(ctx, letter);
  }
  [[nodiscard]] Future<std::uint64_t> look_at_it() const {
    return ctx.launch(look, data.cells()[bits]);
  }
};
using Iteration = std::function<void(Loop&, int)>;

constexpr int kIterations = 300;

struct Outcome {
  Bits seen;
  double share = 0;  ///< replayed of the second half
  Counters counters;
};

Outcome outcome(const Options& options, const Iteration& iteration,
                std::unique_ptr<Mapper> mapper = nullptr) {
  Outcome result;
  Runtime runtime(options);
  if (mapper != nullptr) runtime.set_mapper(std::move(mapper));
  runtime.run([&](Context& ctx) {
    Loop loop{ctx, TokenData(ctx), {}};
    Counters half;
    for (int t = 0; t < kIterations; ++t) {
      if (t == kIterations / 2) half = runtime.counters();
      iteration(loop, t);
    }
    result.share = share_replayed(half, runtime.counters());
    result.seen = loop.data.values(ctx);
    result.seen.insert(result.seen.end(), loop.seen.begin(), loop.seen.end());
  });
  result.counters = runtime.counters();
  return result;
}

class AutotraceLoops : public InEverySetting {
 protected:
  /// The same is computed in all ways; and where no result is late, so much is replayed.
  void expect_replayed(double share, const Iteration& iteration, bool every_launch = false) const {
    const auto mapper = [every_launch] { return std::make_unique<ByName>(every_launch); };
    Options plain = options();
    plain.tracing = false;
    const Outcome without = outcome(plain, iteration, mapper());
    EXPECT_EQ(without.counters.autotrace.analysed, 0u);
    const Outcome found = outcome(options(), iteration, mapper());
    EXPECT_EQ(found.seen, without.seen);
    if (found.counters.autotrace.late == 0) { EXPECT_GE(found.share, share); }
    EXPECT_TRUE(found.counters.autotrace.late == 0 || GetParam().workers > 0 || GetParam().seed);
    EXPECT_EQ(outcome(eager(options()), iteration, mapper()).seen, without.seen);
  }
};
REFRAIN_IN_EVERY_SETTING(AutotraceLoops);

TEST_P(AutotraceLoops, OfLaunchesOnly) {
  expect_replayed(0.99, [](Loop& loop, int) { loop.launch(0, 10); });
}

// The calls with a region that is new each time are never found. They move data between two traces, which therefore do
// not follow each other.
TEST(AutotraceRounds, DoNotReachAcrossCallsThatAreAnalysed) {
  constexpr Field<double> a{"a"}, b{"b"}, fresh{"fresh"};
  static const Task halve{"halve", [](ReadWrite<double> x) {
                            for (auto p : x.domain()) x[p] = x[p] / 2 + 1;
                          }};
  static const Task add{"add", [](ReadWrite<double> y, Read<double> x) {
                          for (auto p : y.domain()) y[p] += x[p];
                        }};
  static const Task copy_there{"copy_there_0",
                               on<ProcessorKind::gpu>([](Write<double> to, Read<double> from) {
                                 for (auto p : to.domain()) to[p] = from[p];
                               })};
  SameRun run;
  run.seeds = 3;
  run.change = [](Options& options) {
    options.autotrace_min_length = 4;
    options.autotrace_sample = 8;
  };
  const Counters counters = run.compare([&](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 7}, a, b);
    ctx.fill(cells, a, 0.0);
    ctx.fill(cells, b, 0.0);
    for (int t = 0; t < 60; ++t) {
      for (int i = 0; i < 17; ++i) ctx.launch(halve, cells[a]);
      const auto other = ctx.region(Rect1{0, 7}, fresh);
      ctx.launch(copy_there, other[fresh], cells[a]);
      for (int i = 0; i < 17; ++i) ctx.launch(add, cells[b], cells[a]);
      ctx.launch(add, cells[a], other[fresh]);
    }
    const auto seen = ctx.access<Read>(cells[b]);
    return std::vector<double>{seen[0], seen[7]};
  });
  EXPECT_GE(counters.replays, 20u);
}

// --- what the program waits for --------------------------------------------------------------------------

TEST_P(AutotraceLoops, WithAWaitInEveryIteration) {
  expect_replayed(0.9, [](Loop& loop, int) {
    loop.launch(0, 10);
    loop.value = loop.look_at_it().get();
    loop.seen.push_back(loop.value);
  });
}

TEST_P(AutotraceLoops, WithAWaitInEveryIterationThatDecidesAValue) {
  expect_replayed(0.9, [](Loop& loop, int) {
    loop.launch(0, 5);
    loop.ctx.launch(add_to, loop.data.cells()[bits], loop.value);
    loop.value = loop.look_at_it().get();
    loop.launch(5, 10);
  });
}

TEST_P(AutotraceLoops, WithAWaitInEveryTenthIteration) {
  expect_replayed(0.9, [](Loop& loop, int t) {
    loop.launch(0, 10);
    if (t % 10 == 9) loop.seen.push_back(loop.look_at_it().get());
  });
}

TEST_P(AutotraceLoops, WithAWaitForTheIterationBefore) {
  Future<std::uint64_t> before;
  expect_replayed(0.9, [&](Loop& loop, int t) {
    loop.launch(0, 10);
    Future<std::uint64_t> now = loop.look_at_it();
    if (t > 0) loop.seen.push_back(before.get());
    before = std::move(now);
  });
}

TEST_P(AutotraceLoops, WithAFenceInEveryIteration) {
  expect_replayed(0.9, [](Loop& loop, int) {
    loop.launch(0, 10);
    loop.ctx.fence();
  });
}

TEST_P(AutotraceLoops, WithAFenceInEveryTenthIteration) {
  expect_replayed(0.9, [](Loop& loop, int t) {
    loop.launch(0, 10);
    if (t % 10 == 9) loop.ctx.fence();
  });
}

TEST_P(AutotraceLoops, WithAHandOffInEveryTenthIteration) {
  expect_replayed(0.8, [](Loop& loop, int t) {
    loop.launch(0, 20);
    if (t % 10 == 9) loop.ctx.access<ReadWrite>(loop.data.cells()[bits])[0] += 1;
  });
}

TEST_P(AutotraceLoops, WithAHandOffInEveryIteration) {
  expect_replayed(0, [](Loop& loop, int t) {
    loop.launch(0, 20);
    const auto access = loop.ctx.access<Read>(loop.data.cells()[bits]);
    loop.seen.push_back(access[t % TokenData::kCells]);
  });
}

// --- regions and partitions --------------------------------------------------------------------------------

TEST_P(AutotraceLoops, WithTwoRegionsThatChangePlaces) {
  expect_replayed(0.95, [](Loop& loop, int t) {
    // 10 and 11 are other pieces.
    for (std::uint64_t i = 0; i < 4; ++i) {
      loop.data.launch(loop.ctx, 2 * i + static_cast<std::uint64_t>(t % 2));
      loop.data.launch(loop.ctx, 100 + i);
    }
  });
}

TEST_P(AutotraceLoops, WithRegionsThatComeAndGo) {
  expect_replayed(0, [](Loop& loop, int) {
    const auto scratch = loop.ctx.region(Rect1{0, TokenData::kCells - 1}, bits);
    loop.ctx.fill(scratch, bits, std::uint64_t{5});
    loop.ctx.launch(mix_in, scratch[bits], loop.data.cells()[bits]);
    loop.launch(0, 10);
    loop.ctx.launch(mix_in, loop.data.cells()[bits], scratch[bits]);
    loop.ctx.destroy(scratch);
  });
}

/// A region goes and another one comes, after as many iterations as the pattern says.
Iteration with_changing_region(bool marked, std::uint64_t pattern) {
  return [marked, pattern, scratch = Region<1>(), body = std::make_shared<Trace>("body")](
             Loop& loop, int t) mutable {
    if (t == 0 || mixed(static_cast<std::uint64_t>(t), pattern) % (2 + pattern) == 0) {
      if (t > 0) loop.ctx.destroy(scratch);
      scratch = loop.ctx.region(Rect1{0, TokenData::kCells - 1}, bits);
      loop.ctx.fill(scratch, bits, std::uint64_t{5});
    }
    if (marked) loop.ctx.begin_trace(*body);
    loop.ctx.launch(mix_in, scratch[bits], loop.data.cells()[bits]);
    loop.launch(0, 5);
    loop.ctx.launch(mix_in, loop.data.cells()[bits], scratch[bits]);
    if (marked) loop.ctx.end_trace(*body);
  };
}

// What goes leaves recordings behind whose replays may still run. What is decided then does not depend on whether they
// do.
TEST(AutotraceDecisions, DoNotDependOnWhenTasksRun) {
  for (const std::uint64_t pattern : {0, 1, 2, 3, 4, 5, 6})
    for (const bool marked : {false, true}) {
      SCOPED_TRACE(testing::Message() << "pattern " << pattern << ", marked " << marked);
      const auto decisions = [&](const ExecutionSetting& setting) {
        const Counters made =
            outcome(eager(setting.options()), with_changing_region(marked, pattern)).counters;
        const AutotraceCounters& found = made.autotrace;
        EXPECT_EQ(found.late, 0u);
        return std::vector<std::uint64_t>{found.replayed, found.recordings, found.replays,
                                          found.wrong,    found.candidates, made.recordings,
                                          made.replays,   made.early_exits, made.catch_ups};
      };
      const std::vector<std::uint64_t> at_once = decisions({0, 1, {}});
      EXPECT_EQ(decisions({0, 8192, {}}), at_once);
      for (const std::uint64_t seed : {1, 2, 3, 4})
        EXPECT_EQ(decisions({0, seed < 3 ? 8192U : 40U, seed}), at_once) << "seed " << seed;
    }
}

TEST_P(AutotraceLoops, WithPartitionsThatComeAndGo) {
  expect_replayed(0, [](Loop& loop, int t) {
    const auto blocks = loop.ctx.blocks(loop.data.cells(), 2 + t % 2);
    loop.ctx.launch(add_to, 2, blocks[bits], std::uint64_t{7});
    loop.launch(0, 10);
    loop.ctx.destroy(blocks);
  });
}

// --- other calls --------------------------------------------------------------------------------------------

TEST_P(AutotraceLoops, WithFillsAndCopies) {
  Region<1> other;
  expect_replayed(0.95, [&](Loop& loop, int t) {
    if (t == 0) other = loop.ctx.region(Rect1{0, TokenData::kCells - 1}, bits);
    loop.ctx.fill(other, bits, static_cast<std::uint64_t>(t));
    loop.ctx.launch(mix_in, loop.data.cells()[bits], other[bits]);
    loop.ctx.copy(loop.data.cells()[bits], other[bits]);
    loop.launch(0, 10);
    loop.ctx.launch(mix_in, loop.data.cells()[bits], other[bits]);
  });
}

TEST_P(AutotraceLoops, WithReductionsOfFutures) {
  expect_replayed(0.9, [](Loop& loop, int t) {
    const auto blocks = loop.ctx.blocks(loop.data.cells(), 4);
    loop.launch(0, 10);
    const Future<std::uint64_t> sum =
        loop.ctx.reduce(loop.ctx.launch(look, 4, blocks[bits]), Sum{});
    loop.ctx.launch(add_to, loop.data.cells()[bits], sum);
    if (t % 50 == 0) loop.seen.push_back(sum.get());
  });
}

TEST_P(AutotraceLoops, WithReductions) {
  expect_replayed(0.9, [](Loop& loop, int) {
    loop.launch(0, 10);
    loop.ctx.launch(contribute, loop.data.cells()[bits]);
    loop.ctx.launch(contribute, loop.data.cells()[bits]);
    loop.launch(10, 20);
  });
}

TEST_P(AutotraceLoops, WithCallsThatCannotBeTraced) {
  Bits memory(TokenData::kCells, 4);
  expect_replayed(0, [&](Loop& loop, int t) {
    const auto attached = loop.ctx.region(Rect1{0, TokenData::kCells - 1}, bits);
    loop.launch(0, 20);
    loop.ctx.attach(attached, bits, memory.data());
    loop.ctx.launch(mix_in, loop.data.cells()[bits], attached[bits]);
    loop.ctx.detach(attached, bits);
    if (t % 3 == 0) loop.launch(20, 40);
    loop.ctx.destroy(attached);
  });
}

// --- marks, mappers, contexts, failures ---------------------------------------------------------------------

// A mark is a call that comes never again, and what is marked is none of what is found.
TEST_P(AutotraceLoops, WithMarksInside) {
  const Trace marked{"marked"};
  const Iteration iteration = [&](Loop& loop, int) {
    loop.launch(0, 20);
    loop.ctx.trace(marked, [&] { loop.launch(20, 40); });
  };
  expect_replayed(0.8, iteration);
  const AutotraceCounters counters = outcome(options(), iteration).counters.autotrace;
  EXPECT_EQ(counters.analysed + counters.replayed, 1u + 21u * kIterations);
}

TEST_P(AutotraceLoops, ThatAreMarkedAreNotLookedAt) {
  const Trace marked{"marked"};
  const Iteration iteration = [&](Loop& loop, int) {
    loop.ctx.trace(marked, [&] { loop.launch(0, 20); });
  };
  expect_replayed(0, iteration);
  const Counters counters = outcome(options(), iteration).counters;
  EXPECT_EQ(counters.autotrace.recordings, 0u);
  EXPECT_EQ(counters.autotrace.replayed, 0u);
  EXPECT_GE(counters.replays, kIterations - 10u);
}

TEST_P(AutotraceLoops, WithAMapperThatIsAskedEachTime) {
  expect_replayed(
      0.95, [](Loop& loop, int) { loop.launch(0, 20); }, true);
}

TEST_P(AutotraceLoops, InTasks) {
  const Task parent{"parent", [](Context& ctx, ReadWrite<std::uint64_t> x) {
                      const auto halves = ctx.blocks(x.region(), 2);
                      for (int t = 0; t < 40; ++t) {
                        ctx.launch(add_to, 2, halves[bits], std::uint64_t{3});
                        ctx.launch(mix_in, halves(0)[bits], halves(1)[bits]);
                        ctx.launch(mix_in, halves(1)[bits], halves(0)[bits]);
                      }
                    }};
  expect_replayed(0, [&](Loop& loop, int t) {
    if (t % 10 == 0) {
      const auto quarters = loop.ctx.blocks(loop.data.cells(), 4);
      loop.ctx.launch(parent, 4, quarters[bits]);
      loop.ctx.destroy(quarters);
    }
    loop.launch(0, 10);
  });
}

TEST_P(AutotraceLoops, WithTasksThatFail) {
  const Task fails{"fails", [](ReadWrite<std::uint64_t> x, int t) {
                     x[x.domain().bounds().lo] += 1;
                     if (t % 100 == 99) throw std::runtime_error("no values");
                   }};
  expect_replayed(0.8, [&](Loop& loop, int t) {
    loop.launch(0, 10);
    loop.ctx.launch(fails, loop.data.cells()[bits], t);
    loop.launch(10, 20);
    const auto sum = loop.look_at_it();
    if (t % 100 != 99) return;
    try {
      (void)sum.get();
      loop.seen.push_back(0);
    } catch (const TaskFailed&) { loop.seen.push_back(1); }
    try {
      loop.ctx.fence();
    } catch (const TaskFailed&) { loop.seen.push_back(2); }
    loop.ctx.fill(loop.data.cells(), bits, static_cast<std::uint64_t>(t));
  });
}

TEST_P(AutotraceLoops, ThatEndInTheMiddleOfAReplay) {
  const Iteration throws = [](Loop& loop, int t) {
    loop.launch(0, t == kIterations - 1 ? 7 : 20);
    if (t == kIterations - 1) throw std::runtime_error("enough");
  };
  EXPECT_THROW(outcome(options(), throws), std::runtime_error);
  EXPECT_THROW(outcome(eager(options()), throws), std::runtime_error);
}

// --- operations and their order ------------------------------------------------------------------------------

class AutotraceLoopsInDetail : public testing::Test {
 protected:
  static void expect_same(const Iteration& iteration) {
    for (const bool every_launch : {false, true}) {
      SameRun same;
      same.seeds = 2;
      same.every_launch = every_launch;
      same.change = [](Options& options) { options = eager(options); };
      (void)same.compare([&](Context& ctx) {
        Loop loop{ctx, TokenData(ctx), {}};
        for (int t = 0; t < 40; ++t) iteration(loop, t);
        Bits found = loop.data.values(ctx);
        found.insert(found.end(), loop.seen.begin(), loop.seen.end());
        std::vector<double> numbers;
        for (const std::uint64_t value : found) numbers.push_back(static_cast<double>(value >> 12));
        return numbers;
      });
    }
  }
};

TEST_F(AutotraceLoopsInDetail, DataThatMoves) {
  const Task mix_on_0{
      "mix on 0", on<ProcessorKind::gpu>([](ReadWrite<std::uint64_t> to, Read<std::uint64_t> from) {
        for (auto p : to.domain()) to[p] = mixed(to[p], from[p]);
      })};
  Region<1> other;
  expect_same([&](Loop& loop, int t) {
    if (t == 0) {
      other = loop.ctx.region(Rect1{0, TokenData::kCells - 1}, bits);
      loop.ctx.fill(other, bits, std::uint64_t{9});
    }
    loop.launch(0, 4);
    loop.ctx.launch(mix_on_0, other[bits], loop.data.cells()[bits]);
    if (t % 7 == 6) loop.ctx.launch(add_to, other[bits], std::uint64_t{1});
    loop.launch(4, 8);
    if (t % 5 == 4) loop.seen.push_back(loop.look_at_it().get());
    loop.ctx.launch(mix_in, loop.data.cells()[bits], other[bits]);
  });
}

TEST_F(AutotraceLoopsInDetail, AllSortsOfCalls) {
  const Trace marked{"marked"};
  expect_same([&](Loop& loop, int t) {
    const auto scratch = loop.ctx.region(Rect1{0, TokenData::kCells - 1}, bits);
    loop.ctx.fill(scratch, bits, static_cast<std::uint64_t>(t));
    loop.ctx.launch(mix_in, loop.data.cells()[bits], scratch[bits]);
    loop.launch(0, 3);
    if (t % 6 == 5) loop.ctx.access<ReadWrite>(loop.data.cells()[bits])[1] += 1;
    if (t % 4 == 3) loop.ctx.trace(marked, [&] { loop.launch(3, 6); });
    else loop.launch(3, 6);
    loop.ctx.copy(loop.data.cells()[bits], scratch[bits]);
    const auto blocks = loop.ctx.blocks(loop.data.cells(), 4);
    const Future<std::uint64_t> sum =
        loop.ctx.reduce(loop.ctx.launch(look, 4, blocks[bits]), Sum{});
    loop.ctx.launch(add_to, loop.data.cells()[bits], sum);
    loop.ctx.launch(contribute, scratch[bits]);
    loop.ctx.launch(mix_in, loop.data.cells()[bits], scratch[bits]);
    loop.ctx.destroy(blocks);
    loop.ctx.destroy(scratch);
  });
}

// What a replay saves is the analysis of points, however few calls they come in.
TEST(AutotraceOfLargeLaunches, IsSteadyAfterFiveCycles) {
  constexpr Coord kPoints = 5000;
  constexpr int kCycles = 12;
  Runtime runtime;
  runtime.run([&](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, kPoints - 1}, bits);
    ctx.fill(cells, bits, std::uint64_t{1});
    const auto blocks = ctx.blocks(cells, static_cast<int>(kPoints));
    Counters before;
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      if (cycle == 5) before = runtime.counters();
      for (std::uint64_t value = 0; value < 4; ++value)
        ctx.launch(add_to, kPoints, blocks[bits], value);
    }
    EXPECT_EQ(share_replayed(before, runtime.counters()), 1.0);
  });
}

}  // namespace
}  // namespace refrain::test::autotrace_loops_test
