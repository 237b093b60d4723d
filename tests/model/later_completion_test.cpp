// Completion from outside, on both executors: operations whose run ends before they complete. A device, which is a
// thread of its own, or a background job, whose turn the seed decides, completes them. Values are plain memory, so
// ThreadSanitizer sees an order that is missing.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "exec/background.hpp"
#include "exec/seeded_executor.hpp"
#include "exec/threads.hpp"
#include "graph/replays.hpp"
#include "refrain/error.hpp"
#include "support/launch_node.hpp"
#include "support/random.hpp"

namespace refrain::exec::later_completion_test {
namespace {

struct Case {
  const char* name;
  int workers;  ///< -1: seeded
};

/// Does what it is given, in order, on a thread of its own.
class Device {
 public:
  ~Device() {
    give(nullptr);
    thread_.join();
  }
  void give(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    given_.notify_one();
  }

 private:
  void serve() {
    for (;;) {
      std::unique_lock lock(mutex_);
      given_.wait(lock, [this] { return !work_.empty(); });
      const std::function<void()> work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      if (!work) return;
      work();
    }
  }

  std::mutex mutex_;
  std::condition_variable given_;
  std::deque<std::function<void()>> work_;
  std::thread thread_{[this] { serve(); }};
};

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

std::shared_ptr<Executor> make_executor(int workers, std::uint64_t seed, bool dedicated = true) {
  ProcessorPlan plan;
  plan.cpus.push_back({0, {}});
  if (dedicated) plan.dedicated.push_back(1);
  ExecutorOptions options;
  options.workers = std::max(0, workers);
  options.bind = false;
  if (workers < 0) return std::make_shared<SeededExecutor>(plan, options, seed);
  return make_threaded_executor(plan, options);
}

/// A loop of three operations, the second of which a device does: each adds to a value that only edges protect.
struct Loop {
  Device* device;
  std::vector<int> steps;
  int fail_at = -1;   ///< replay
  int completed = 0;  ///< by the device

  static void step(const void* operand, Replay&, std::uint32_t index, Execution& execution) {
    EXPECT_EQ(execution.failure, nullptr);
    of(operand).steps.push_back(static_cast<int>(index));
  }
  static void on_device(const void* operand, Replay& replay, std::uint32_t index,
                        Execution& execution) {
    Loop& loop = of(operand);
    const bool fails = static_cast<int>(replay.number) == loop.fail_at;
    loop.device->give(
        [&loop, index, fails, later = complete_later(replay, index, execution)]() mutable {
          if (fails) return later.fail(std::make_exception_ptr(std::runtime_error("no answer")));
          loop.steps.push_back(static_cast<int>(index));
          ++loop.completed;
          later.complete();
        });
  }
  static Loop& of(const void* operand) { return *static_cast<Loop*>(const_cast<void*>(operand)); }
};

Template loop_template(Loop& loop, const NodeInfo& info) {
  std::vector<Template::Operation> operations(3);
  for (Template::Operation& operation : operations) {
    operation.run = Loop::step;
    operation.operand = &loop;
    operation.info = &info;
  }
  operations[1].run = Loop::on_device;
  operations[1].completes_later = true;
  const std::vector<Template::Edge> inner = {{0, 1}, {1, 2}};
  const std::vector<Template::Edge> carried = {{2, 0}};
  return {operations, inner, carried, false};
}

class LaterCompletions : public testing::TestWithParam<Case> {
 protected:
  NodeRef launch(Scope& scope, test::NodeBody body, const std::vector<NodeRef>& after = {},
                 std::uint8_t flags = 0) {
    return test::launch_node(*executor_, scope, info_, std::move(body), after, flags);
  }
  void wait_for(Scope& scope, NodeRef ref) {
    executor_->wait(
        scope, [&] { return is_complete(ref); }, ref, nullptr);
  }

  const NodeInfo info_{"copy", std::source_location::current()};
  const std::shared_ptr<Executor> executor_ = make_executor(GetParam().workers, 3);
  Device device_;
};

TEST_P(LaterCompletions, AWaitForOneIsNoDeadlock) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    int value = 0;
    bool run_is_over = false;
    const NodeRef copy = launch(scope, [&](Node& node, Execution& execution) {
      device_.give([&, later = complete_later(node, execution)]() mutable {
        sleep_ms(20);
        value = 7;
        later.complete();
      });
      run_is_over = true;
    });
    int seen = 0;
    const NodeRef reader = launch(scope, [&](Node&, Execution&) { seen = value; }, {copy});
    wait_for(scope, reader);
    EXPECT_TRUE(is_complete(copy));
    EXPECT_TRUE(run_is_over);
    EXPECT_EQ(seen, 7);
    scope.drain(nullptr);
  });
}

TEST_P(LaterCompletions, AreExecutedOnce) {
  Loop loop{&device_, {}};
  const Template recorded = loop_template(loop, info_);
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    launch(scope, [](Node&, Execution&) {});
    launch(scope, [&](Node& node, Execution& execution) {
      device_.give([later = complete_later(node, execution)]() mutable { later.complete(); });
    });
    launch(scope,
           [&](Node& node, Execution& execution) { complete_later(node, execution).complete(); });
    scope.drain(nullptr);
    EXPECT_EQ(executor_->counters().executed, 3U);
    Replays replays(*executor_, scope, recorded);
    Replay& replay = replays.begin(false);
    replays.issue(replay, 3);
    replays.leave(replay);
    scope.drain(nullptr);
    EXPECT_EQ(executor_->counters().executed, 6U);
  });
}

TEST_P(LaterCompletions, AreNoEarlierThanTheEndOfTheRun) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    int value = 0;
    const NodeRef copy = launch(scope, [&](Node& node, Execution& execution) {
      complete_later(node, execution).complete();
      if (GetParam().workers >= 0) sleep_ms(1);
      value = 1;
    });
    int seen = 0;
    launch(scope, [&](Node&, Execution&) { seen = value; }, {copy});
    scope.drain(nullptr);
    EXPECT_EQ(seen, 1);
  });
}

// What is left to run is told of it: it knows what has no values now.
TEST_P(LaterCompletions, CarryAFailure) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    static std::uint64_t told, ended;
    told = ended = 0;
    const auto rest = [](Node& node, Execution& execution) {
      ended = node.seq;
      if (execution.failure != nullptr) told = execution.failure->origin().seq;
    };
    const NodeRef copy = launch(scope, [&](Node& node, Execution& execution) {
      device_.give([later = complete_later(node, execution, rest)]() mutable {
        later.fail(std::make_exception_ptr(std::runtime_error("the link is down")));
      });
    });
    launch(scope, [&](Node&, Execution&) { EXPECT_EQ(told, copy.seq); }, {copy});
    const NodeRef other =
        launch(scope,
               [&](Node& node, Execution& execution) {
                 device_.give([later = complete_later(node, execution, rest)]() mutable {
                   later.complete();
                 });
               },
               {copy});
    scope.drain(nullptr);
    EXPECT_EQ(ended, other.seq);
    EXPECT_EQ(told, copy.seq);
    const FailureRef failure = scope.failures().take();
    ASSERT_NE(failure, nullptr);
    try {
      failure->rethrow();
    } catch (const TaskFailed& error) {
      EXPECT_NE(std::string(error.what()).find("the link is down"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("task 'copy'"), std::string::npos);
    }
  });
}

TEST_P(LaterCompletions, HideNoDeadlockBesideThem) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    bool done = false;
    const NodeRef access = launch(
        scope, [](Node&, Execution&) {}, {}, kManual);
    const NodeRef held = launch(scope, [](Node&, Execution&) {}, {access});
    launch(scope, [&](Node& node, Execution& execution) {
      device_.give([&, later = complete_later(node, execution)]() mutable {
        sleep_ms(10);
        done = true;
        later.complete();
      });
    });
    EXPECT_THROW(wait_for(scope, held), Deadlock);
    EXPECT_TRUE(done) << "before, somebody outside could have ended the wait";
    executor_->complete_manual(*access.node);
    scope.drain(nullptr);
  });
}

TEST_P(LaterCompletions, ABodyWaitsForItsOwn) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    std::atomic<int> sum{0};
    for (int i = 0; i < 8; ++i) {
      launch(scope, [&, i](Node& node, Execution&) {
        Scope inner(*executor_, node.scope, 100);
        int value = 0;
        const NodeRef copy = launch(inner, [&](Node& child, Execution& execution) {
          device_.give([&, later = complete_later(child, execution)]() mutable {
            value = i;
            later.complete();
          });
        });
        launch(inner, [&](Node&, Execution&) { sum += value; }, {copy});
        inner.drain(nullptr);
      });
    }
    scope.drain(nullptr);
    EXPECT_EQ(sum, 28);
  });
}

// Chains of operations, some on the device, some on the dedicated processor; the window is small.
TEST_P(LaterCompletions, ManyKeepTheOrder) {
  constexpr int kChains = 8, kSteps = 2000;
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 64);
    int done[kChains] = {}, launched[kChains] = {};
    NodeRef last[kChains];
    test::Random random(5);
    for (int step = 0; step < kSteps; ++step) {
      const int chain = random.below(kChains);
      const bool later = random.percent(50);
      const int expected = launched[chain]++;
      const auto advance = [&done, chain, expected] {
        EXPECT_EQ(done[chain], expected);
        ++done[chain];
      };
      std::vector<NodeRef> after;
      if (last[chain]) after.push_back(last[chain]);
      last[chain] = launch(
          scope,
          [this, later, advance](Node& node, Execution& execution) {
            if (!later) return advance();
            device_.give([advance, completion = complete_later(node, execution)]() mutable {
              advance();
              completion.complete();
            });
          },
          after);
    }
    scope.drain(nullptr);
    EXPECT_EQ(scope.failures().size(), 0U);
  });
}

TEST_P(LaterCompletions, OperationsOfReplaysKeepTheOrder) {
  constexpr int kReplays = 300;
  Loop loop{&device_, {}};
  const Template recorded = loop_template(loop, info_);
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 64);
    Replays replays(*executor_, scope, recorded);
    Replay* replay = nullptr;
    for (int i = 0; i < kReplays; ++i) {
      replay = &replays.begin(i > 0);
      for (std::uint32_t count = 1; count <= 3; ++count) replays.issue(*replay, count);
    }
    const NodeRef end = replays.ref(*replay, 1);
    launch(scope, [&](Node&, Execution&) { EXPECT_EQ(loop.completed, kReplays); }, {end});
    replays.leave(*replay);
    scope.drain(nullptr);
    ASSERT_EQ(loop.steps.size(), 3U * kReplays);
    for (int i = 0; i < 3 * kReplays; ++i)
      ASSERT_EQ(loop.steps[static_cast<std::size_t>(i)], i % 3);
  });
}

TEST_P(LaterCompletions, OperationsOfReplaysMayFail) {
  Loop loop{&device_, {}, 2};
  const Template recorded = loop_template(loop, info_);
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 64);
    Replays replays(*executor_, scope, recorded);
    Replay* replay = nullptr;
    for (int i = 0; i < 4; ++i) replays.issue(*(replay = &replays.begin(i > 0)), 3);
    replays.leave(*replay);
    scope.drain(nullptr);
    EXPECT_EQ(loop.steps, (std::vector<int>{0, 1, 2, 0, 2, 0, 1, 2, 0, 1, 2}))
        << "the second replay fails on the device";
    const FailureRef failure = scope.failures().take();
    ASSERT_NE(failure, nullptr);
    EXPECT_EQ(failure->origin().seq, 5U);
    EXPECT_THROW(failure->rethrow(), TaskFailed);
  });
}

// The last thing that happens: the executor may end at once.
TEST_P(LaterCompletions, TheExecutorEndsAfterTheLast) {
  for (int i = 0; i < 200; ++i) {
    const auto executor = make_executor(GetParam().workers, 1, false);
    executor->run_root([&] {
      Scope scope(*executor, nullptr, 10);
      test::launch_node(*executor, scope, info_, [&](Node& node, Execution& execution) {
        device_.give([later = complete_later(node, execution)]() mutable { later.complete(); });
      });
      scope.drain(nullptr);
    });
  }
}

/// Completions that have come, and are taken in by whoever asks.
class Arrivals final : public Outside {
 public:
  void await(LaterCompletion later) {
    const std::lock_guard lock(mutex_);
    awaited_.push_back(later);
  }
  bool poll() override {
    asking_.fetch_add(1);
    std::deque<LaterCompletion> come;
    {
      const std::lock_guard lock(mutex_);
      if (holds_back_-- > 0) return asking_.fetch_sub(1), false;
      holds_back_ = 3;
      come.swap(awaited_);
    }
    for (LaterCompletion& each : come) each.complete();
    EXPECT_EQ(asking_.fetch_sub(1), 1) << "one thread at a time asks";
    return !come.empty();
  }
  [[nodiscard]] bool may_come() const override {
    const std::lock_guard lock(mutex_);
    return !awaited_.empty();
  }
  void rest() override {}

 private:
  mutable std::mutex mutex_;
  std::deque<LaterCompletion> awaited_;
  int holds_back_ = 3;
  std::atomic<int> asking_{0};
};

// Threads that run nodes, that spin and that sleep ask; nobody is told of a deadlock while something may come.
TEST_P(LaterCompletions, ComeWhenTheExecutorAsks) {
  Arrivals arrivals;
  executor_->add(arrivals);
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 50);
    std::vector<int> values(8, 0);
    std::vector<NodeRef> last(8);
    for (int round = 0; round < 60; ++round)
      for (std::size_t chain = 0; chain < 8; ++chain) {
        const NodeRef received = test::launch_node(
            *executor_, scope, info_,
            [&](Node& node, Execution& execution) {
              arrivals.await(complete_later(node, execution));
            },
            last[chain] ? std::vector{last[chain]} : std::vector<NodeRef>());
        last[chain] =
            test::launch_node(*executor_, scope, info_,
                              [&, chain](Node&, Execution&) { ++values[chain]; }, {received});
      }
    scope.drain(nullptr);
    EXPECT_EQ(values, std::vector<int>(8, 60));
  });
  executor_->remove(arrivals);
}

// What nothing from outside can end is a deadlock.
TEST_P(LaterCompletions, HideNoDeadlock) {
  Arrivals arrivals;
  executor_->add(arrivals);
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 50);
    const NodeRef open = test::launch_node(
        *executor_, scope, info_,
        [&](Node& node, Execution& execution) { arrivals.await(complete_later(node, execution)); });
    scope.drain(nullptr);
    EXPECT_TRUE(is_complete(open));
    EXPECT_THROW(executor_->wait(
                     scope, [] { return false; }, {}, &info_),
                 Deadlock);
  });
  executor_->remove(arrivals);
}

INSTANTIATE_TEST_SUITE_P(All, LaterCompletions,
                         testing::Values(Case{"alone", 0}, Case{"one", 1}, Case{"two", 2},
                                         Case{"seeded", -1}),
                         [](const auto& param) { return std::string(param.param.name); });

/// Completes an operation when its turn comes.
class Completes final : public BackgroundJob {
 public:
  explicit Completes(LaterCompletion later) : later_(later) {}
  void run() noexcept override { later_.complete(); }

 private:
  LaterCompletion later_;
};

/// The order in which the successors of ten operations run that background jobs complete.
std::vector<int> order_under(std::uint64_t seed) {
  const auto executor = make_executor(-1, seed);
  const NodeInfo info{"send", std::source_location::current()};
  std::vector<int> order;
  executor->run_root([&] {
    Scope scope(*executor, nullptr, 100);
    for (int i = 0; i < 10; ++i) {
      const NodeRef sent =
          test::launch_node(*executor, scope, info, [&](Node& node, Execution& execution) {
            executor->post(std::make_shared<Completes>(complete_later(node, execution)));
          });
      test::launch_node(*executor, scope, info, [&, i](Node&, Execution&) { order.push_back(i); },
                        {sent});
    }
    scope.drain(nullptr);
  });
  return order;
}

TEST(SeededWorld, TheSeedDecidesWhenAnOperationIsCompletedFromOutside) {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<int> order = order_under(seed);
    EXPECT_EQ(order.size(), 10U);
    EXPECT_EQ(order, order_under(seed));
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 15U);
}

/// Programs that pass a number round, each adding one: program i waits for a message from the one before it. A message
/// is an operation that completes when the other program sends it.
std::vector<int> ring_under(std::uint64_t seed, int programs, int rounds) {
  ProcessorPlan plan;
  plan.cpus.push_back({0, {}});
  SeededExecutor executor(plan, {}, seed);
  const NodeInfo info{"message", std::source_location::current()};
  struct Mailbox {
    std::deque<int> values;
    std::deque<LaterCompletion> receivers;
  };
  std::vector<Mailbox> mailboxes(static_cast<std::size_t>(programs));
  std::vector<int> trace;
  const auto send = [&](int to, int value) {
    Mailbox& box = mailboxes[static_cast<std::size_t>(to)];
    box.values.push_back(value);
    if (box.receivers.empty()) return;
    LaterCompletion receiver = box.receivers.front();
    box.receivers.pop_front();
    receiver.complete();
  };
  std::vector<std::function<void()>> roots;
  roots.reserve(programs);
  for (int me = 0; me < programs; ++me) {
    roots.emplace_back([&, me] {
      executor.run_root([&, me] {  // as a runtime does
        Scope scope(executor, nullptr, 100);
        Mailbox& box = mailboxes[static_cast<std::size_t>(me)];
        if (me == 0) send(0, 0);
        for (int round = 0; round < rounds; ++round) {
          const NodeRef message =
              test::launch_node(executor, scope, info, [&](Node& node, Execution& execution) {
                const std::size_t waiting = box.receivers.size();
                if (box.values.size() > waiting) return;
                box.receivers.push_back(complete_later(node, execution));
              });
          test::launch_node(executor, scope, info,
                            [&, me](Node&, Execution&) {
                              const int value = box.values.front();
                              box.values.pop_front();
                              trace.push_back(me);
                              send((me + 1) % programs, value + 1);
                            },
                            {message});
          scope.drain(nullptr);
        }
        test::launch_node(executor, scope, info,
                          [&, me](Node&, Execution&) { trace.push_back(-1 - me); });
        scope.drain(nullptr);
      });
    });
  }
  executor.run_programs(roots);
  trace.push_back(static_cast<int>(executor.steps()));
  return trace;
}

TEST(SeededWorld, SeveralProgramsExchangeMessages) {
  constexpr int kPrograms = 4, kRounds = 5;
  std::set<std::vector<int>> traces;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::vector<int> trace = ring_under(seed, kPrograms, kRounds);
    EXPECT_EQ(trace, ring_under(seed, kPrograms, kRounds)) << "seed " << seed;
    int next = 0;
    for (std::size_t i = 0; i + 1 < trace.size(); ++i) {
      if (trace[i] >= 0) { EXPECT_EQ(trace[i], next++ % kPrograms); }
    }
    EXPECT_EQ(next, kPrograms * kRounds);
    traces.insert(trace);
  }
  EXPECT_GT(traces.size(), 25U);
}

TEST(SeededWorld, AProgramThatCannotGoOnEndsWhenNobodyCan) {
  ProcessorPlan plan;
  plan.cpus.push_back({0, {}});
  SeededExecutor executor(plan, {}, 9);
  const NodeInfo info{"step", std::source_location::current()};
  int steps = 0;
  const std::function<void()> programs[] = {
      [&] {
        Scope scope(executor, nullptr, 10);
        const NodeRef access = test::launch_node(
            executor, scope, info, [](Node&, Execution&) {}, {}, kManual);
        const NodeRef held =
            test::launch_node(executor, scope, info, [](Node&, Execution&) {}, {access});
        struct Close {
          Executor& executor;
          Scope& scope;
          NodeRef access;
          ~Close() {
            executor.complete_manual(*access.node);
            scope.drain(nullptr);
          }
        } close{executor, scope, access};
        executor.wait(
            scope, [&] { return is_complete(held); }, held, nullptr);
      },
      [&] {
        Scope scope(executor, nullptr, 10);
        for (int i = 0; i < 100; ++i) {
          test::launch_node(executor, scope, info, [&](Node&, Execution&) { ++steps; });
          scope.drain(nullptr);
        }
      }};
  EXPECT_THROW(executor.run_programs(programs), Deadlock);
  EXPECT_EQ(steps, 100);
}

// A program for which there is no stack does not keep the others from running.
TEST(SeededWorld, AProgramWithoutAStackFailsAlone) {
  ProcessorPlan plan;
  plan.cpus.push_back({0, {}});
  ExecutorOptions options;
  options.stacks = 3;  // two programs' and a task's
  SeededExecutor executor(plan, options, 4);
  const NodeInfo info{"step", std::source_location::current()};
  int steps = 0;
  const std::function<void()> program = [&] {
    Scope scope(executor, nullptr, 10);
    test::launch_node(executor, scope, info, [&](Node&, Execution&) { ++steps; });
    scope.drain(nullptr);
  };
  executor.run_root(program);  // makes a task's stack
  const std::vector<std::function<void()>> programs(3, program);
  EXPECT_THROW(executor.run_programs(programs), std::bad_alloc);
  EXPECT_EQ(steps, 3);
}

}  // namespace
}  // namespace refrain::exec::later_completion_test
