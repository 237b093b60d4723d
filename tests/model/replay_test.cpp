// Replays as both executors run them: random programs, and what is promised in particular.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "exec/seeded_executor.hpp"
#include "exec/threads.hpp"
#include "graph/replays.hpp"
#include "refrain/error.hpp"
#include "support/random_replays.hpp"
#include "support/test_budget.hpp"

namespace refrain::exec::replay_test {
namespace {

ProcessorPlan plan(bool dedicated) {
  ProcessorPlan plan;
  plan.cpus = {{0, {}}};
  if (dedicated) plan.dedicated = {1};
  return plan;
}

ExecutorOptions options_for(int workers) {
  ExecutorOptions options;
  options.workers = workers;
  options.accumulators = 2;
  options.bind = false;
  return options;
}

test::ReplayOptions replay_options(std::uint64_t seed) {
  test::ReplayOptions options;
  options.heavy = seed % 3 != 0;
  options.failures = seed % 2 == 0;
  options.nested = seed % 7 == 0;
  if (seed % 11 == 0) options.operations = 4;
  return options;
}

TEST(Replays, RandomProgramsUnderManySeeds) {
  for (test::TestBudget budget{2000, 30}; budget.more(); budget.next()) {
    const std::uint64_t seed = budget.seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    SeededExecutor executor(plan(true), options_for(1), seed);
    executor.run_root(
        [&] { test::run_random_replays(executor, seed / 4, replay_options(seed / 4)); });
    if (testing::Test::HasFailure()) return;
  }
}

// Replays of several recordings in one scope, of which many are in flight at once.
TEST(Replays, KeepToTheWindowTogether) {
  for (test::TestBudget budget{1000, 20}; budget.more(); budget.next()) {
    const std::uint64_t seed = budget.seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::ReplayOptions options = replay_options(seed);
    options.operations = seed % 2 == 0 ? 4 : 24;
    options.steps = 100;
    options.bounded = true;
    SeededExecutor executor(plan(true), options_for(1), seed);
    executor.run_root([&] { test::run_random_replays(executor, seed, options); });
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Replays, RandomProgramsOnThreads) {
  for (test::TestBudget budget{1000, 20}; budget.more(); budget.next()) {
    const std::uint64_t seed = budget.seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::ReplayOptions options = replay_options(seed);
    options.dedicated = seed % 5 == 0;
    options.steps = 150;
    ExecutorOptions chosen = options_for(static_cast<int>(seed % 4));
    chosen.oldest_first = seed % 3 == 0;
    chosen.path_order = seed % 8 < 4;  // then what happens depends on how long operations take
    if (seed % 3 != 0)
      chosen.scheduling = seed % 3 == 1 ? Scheduling::always : Scheduling::measured;
    const auto executor = make_threaded_executor(plan(options.dedicated), chosen);
    executor->run_root([&] { test::run_random_replays(*executor, seed, options); });
    if (testing::Test::HasFailure()) return;
  }
}

struct Case {
  const char* name;
  int workers;  ///< -1: seeded
};

/// Two chains, 0 and 1, with an operation each in every replay; what ran is counted.
class ReplaysOnBoth : public testing::TestWithParam<Case> {
 protected:
  ReplaysOnBoth() {
    if (GetParam().workers < 0) {
      executor_ = std::make_shared<SeededExecutor>(plan(false), options_for(1), 5);
    } else {
      executor_ = make_threaded_executor(plan(false), options_for(GetParam().workers));
    }
    Template::Operation operation;
    operation.run = [](const void* operand, Replay& replay, std::uint32_t index, Execution&) {
      auto& self = *const_cast<ReplaysOnBoth*>(static_cast<const ReplaysOnBoth*>(operand));
      EXPECT_EQ(replay.number, ++self.ran_[index]);
    };
    operation.operand = this;
    operation.info = &info_;
    const Template::Edge carried[] = {{0, 0}, {1, 1}};
    chains_ = std::make_unique<Template>(std::vector{operation, operation},
                                         std::span<const Template::Edge>{}, carried, false);
  }

  /// Held open until it is ended.
  NodeRef hold(Scope& scope) {
    Node& node = scope.allocate(0);
    node.info = &held_info_;
    node.kind = NodeKind::access;
    node.flags = kManual;
    const NodeRef ref{&node, node.seq};
    executor_->publish(node, {});
    return ref;
  }
  void wait_for(Scope& scope, NodeRef ref) {
    executor_->wait(
        scope, [&] { return is_complete(ref); }, ref, nullptr);
  }

  std::shared_ptr<Executor> executor_;
  std::unique_ptr<Template> chains_;
  std::uint32_t ran_[2] = {0, 0};  ///< how often each operation ran
  NodeInfo info_{"advance", std::source_location::current()};
  NodeInfo held_info_{"mesh.x", std::source_location::current()};
};

TEST_P(ReplaysOnBoth, ASlowChainHoldsNobodyBack) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    {
      Replays replays(*executor_, scope, *chains_, 8);
      const NodeRef held = hold(scope);
      Replay* replay = nullptr;
      for (int i = 0; i < 6; ++i) {
        replay = &replays.begin(i > 0);
        if (i == 0) replays.add_preconditions(*replay, 0, {&held, 1});
        replays.issue(*replay, 2);
      }
      wait_for(scope, replays.ref(*replay, 1));
      EXPECT_EQ(ran_[1], 6U);
      EXPECT_EQ(ran_[0], 0U);
      EXPECT_EQ(replays.in_flight().size(), 6U);
      executor_->complete_manual(*held.node);
      executor_->wait(
          scope, [&] { return replays.idle(); }, {}, nullptr);
      EXPECT_EQ(ran_[0], 6U);
      replays.leave(*replay);
    }
    scope.drain(nullptr);
  });
}

TEST_P(ReplaysOnBoth, AChainIsLeftAndEnteredAtEveryPosition) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    {
      Replays replays(*executor_, scope, *chains_);
      for (std::uint32_t whole = 0; whole < 4; ++whole) {
        for (std::uint32_t rest = 0; rest <= 2; ++rest) {
          ran_[0] = ran_[1] = 0;
          Replay* replay = nullptr;
          for (std::uint32_t i = 0; i <= whole; ++i) {
            replay = &replays.begin(i > 0);
            ran_[0] = ran_[1] = replay->number - 1;
            replays.issue(*replay, i < whole ? 2 : rest);
            executor_->wait(
                scope, [&] { return replays.idle(); }, {}, nullptr);
          }
          replays.leave(*replay);
          EXPECT_EQ(ran_[0], replay->number - (rest < 1 ? 1 : 0)) << whole << " and " << rest;
          EXPECT_EQ(ran_[1], replay->number - (rest < 2 ? 1 : 0)) << whole << " and " << rest;
        }
      }
      EXPECT_TRUE(replays.idle());
      EXPECT_TRUE(replays.in_flight().empty());
    }
    scope.drain(nullptr);
  });
}

TEST_P(ReplaysOnBoth, TheScopeLetsGoOfThoseAtRest) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    {
      Replays replays(*executor_, scope, *chains_);
      EXPECT_TRUE(scope.replays().empty());
      for (int i = 0; i < 2; ++i) {
        Replay& replay = replays.begin(false);
        replays.issue(replay, 2);
        scope.drain(nullptr);
        EXPECT_FALSE(replays.at_rest());  // the chain is open
        EXPECT_EQ(scope.replays().size(), 1U);
        replays.leave(replay);
        EXPECT_TRUE(replays.idle());
        EXPECT_TRUE(replays.at_rest());
        EXPECT_EQ(scope.replays().size(), 1U);  // asking changes nothing
        scope.drain(nullptr);
        EXPECT_TRUE(scope.replays().empty());
      }
    }
  });
}

TEST_P(ReplaysOnBoth, ADeadlockNamesTheChain) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    {
      Replays replays(*executor_, scope, *chains_);
      const NodeRef held = hold(scope);
      Replay* replay = &replays.begin(false);
      replays.add_preconditions(*replay, 0, {&held, 1});
      replays.issue(*replay, 2);
      const std::string advance = "task 'advance' launched at " + to_string(info_.where);
      std::string text = "deadlock: the program waits for " + advance;
      for (int i = 0; i < 3; ++i) {
        try {
          wait_for(scope, replays.ref(*replay, 0));
          ADD_FAILURE() << "the wait returned";
        } catch (const Deadlock& error) {
          EXPECT_EQ(error.what(), text + ", which waits for the inline access 'mesh.x' opened at " +
                                      to_string(held_info_.where) + ", which is still open");
        }
        text += ", which waits for " + advance;
        replay = &replays.begin(true);
        replays.issue(*replay, 2);
      }
      replays.leave(*replay);
      executor_->complete_manual(*held.node);
      scope.drain(nullptr);
      EXPECT_EQ(ran_[0], 4U);
    }
  });
}

TEST_P(ReplaysOnBoth, SlotsAreUsedAgain) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    {
      Replays replays(*executor_, scope, *chains_, 5);
      for (std::uint32_t i = 0; i < 2000; ++i) {
        Replay& replay = replays.begin(i > 0);
        replays.issue(replay, 1);
        replays.issue(replay, 2);
        EXPECT_LE(replays.in_flight().size(), 5U);
        if (i == 1999) replays.leave(replay);
      }
      scope.drain(nullptr);
      EXPECT_EQ(ran_[0], 2000U);
      EXPECT_EQ(ran_[1], 2000U);
      // The seed may make a schedule, or several threads that are slow.
      const std::size_t schedule = GetParam().workers == 0 ? 0 : 4096;
      EXPECT_LE(replays.bytes(), 5 * (sizeof(Replay) + 2 * sizeof(LiveNode)) + schedule);
    }
  });
}

// A plain run that throws is ended by the other run, which is told of the failure. While there is one in the process, the
// other run does everything.
TEST_P(ReplaysOnBoth, WhatThrowsIsEndedByTheOtherRun) {
  struct Seen {
    int plain = 0, full = 0;
    std::uint64_t failed = 0;
  } seen;
  Template::Operation operation;
  operation.plain = [](const void* to) {
    if (++static_cast<Seen*>(const_cast<void*>(to))->plain == 3) throw std::runtime_error("third");
  };
  operation.run = [](const void* to, Replay& replay, std::uint32_t index, Execution& execution) {
    Seen& noted = *static_cast<Seen*>(const_cast<void*>(to));
    ++noted.full;
    if (execution.failure == nullptr) return;
    EXPECT_EQ(execution.failure->origin().seq, replay.base + index);
    noted.failed = replay.base + index;
  };
  operation.operand = operation.plain_operand = &seen;
  operation.info = &info_;
  const Template::Edge carried[] = {{0, 0}};
  const Template recorded({operation}, {}, carried, false);
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    {
      Replays replays(*executor_, scope, recorded);
      for (int i = 0; i < 5; ++i) replays.issue(replays.begin(i > 0), 1);
      replays.abandon();
      scope.drain(nullptr);
      EXPECT_EQ(seen.plain, 3);
      EXPECT_EQ(seen.full, 3) << "the third, and those behind it";
      EXPECT_EQ(seen.failed, 3U);
      const FailureRef failure = scope.failures().take();
      ASSERT_NE(failure, nullptr);
      EXPECT_EQ(failure->origin().seq, 3U);
    }
  });
  EXPECT_FALSE(Failure::any());
}

// What waits for somebody outside, nobody else can wait for: replays go on beyond the window, as far as their own
// slots reach, and so does what is launched beside them.
TEST_P(ReplaysOnBoth, WhatIsHeldUpHoldsNobodyElseUp) {
  std::atomic<int> ran{0};
  Template::Operation operation;
  operation.run = [](const void* count, Replay&, std::uint32_t, Execution&) {
    ++*static_cast<std::atomic<int>*>(const_cast<void*>(count));
  };
  operation.operand = &ran;
  operation.info = &info_;
  const Template::Edge carried[] = {{0, 0}, {1, 1}};
  const Template recorded(std::vector{operation, operation}, {}, carried, false);
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 12);
    {
      Replays first(*executor_, scope, recorded), second(*executor_, scope, recorded);
      const NodeRef held = hold(scope);
      scope.window().hold_open(+1);
      for (Replays* replays : {&first, &second}) {
        Replay* replay = nullptr;
        for (int i = 0; i < 5; ++i) {
          replay = &replays->begin(i > 0);
          for (std::uint32_t index = 0; index < 2 && i == 0; ++index)
            replays->add_preconditions(*replay, index, {&held, 1});
          replays->issue(*replay, 2);
        }
        replays->leave(*replay);
      }
      EXPECT_EQ(scope.window().operations(), 21U);  // with the one that is held
      scope.throttle();
      EXPECT_EQ(ran.load(), 0);
      executor_->complete_manual(*held.node);
      scope.window().hold_open(-1);
      // From now on the window is kept to.
      for (int i = 0; i < 100; ++i) {
        Replays& replays = i % 2 == 0 ? first : second;
        Replay& replay = replays.begin(false);
        EXPECT_LE(scope.window().operations(), 12U);
        replays.issue(replay, 2);
        replays.leave(replay);
      }
      scope.throttle();
      EXPECT_LT(scope.window().operations(), 12U);
      scope.drain(nullptr);
    }
    EXPECT_EQ(scope.window().operations(), 0U);
  });
  EXPECT_EQ(ran.load(), 220);
}

TEST_P(ReplaysOnBoth, TheUserIsToldOfEachOperation) {
  struct User final : ScopeUser {
    void executed(const Executed& ran) override {
      EXPECT_EQ(ran.info->name, "advance");
      EXPECT_EQ(ran.kind, NodeKind::task);
      EXPECT_LE(ran.begin_ns, ran.end_ns);
      ++told;
    }
    void reclaim(Node&) override {}
    std::string about_held(std::uint64_t) const override { return {}; }
    std::atomic<int> told{0};
  } user;
  executor_->tell_users();
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    scope.user = &user;
    {
      Replays replays(*executor_, scope, *chains_);
      for (int i = 0; i < 10; ++i) {
        Replay& replay = replays.begin(i > 0);
        replays.issue(replay, 2);
        if (i == 9) replays.leave(replay);
      }
      scope.drain(nullptr);
    }
  });
  EXPECT_EQ(user.told.load(), 20);
  EXPECT_EQ(executor_->counters().executed, 20U);
}

// The thread that has done an operation and the owner may both miss each other: the proxy is found by the next look of
// the thread. A look goes through what has been added since the last, not through all.
TEST_P(ReplaysOnBoth, AMissedProxyIsFoundByTheNextLook) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    const std::unique_ptr<Replay> replay(new (2) Replay(*chains_, scope, nullptr));
    replay->number = 1;
    Proxies proxies;
    Node first, second;
    std::uint64_t looked = 0;
    proxies.add(*replay, 0, first);
    EXPECT_EQ(replay->proxies[0].load(), &first);
    EXPECT_EQ(replay->take_proxy(1), nullptr);
    EXPECT_EQ(proxies.take_done_since(looked), nullptr) << "it is not done";

    proxies.add(*replay, 1, second);
    for (int i : {0, 1}) replay->live()[i].done.store(1);
    EXPECT_EQ(proxies.take_done_since(looked), &second);
    EXPECT_EQ(second.next, nullptr) << "the first was there at the look before, and done later";
    EXPECT_EQ(proxies.take_done_since(looked), nullptr);
    EXPECT_EQ(replay->take_proxy(0), &first);
    EXPECT_EQ(replay->take_proxy(0), nullptr);
    std::uint64_t of_another_thread = 0;
    EXPECT_EQ(proxies.take_done_since(of_another_thread), nullptr);

    // Missed by both, and the replay is complete.
    proxies.add(*replay, 1, second);
    EXPECT_EQ(proxies.remove(*replay), &second);
    EXPECT_EQ(proxies.take_done_since(looked), nullptr);
  });
}

INSTANTIATE_TEST_SUITE_P(, ReplaysOnBoth,
                         testing::Values(Case{"seeded", -1}, Case{"alone", 0},
                                         Case{"one_worker", 1}, Case{"two_workers", 2}),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

}  // namespace
}  // namespace refrain::exec::replay_test
