// BackgroundJobs: by whom and when they are run, on threads and in the seeded executor. No case goes by time: threads
// are held by atomics until what is to be seen can be seen.

#include "exec/background.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "exec/seeded_executor.hpp"
#include "exec/threads.hpp"
#include "profile/clock.hpp"
#include "support/launch_node.hpp"

namespace refrain::exec::background_test {
namespace {

using test::launch_node;

const NodeInfo task_info{"update", std::source_location::current()};

ProcessorPlan plan() {
  ProcessorPlan plan;
  plan.cpus.push_back({0, {}});
  plan.dedicated.push_back(1);
  return plan;
}

/// Notes that it has run, and where, and does what the test says.
struct Noted final : BackgroundJob {
  explicit Noted(std::function<void()> also = {}) : what(std::move(also)) {}
  void run() noexcept override {
    by = std::this_thread::get_id();
    if (what) what();
    ++runs;
  }
  [[nodiscard]] bool done() const { return runs != 0; }
  std::function<void()> what;
  std::thread::id by;
  std::atomic<int> runs{0};
};

class BackgroundJobs : public testing::Test {
 protected:
  /// Runs the program in a scope of an executor with so many workers and a dedicated thread.
  void run(int workers, const std::function<void(Executor&, Scope&)>& program,
           std::uint32_t window = 1000) {
    ExecutorOptions options;
    options.workers = workers;
    options.bind = false;
    const auto executor = make_threaded_executor(plan(), options);
    executor->run_root([&] {
      Scope scope(*executor, nullptr, window);
      program(*executor, scope);
      scope.drain(nullptr);
    });
  }
  static void until(const std::function<bool()>& condition) {
    while (!condition()) std::this_thread::yield();
  }
  /// Keeps a worker busy until `released_`, from when this returns.
  NodeRef hold_worker(Executor& executor, Scope& scope) {
    const NodeRef ref = launch_node(executor, scope, task_info, [&](Node&, Execution&) {
      held_ = true;
      until([&] { return released_.load(); });
    });
    until([&] { return held_.load(); });
    return ref;
  }
  std::atomic<bool> held_{false}, released_{false};
};

TEST_F(BackgroundJobs, AWorkerRunsThemWhileTheProgramLoops) {
  for (const int workers : {1, 2, 3}) {
    std::vector<std::shared_ptr<Noted>> jobs;
    run(workers, [&](Executor& executor, Scope&) {
      for (int i = 0; i < 200; ++i) {
        jobs.push_back(std::make_shared<Noted>());
        executor.post(jobs.back());
      }
      for (const auto& job : jobs) until([&] { return job->done(); });
      until([&] { return executor.counters().background_jobs == 200; });
    });
    for (const auto& job : jobs) {
      EXPECT_EQ(job->runs, 1);
      EXPECT_NE(job->by, std::this_thread::get_id());
      EXPECT_EQ(job.use_count(), 1);
    }
  }
}

// Each time a worker is going to sleep, or sleeps already.
TEST_F(BackgroundJobs, ASleeperIsWoken) {
  for (const int workers : {1, 2}) {
    run(workers, [&](Executor& executor, Scope&) {
      for (int i = 0; i < 500; ++i) {
        std::uint64_t sleeps = 0;
        const auto job = std::make_shared<Noted>([&] { sleeps = executor.counters().sleeps; });
        executor.post(job);
        until([&] { return job->done(); });
        until([&] { return executor.counters().sleeps > sleeps; });
      }
    });
  }
}

TEST_F(BackgroundJobs, TimeIsCounted) {
  run(1, [&](Executor& executor, Scope&) {
    EXPECT_EQ(executor.counters().background_ns, 0U);
    executor.post(std::make_shared<Noted>([] {
      const std::uint64_t begin = profile::now_ns();
      until([&] { return profile::now_ns() >= begin + 10'000; });
    }));
    until([&] { return executor.counters().background_jobs == 1; });
    EXPECT_GE(executor.counters().background_ns, 10'000U);
  });
}

// Also where the nodes are so short and many that the worker tries whether the launching thread is faster alone.
TEST_F(BackgroundJobs, ComeAfterNodes) {
  for (const int all : {200, 20'000}) {
    held_ = released_ = false;
    const auto job = std::make_shared<Noted>();
    int before_it = 0;
    std::atomic<int> nodes{0};
    const auto program = [&](Executor& executor, Scope& scope) {
      hold_worker(executor, scope);
      executor.post(job);
      for (int i = 0; i < all; ++i) {
        launch_node(executor, scope, task_info, [&](Node&, Execution&) {
          if (!job->done()) ++before_it;
          ++nodes;
        });
      }
      released_ = true;
      until([&] { return nodes == all && job->done(); });
    };
    run(1, program, 100'000);
    EXPECT_EQ(before_it, all);
  }
}

// The worker goes on with a successor that it would keep, or with what it steals.
TEST_F(BackgroundJobs, LateOnesComeBeforeNodes) {
  for (const bool kept : {false, true}) {
    held_ = released_ = false;
    std::vector<std::shared_ptr<Noted>> jobs;
    int before_them = 0;
    std::atomic<int> nodes{0};
    run(1, [&](Executor& executor, Scope& scope) {
      const NodeRef holding = hold_worker(executor, scope);
      for (int i = 0; i < 50; ++i) {
        launch_node(
            executor, scope, task_info,
            [&](Node&, Execution&) {
              for (const auto& job : jobs) before_them += job->done() ? 0 : 1;
              ++nodes;
            },
            kept ? std::vector<NodeRef>{holding} : std::vector<NodeRef>{});
      }
      for (int i = 0; i < 3; ++i) {
        jobs.push_back(std::make_shared<Noted>());
        executor.post(jobs.back());
      }
      executor.hurry();
      released_ = true;
      until([&] { return nodes == 50; });
    });
    EXPECT_EQ(before_them, 0);
  }
}

// The worker completes a node and would go on with its successor. The job lasts until the program is done.
TEST_F(BackgroundJobs, HoldUpNothingThatOthersCanDo) {
  for (int round = 0; round < 50; ++round) {
    held_ = released_ = false;
    std::atomic<bool> drained{false};
    const auto job = std::make_shared<Noted>([&] { until([&] { return drained.load(); }); });
    run(1, [&](Executor& executor, Scope& scope) {
      const NodeRef holding = hold_worker(executor, scope);
      std::thread::id by;
      launch_node(executor, scope, task_info,
                  [&](Node&, Execution&) { by = std::this_thread::get_id(); }, {holding});
      executor.post(job);
      executor.hurry();
      released_ = true;
      scope.drain(nullptr);
      EXPECT_EQ(by, std::this_thread::get_id());
      drained = true;
      until([&] { return job->done(); });
    });
  }
}

// The only worker is held until the program's thread has run all else, while it waits for room and at the end.
TEST_F(BackgroundJobs, AreNotForTheProgramsThread) {
  const auto job = std::make_shared<Noted>();
  constexpr int kNodes = 100;
  int nodes = 0;
  run(
      1,
      [&](Executor& executor, Scope& scope) {
        hold_worker(executor, scope);
        executor.post(job);
        executor.hurry();
        for (int i = 0; i < kNodes; ++i) {
          launch_node(executor, scope, task_info, [&](Node&, Execution&) {
            EXPECT_FALSE(job->done());
            if (++nodes == kNodes) released_ = true;
          });
        }
        scope.drain(nullptr);
        until([&] { return job->done(); });
      },
      8);
  EXPECT_NE(job->by, std::this_thread::get_id());
}

TEST_F(BackgroundJobs, AreNotForAWorkerThatWaits) {
  const auto job = std::make_shared<Noted>();
  run(1, [&](Executor& executor, Scope& scope) {
    launch_node(executor, scope, task_info, [&](Node& node, Execution&) {
      Scope inner(executor, node.scope, 8);
      executor.post(job);
      executor.hurry();
      for (int i = 0; i < 100; ++i) {
        launch_node(executor, inner, task_info,
                    [&](Node&, Execution&) { EXPECT_FALSE(job->done()); });
      }
      inner.drain(nullptr);
      EXPECT_FALSE(job->done());
    });
    until([&] { return job->done(); });
  });
}

// There is a dedicated thread, and time between its nodes.
TEST_F(BackgroundJobs, WithoutWorkersNobodyRunsThem) {
  const auto job = std::make_shared<Noted>();
  run(0, [&](Executor& executor, Scope& scope) {
    EXPECT_FALSE(executor.runs_background());
    executor.post(job);
    executor.hurry();
    for (int i = 0; i < 100; ++i) {
      launch_node(executor, scope, task_info, [](Node&, Execution&) {});
      Node& node = scope.allocate(0);
      node.info = &task_info;
      node.processor = 2;  // id 1
      node.run = [](Node&, Execution&) {};
      executor.publish(node, {});
      scope.drain(nullptr);
    }
  });
  EXPECT_FALSE(job->done());
  EXPECT_EQ(job.use_count(), 1);
}

// The one that runs ends only when the other has been dropped.
TEST_F(BackgroundJobs, AtTheEndThoseThatRunAreFinishedAndTheOthersDropped) {
  struct Dropped final : BackgroundJob {
    explicit Dropped(std::atomic<bool>& flag) : dropped(flag) {}
    ~Dropped() override { dropped = true; }
    void run() noexcept override { ADD_FAILURE() << "it was to be dropped"; }
    std::atomic<bool>& dropped;
  };
  const auto running = std::make_shared<Noted>([&] {
    held_ = true;
    until([&] { return released_.load(); });
  });
  run(1, [&](Executor& executor, Scope&) {
    executor.post(running);
    until([&] { return held_.load(); });
    executor.post(std::make_shared<Dropped>(released_));
  });
  EXPECT_EQ(running->runs, 1);
  EXPECT_EQ(running.use_count(), 1);
}

// Tiny tasks, so that the workers stay away for most of the time.
TEST_F(BackgroundJobs, AreRunWhileTheProgramsThreadRunsAlone) {
  run(2, [&](Executor& executor, Scope& scope) {
    for (int round = 0; round < 100; ++round) {
      const auto job = std::make_shared<Noted>();
      for (int i = 0; !job->done(); ++i) {
        if (i == 1000) executor.post(job);
        if (i == 100'000) executor.hurry();  // the workers may have been busy
        scope.throttle();
        Node& node = scope.allocate(0);
        node.info = &task_info;
        node.run = [](Node&, Execution&) {};
        executor.publish(node, {});
      }
      EXPECT_NE(job->by, std::this_thread::get_id());
    }
  });
}

// --- seeded ------------------------------------------------------------------------------------------

constexpr int kChain = 4;

/// What ran, in order: the tasks of a chain, and two jobs (-1, -2) posted before it. `steps`: may be null.
std::vector<int> run_seeded(std::uint64_t seed, std::uint64_t* steps) {
  std::vector<int> order;
  SeededExecutor executor(plan(), ExecutorOptions{}, seed);
  executor.run_root([&] {
    Scope scope(executor, nullptr, 100);
    for (const int job : {-1, -2}) {
      executor.post(std::make_shared<Noted>([&order, job] { order.push_back(job); }));
    }
    std::vector<NodeRef> last;
    for (int i = 0; i < kChain; ++i) {
      last = {launch_node(
          executor, scope, task_info, [&order, i](Node&, Execution&) { order.push_back(i); },
          last)};
    }
    scope.drain(nullptr);
  });
  const auto jobs = std::count_if(order.begin(), order.end(), [](int what) { return what < 0; });
  EXPECT_EQ(executor.counters().background_jobs, static_cast<std::uint64_t>(jobs));
  if (steps) *steps = executor.steps();
  return order;
}

TEST(SeededBackgroundJobs, RunAtAnyStepOrNever) {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) orders.insert(run_seeded(seed, nullptr));
  // All ways to place two among the chain's, or one of them, or none.
  constexpr std::size_t kPlaces = kChain + 1;
  EXPECT_EQ(orders.size(), kPlaces * (kPlaces + 1) + 2 * kPlaces + 1);
}

TEST(SeededBackgroundJobs, RunsRepeatExactly) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::uint64_t steps = 0;
    std::uint64_t steps_again = 0;
    const auto order = run_seeded(seed, &steps);
    EXPECT_EQ(order, run_seeded(seed, &steps_again));
    EXPECT_EQ(steps, steps_again);
  }
}

TEST(SeededBackgroundJobs, WhatNeverRanIsDropped) {
  int never = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto job = std::make_shared<Noted>();
    {
      SeededExecutor executor(plan(), ExecutorOptions{}, seed);
      executor.run_root([&] {
        executor.post(job);
        executor.interleave();
      });
    }
    EXPECT_EQ(job.use_count(), 1);
    EXPECT_LE(job->runs, 1);
    never += job->done() ? 0 : 1;
  }
  EXPECT_GT(never, 0);
  EXPECT_LT(never, 200);
}

}  // namespace
}  // namespace refrain::exec::background_test
