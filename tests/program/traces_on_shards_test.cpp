// What is traced where a program runs on several shards, case by case; random programs are in on_shards_test.cpp.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/in_process.hpp"
#include "refrain/refrain.hpp"
#include "replication/message_kind.hpp"
#include "runtime/runtime_impl.hpp"
#include "support/autotrace_settings.hpp"
#include "support/shards.hpp"

namespace refrain::test::traces_on_shards_test {
namespace {

/// A loop of halos, whose sum is a part of the next step and is asked for.
constexpr int kRounds = 30;
void run_loop(Context& context, const Trace* mark, int required_from) {
  static constexpr Field<double> now{"now"}, next{"next"};
  static const Task relax{"relax", [](Write<double> to, Read<double> from) {
                            for (auto p : to.domain()) to[p] = from[p - 1] + from[p + 1];
                          }};
  static const Task most{"most", [](Read<double> of) {
                           double found = 0;
                           for (auto p : of.domain()) found = std::max(found, of[p]);
                           return found;
                         }};
  static const Task scale{"scale", [](ReadWrite<double> all, double by) {
                            for (auto p : all.domain()) all[p] /= by;
                          }};
  const auto cells = context.region(Rect1{0, 63}, now, next);
  const auto blocks = context.blocks(cells, 8);
  const auto inner = context.interior(blocks, 1);
  const auto halo = context.halo(blocks, 1);
  context.fill(cells, now, 1.0);
  context.fill(cells, next, 1.0);
  for (int round = 0; round < kRounds; ++round) {
    if (round == required_from) context.require_replay(*mark);
    if (mark != nullptr) context.begin_trace(*mark);
    context.launch(relax, 8, inner[next], halo[now]);
    context.launch(relax, 8, inner[now], halo[next]);
    const auto found = context.reduce(context.launch(most, 8, inner[now]), Max{});
    context.launch(scale, 8, inner[now], found);
    if (mark != nullptr) context.end_trace(*mark);
    EXPECT_EQ(found.get(), 4);
  }
}

/// A loop whose launches contribute to points of their neighbours, and to those of the piece that mirrors theirs. Of what a
/// shard gives away, some for the second argument comes first. The order of the folds shows in the bits.
void run_reductions(Context& context, const Trace* mark, int required_from) {
  static constexpr Field<double> near{"near"}, far{"far"};
  static constexpr auto contribution = [](Coord piece, Coord p) {
    return 1.0 / static_cast<double>(3 + p + 11 * piece);
  };
  static const Task spread{
      "spread", [](Point1 piece, Reduce<Sum, double> to_near, Reduce<Sum, double> to_far) {
        for (auto p : to_near.domain()) to_near[p] += contribution(piece[0], p[0]);
        for (auto p : to_far.domain()) to_far[p] += contribution(piece[0], p[0]);
      }};
  static const Task halve{"halve", [](ReadWrite<double> values, Read<double> others) {
                            for (auto p : values.domain()) values[p] = values[p] / 2 + others[p];
                          }};
  static const Projection mirrored = Projection::affine({{{-1, 0, 0}, {}, {}}}, {7, 0, 0});
  const auto cells = context.region(Rect1{0, 63}, near, far);
  const auto blocks = context.blocks(cells, 8);
  const auto halo = context.halo(blocks, 1);
  context.fill(cells, near, 1.0);
  context.fill(cells, far, 1.0);
  std::array<double, 64> expected_near, expected_far;
  expected_near.fill(1);
  expected_far.fill(1);
  for (int round = 0; round < kRounds; ++round) {
    if (round == required_from) context.require_replay(*mark);
    if (mark != nullptr) context.begin_trace(*mark);
    context.launch(spread, 8, halo[near], blocks.at(mirrored)[far]);
    context.launch(halve, 8, blocks[near], blocks[far]);
    if (mark != nullptr) context.end_trace(*mark);
    for (Coord piece = 0; piece < 8; ++piece)
      for (Coord p = 0; p < 64; ++p) {
        double &at_near = expected_near[p], &at_far = expected_far[p];
        if (p >= piece * 8 - 1 && p <= piece * 8 + 8) at_near += contribution(piece, p);
        if (p / 8 == 7 - piece) at_far += contribution(piece, p);
      }
    for (std::size_t p = 0; p < 64; ++p) expected_near[p] = expected_near[p] / 2 + expected_far[p];
  }
  const auto found = context.access<Read>(cells[near]);
  for (Coord p = 0; p < 64; ++p) EXPECT_EQ(found[p], expected_near[p]) << p;
}

/// Runs it on three shards with and without traces, marked or found: most of it is replayed, with the messages of a run
/// without.
void expect_replays_of(void (*program)(Context& context, const Trace* mark, int required_from)) {
  for (const bool is_marked : {true, false}) {
    std::string sent;
    for (const bool is_traced : {false, true}) {
      Shards shards(3, 20);
      const Trace rounds{"rounds"};
      shards.run(
          [&](Runtime& runtime, shard::ShardId /*shard*/) {
            runtime.run([&](Context& context) {
              program(context, is_marked ? &rounds : nullptr, is_traced && is_marked ? 3 : kRounds);
            });
            const Counters counters = runtime.counters();
            const std::uint64_t least = is_traced ? counters.tasks * 3 / 5 : 0;
            EXPECT_GE(counters.replayed_tasks, least);
          },
          [&](Options& options, shard::ShardId /*shard*/) {
            options = eager(options);
            options.tracing = is_traced;
            options.autotrace = !is_marked;
          });
      const std::string now = to_text(shards.messages());
      if (is_traced) { EXPECT_EQ(now, sent); }
      sent = now;
    }
  }
}

/// Messages, reductions and the sending of their results are operations of the recording.
TEST(OnShards, ALoopIsReplayedWithAllThatItSends) { expect_replays_of(run_loop); }

/// So are contributions to what others own, which get their turns argument by argument.
TEST(OnShards, ContributionsAreReplayedInTheOrderOfTheirArguments) {
  expect_replays_of(run_reductions);
}

/// Tasks called "first" and "second" run on the shard of that name, all of them.
class ByName final : public Mapper {
 public:
  [[nodiscard]] std::string_view name() const override { return "by name"; }
  void map(const MappingInput& /*input*/, MappingOutput& /*output*/) override {}
  Sharding sharding(const ShardingInput& launch) override {
    return Sharding::function(
        "by name",
        [](const Point<3>& /*point*/, const Rect<3>& /*bounds*/, ShardId /*shards*/,
           std::uint64_t key) { return static_cast<ShardId>(key); },
        launch.task == "second" ? 1 : 0);
  }
};

/// Two shards that trace what is marked, with such a mapper.
void run_by_name(const std::function<void(Runtime&, Context&)>& program) {
  Shards(2, 20).run(
      [&](Runtime& runtime, shard::ShardId /*shard*/) {
        runtime.set_mapper(std::make_unique<ByName>());
        runtime.run([&](Context& context) { program(runtime, context); });
      },
      [](Options& options, shard::ShardId /*shard*/) {
        options.tracing = true;
        options.autotrace = false;
      });
}

constexpr Field<double> kFrom{"from"}, kTo{"to"};
const Task first{"first", [](Write<double> to, double value) {
                   for (auto p : to.domain()) to[p] = value;
                 }};
const Task second{"second", [](Write<double> to, double value) {
                    for (auto p : to.domain()) to[p] = value;
                  }};

/// What a shard has of its source, it may have been the owner of once.
TEST(OnShards, AReplayedCopyIsMadeByTheOwnersOfItsSource) {
  run_by_name([](Runtime& /*runtime*/, Context& context) {
    const Trace copy{"copy"};
    const auto cells = context.region(Rect1{0, 7}, kFrom, kTo);
    const auto blocks = context.blocks(cells, 2);
    for (int round = 0; round < 12; ++round) {
      const double value = round;
      if (round % 6 < 3) context.launch(first, 2, blocks[kFrom], value);
      else context.launch(second, 2, blocks[kFrom], value);
      context.trace(copy, [&] { context.copy(cells[kFrom], cells[kTo]); });
      EXPECT_EQ(context.access<Read>(cells[kTo])[7], round);
    }
  });
}

/// Values that have been asked for are on all shards, and reduced by each.
TEST(OnShards, AReplayedReductionIsThatOfValuesThatAreAsSpread) {
  run_by_name([](Runtime& /*runtime*/, Context& context) {
    const Trace sum{"sum"};
    const Task rank{"rank", [](Point1 point) { return static_cast<int>(point[0]); }};
    for (int round = 0; round < 12; ++round) {
      const auto values = context.launch(rank, 5);
      if (round % 6 < 3) { EXPECT_EQ(values.get(4), 4); }
      Future<int> result;
      context.trace(sum, [&] { result = context.reduce(values, Sum{}); });
      EXPECT_EQ(result.get(), 10);
    }
  });
}

/// Where a single launch runs follows from who has its data, which changes twice in a round.
TEST(OnShards, SingleLaunchesAreReplayedWhereTheDataIs) {
  run_by_name([](Runtime& runtime, Context& context) {
    constexpr int kTimes = 20;
    const Trace rounds{"rounds"};
    const Task look{"look", [](Read<double> from) { return from[7]; }};
    const auto cells = context.region(Rect1{0, 7}, kFrom, kTo);
    const auto blocks = context.blocks(cells, 2);
    context.launch(second, 2, blocks[kFrom], -1.0);
    for (int round = 0; round < kTimes; ++round) {
      Future<double> before, between;
      context.trace(rounds, [&] {
        context.launch(first, 2, blocks[kTo], 0.0);  // nothing is asked about it
        before = context.launch(look, cells[kFrom]);
        context.launch(first, 2, blocks[kFrom], 2.0 * round);
        between = context.launch(look, cells[kFrom]);
        context.launch(second, 2, blocks[kFrom], 2.0 * round + 1);
      });
      EXPECT_EQ(before.get(), 2 * round - 1);
      EXPECT_EQ(between.get(), 2 * round);
    }
    EXPECT_GE(runtime.counters().replays, kTimes - 5u);
  });
}

/// Storage may grow on some shards only: then the others replay.
TEST(OnShardsDeathTest, AReplayThatIsRequiredWhileStorageGrows) {
  const auto run = [] {
    const Trace rounds{"rounds"};
    Shards(2, 20).run(
        [&](Runtime& runtime, shard::ShardId /*shard*/) {
          runtime.run([&](Context& context) { run_loop(context, &rounds, 0); });
        },
        [](Options& options, shard::ShardId /*shard*/) {
          options.tracing = true;
          options.autotrace = false;
        });
  };
  EXPECT_DEATH(run(),
               "refrain: rank [01] has met an error that others may not have, so the run "
               "ends: end_trace\\('rounds'\\) at .*was not replayed as require_replay");
}

/// Two shards, each on a thread of its own that runs all its tasks. `wrap`: what a rank has of its end of the network.
void on_two_threads(const std::function<void(Context&)>& program, const Shards::Wrap& wrap) {
  const net::InProcess network(2, [](std::size_t) { return std::size_t{0}; });
  const auto slots = detail::TaskSlots::beside_process();
  std::vector<std::thread> shards;
  for (shard::ShardId shard = 0; shard < 2; ++shard)
    shards.emplace_back([&, shard] {
      Options options;
      options.workers = 0;
      options.autotrace = false;
      runtime::World world{nullptr, slots,
                           std::make_shared<net::Mailbox>(wrap(network.open(shard)))};
      Runtime runtime(std::make_shared<runtime::RuntimeImpl>(options, std::move(world)));
      runtime.run(program);
    });
  for (std::thread& each : shards) each.join();
}

/// Holds back what a rank is sent for its n-th launch until that many tasks have run there. `first`: the number of the call
/// that is launch 1.
class HeldBack final : public net::Transport {
 public:
  HeldBack(std::unique_ptr<net::Transport> inner, const std::atomic<int>& ran, int from, bool& late)
      : inner_(std::move(inner)), ran_(ran), from_(from), late_(late) {}

  [[nodiscard]] net::Rank rank() const override { return inner_->rank(); }
  [[nodiscard]] net::Rank ranks() const override { return inner_->ranks(); }
  void send(net::Message message) override { inner_->send(std::move(message)); }
  [[nodiscard]] bool may_come() const override { return held_.has_value() || inner_->may_come(); }
  [[noreturn]] void abort(const std::string& text) noexcept override {
    inner_->abort(text);
    std::abort();  // g++ 12 does not believe it
  }
  std::optional<net::Message> poll() override {
    if (!held_) held_ = inner_->poll();
    if (!held_ || (is_too_early(held_->header()) && ++polls_ < kMostPolls)) return std::nullopt;
    late_ = late_ || polls_ == kMostPolls;
    polls_ = 0;
    return std::exchange(held_, std::nullopt);
  }

 private:
  static constexpr int kMostPolls = 2000;
  bool is_too_early(const net::Header& header) {
    if (header.kind != number_of(replication::MessageKind::values)) return false;
    if (first_ == 0) first_ = header.call - 1;  // launch 0 is sent nothing
    const auto launch = static_cast<int>(header.call - first_);
    return launch > from_ && ran_ < launch + 1;
  }

  const std::unique_ptr<net::Transport> inner_;
  const std::atomic<int>& ran_;
  const int from_;
  bool& late_;
  std::optional<net::Message> held_;
  std::uint64_t first_ = 0;
  int polls_ = 0;
};

/// On one thread, too: a rank runs what needs nothing from others before it waits for them.
TEST(OnShardsWithThreads, WhatNeedsNoMessageRunsBeforeOneIsAwaited) {
  static constexpr Field<double> now{"now"}, next{"next"};
  static constexpr int kRounds = 40;
  std::atomic<int> ran{0};  // tasks of the first shard that have no neighbour on the other
  const Task relax{"relax", [&ran](Point1 piece, Write<double> to, Read<double> from) {
                     for (auto p : to.domain()) to[p] = from[p - 1] + from[p + 1];
                     if (piece == 0) ++ran;
                   }};
  bool late = false;
  on_two_threads(
      [&](Context& context) {
        const Trace rounds{"rounds"};
        const auto cells = context.region(Rect1{0, 63}, now, next);
        const auto blocks = context.blocks(cells, 4);
        const auto inner = context.interior(blocks, 1), halo = context.halo(blocks, 1);
        context.fill(cells, now, 0.0);
        context.fill(cells, next, 0.0);
        for (int round = 0; round < kRounds; ++round)
          context.trace(rounds, [&] {
            context.launch(relax, 4, inner[next], halo[now]);
            context.launch(relax, 4, inner[now], halo[next]);
          });
      },
      [&](std::unique_ptr<net::Transport> end) -> std::unique_ptr<net::Transport> {
        if (end->rank() != 0) return end;
        return std::make_unique<HeldBack>(std::move(end), ran, kRounds, late);  // the second half
      });
  EXPECT_FALSE(late);
  EXPECT_EQ(ran, 2 * kRounds);
}

/// Counts the values that a rank sends.
class Counted final : public net::Transport {
 public:
  Counted(std::unique_ptr<net::Transport> inner, std::atomic<int>& sent)
      : inner_(std::move(inner)), sent_(sent) {}

  [[nodiscard]] net::Rank rank() const override { return inner_->rank(); }
  [[nodiscard]] net::Rank ranks() const override { return inner_->ranks(); }
  void send(net::Message message) override {
    if (message.header().kind == number_of(replication::MessageKind::values)) ++sent_;
    inner_->send(std::move(message));
  }
  std::optional<net::Message> poll() override { return inner_->poll(); }
  [[nodiscard]] bool may_come() const override { return inner_->may_come(); }
  [[noreturn]] void abort(const std::string& text) noexcept override {
    inner_->abort(text);
    std::abort();
  }

 private:
  const std::unique_ptr<net::Transport> inner_;
  std::atomic<int>& sent_;
};

/// Another rank may wait for it, however long the tasks take that could run as well. `traced`: with replays, whose
/// operations are run as they become ready, since one has a priority.
void expect_that_sends_go_first(bool traced) {
  static constexpr Field<int> value{"value"}, sum{"sum"};
  constexpr int times = 20;
  std::atomic<int> sent[2]{0, 0}, early{0};
  const Task set{"set", [](Write<int> values, int to) {
                   for (auto p : values.domain()) values[p] = to;
                 }};
  // In the first rounds storage grows, for which the program waits before it sends.
  const Task look{"look", [&](Point1 piece, Read<int> values) {
                    const int round = values[values.domain().bounds().lo];
                    if (round > 2 && sent[piece[0]] <= round) ++early;
                  }};
  const Task add{"add", [](Write<int> sums, Read<int> values) {
                   for (auto p : sums.domain()) sums[p] = values[p - 1] + values[p + 1];
                 }};
  const Task later{"later", [] {}};
  on_two_threads(
      [&](Context& context) {
        const Trace rounds{"rounds"};
        const auto cells = context.region(Rect1{0, 63}, value, sum);
        const auto blocks = context.blocks(cells, 2);
        const auto inner = context.interior(blocks, 1), halo = context.halo(blocks, 1);
        for (int round = 0; round < times; ++round) {
          if (traced) context.begin_trace(rounds);
          context.launch(set, 2, blocks[value], round);
          context.launch(look, 2, blocks[value]);
          context.launch(add, 2, inner[sum], halo[value]);
          if (traced) context.launch(later.with({.priority = -1}), 2);
          if (traced) context.end_trace(rounds);
        }
      },
      [&](std::unique_ptr<net::Transport> end) {
        const net::Rank rank = end->rank();
        return std::make_unique<Counted>(std::move(end), sent[rank]);
      });
  EXPECT_EQ(early, 0);
  EXPECT_EQ(sent[0], times);
  EXPECT_EQ(sent[1], times);
}
TEST(OnShardsWithThreads, WhatIsSentGoesBeforeTasksThatAreReady) {
  expect_that_sends_go_first(false);
}
TEST(OnShardsWithThreads, InReplaysToo) { expect_that_sends_go_first(true); }

/// What a shard gives to others may take values of theirs: it waits for these first, and for contributions last. If it did
/// not, two shards would wait for each other, for ever.
TEST(OnShardsWithThreads, ContributionsThatTakeValuesOfOthers) {
  static constexpr Field<double> level{"level"}, gained{"gained"};
  const Task flow{"flow", [](Read<double> levels, Reduce<Sum, double> gains) {
                    for (auto p : gains.domain()) gains[p] += levels[p] / 4;
                  }};
  const Task rise{"rise", [](ReadWrite<double> levels, ReadWrite<double> gains) {
                    for (auto p : levels.domain()) levels[p] = std::exchange(gains[p], 0.0);
                  }};
  double sum = 0;
  on_two_threads(
      [&](Context& context) {
        const Trace rounds{"rounds"};
        const auto cells = context.region(Rect1{0, 63}, level, gained);
        const auto blocks = context.blocks(cells, 4);
        const auto halo = context.halo(blocks, 1);
        context.fill(cells, level, 1.0);
        context.fill(cells, gained, 0.0);
        for (int round = 0; round < 20; ++round)
          context.trace(rounds, [&] {
            context.launch(flow, 4, halo[level], halo[gained]);
            context.launch(rise, 4, blocks[level], blocks[gained]);
          });
        const auto levels = context.access<Read>(cells[level]);
        if (!context.is_output_shard()) return;
        for (Coord p = 0; p < 64; ++p) sum += levels[p];
      },
      [](std::unique_ptr<net::Transport> end) { return end; });
  EXPECT_NEAR(sum, 58 * std::pow(0.25, 20) + 6 * std::pow(0.5, 20), 1e-12);
}

}  // namespace
}  // namespace refrain::test::traces_on_shards_test
