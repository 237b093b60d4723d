// What both executors promise: the same cases on threads (0 to 2 workers) and seeded.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

#include "exec/background.hpp"
#include "exec/seeded_executor.hpp"
#include "exec/threads.hpp"
#include "refrain/error.hpp"
#include "support/launch_node.hpp"

namespace refrain::exec::executor_test {
namespace {

struct Case {
  const char* name;
  int workers;  ///< -1: seeded
};

class BothExecutors : public testing::TestWithParam<Case> {
 protected:
  BothExecutors() {
    ProcessorPlan plan;
    plan.cpus.push_back({0, {}});
    plan.dedicated.push_back(1);
    ExecutorOptions options;
    options.workers = std::max(0, GetParam().workers);
    options.bind = false;
    if (GetParam().workers < 0) {
      executor_ = std::make_shared<SeededExecutor>(plan, options, 5);
    } else {
      executor_ = make_threaded_executor(plan, options);
    }
  }

  NodeRef launch(Scope& scope, const NodeInfo& info, test::NodeBody body,
                 const std::vector<NodeRef>& after = {}, std::uint8_t flags = 0) {
    return test::launch_node(*executor_, scope, info, std::move(body), after, flags);
  }
  void wait_for(Scope& scope, NodeRef ref) {
    executor_->wait(
        scope, [&] { return is_complete(ref); }, ref, nullptr);
  }

  std::shared_ptr<Executor> executor_;
};

const NodeInfo access_info{"circuit.voltage", std::source_location::current()};
const NodeInfo task_info{"update", std::source_location::current()};
const NodeInfo late_info{"report", std::source_location::current()};
const NodeInfo parent_info{"parent", std::source_location::current()};

TEST_P(BothExecutors, ADeadlockNamesTheChain) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    const NodeRef access = launch(
        scope, access_info, [](Node&, Execution&) {}, {}, kManual);
    const NodeRef task = launch(scope, task_info, [](Node&, Execution&) {}, {access});
    const NodeRef late = launch(scope, late_info, [](Node&, Execution&) {}, {task});
    try {
      wait_for(scope, late);
      ADD_FAILURE() << "the wait returned";
    } catch (const Deadlock& error) {
      EXPECT_EQ(std::string(error.what()),
                "deadlock: the program waits for task 'report' launched at " +
                    to_string(late_info.where) + ", which waits for task 'update' launched at " +
                    to_string(task_info.where) +
                    ", which waits for the inline access 'circuit.voltage' opened at " +
                    to_string(access_info.where) + ", which is still open");
    }
    executor_->complete_manual(*access.node);
    wait_for(scope, late);
    scope.drain(nullptr);
  });
}

TEST_P(BothExecutors, ADeadlockBelowEndsTheTaskThatWaits) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    const NodeRef parent = launch(scope, parent_info, [&](Node& node, Execution&) {
      Scope inner(*executor_, node.scope, 100);
      const NodeRef access = launch(
          inner, access_info, [](Node&, Execution&) {}, {}, kManual);
      const NodeRef task = launch(inner, task_info, [](Node&, Execution&) {}, {access});
      struct Close {
        Executor& executor;
        Scope& inner;
        Node& access;
        ~Close() {
          executor.complete_manual(access);
          inner.drain(nullptr);
        }
      } close{*executor_, inner, *access.node};
      wait_for(inner, task);
    });
    wait_for(scope, parent);
    scope.drain(nullptr);
    const FailureRef failure = scope.failures().take();
    ASSERT_NE(failure, nullptr);
    try {
      failure->rethrow();
    } catch (const TaskFailed& error) {
      EXPECT_NE(std::string(error.what())
                    .find("deadlock: task 'parent' launched at " + to_string(parent_info.where) +
                          " waits for task 'update'"),
                std::string::npos)
          << error.what();
      EXPECT_THROW(std::rethrow_exception(error.original()), Deadlock);
    }
  });
}

TEST_P(BothExecutors, AFullWindowOfParkedNodesIsADeadlock) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 4);
    const NodeRef access = launch(
        scope, access_info, [](Node&, Execution&) {}, {}, kManual);
    for (int i = 0; i < 3; ++i) launch(scope, task_info, [](Node&, Execution&) {}, {access});
    EXPECT_THROW(launch(scope, task_info, [](Node&, Execution&) {}, {access}), Deadlock);
    executor_->complete_manual(*access.node);
    scope.drain(nullptr);
  });
}

TEST_P(BothExecutors, ManualNodesMayEndBeforeTheyAreGranted) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    int order = 0;
    const NodeRef first = launch(
        scope, access_info, [](Node&, Execution&) {}, {}, kManual);
    const NodeRef second = launch(
        scope, access_info, [](Node&, Execution&) {}, {first}, kManual);
    const NodeRef last = launch(scope, task_info, [&](Node&, Execution&) { order = 1; }, {second});
    executor_->complete_manual(*second.node);
    EXPECT_FALSE(is_complete(last));
    EXPECT_EQ(order, 0);
    executor_->complete_manual(*first.node);
    scope.drain(nullptr);
    EXPECT_EQ(order, 1);
  });
}

TEST_P(BothExecutors, WhatComesAfterAFailureRuns) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    int ran = 0;
    const NodeRef bad =
        launch(scope, task_info, [](Node&, Execution&) -> void { throw std::runtime_error("no"); });
    launch(scope, late_info, [&](Node&, Execution&) { ++ran; }, {bad});
    scope.drain(nullptr);
    EXPECT_EQ(ran, 1);
    EXPECT_NE(scope.failures().find(bad.seq), nullptr);
    EXPECT_EQ(scope.failures().size(), 1U);
    EXPECT_NE(scope.failures().take(), nullptr);
    EXPECT_EQ(scope.failures().take(), nullptr);
  });
}

TEST_P(BothExecutors, ManySuccessors) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100'000);
    int first = 0;
    std::atomic<int> readers{0};
    const NodeRef access = launch(
        scope, access_info, [](Node&, Execution&) {}, {}, kManual);
    const NodeRef writer =
        launch(scope, task_info, [&](Node&, Execution&) { first = 1; }, {access});
    std::vector<NodeRef> all;
    all.reserve(2000);
    for (int i = 0; i < 2000; ++i) {
      all.push_back(
          launch(scope, task_info, [&](Node&, Execution&) { readers += first; }, {writer}));
    }
    int sum = 0;
    launch(
        scope, late_info, [&](Node&, Execution&) { sum = readers; }, all);
    executor_->complete_manual(*access.node);
    scope.drain(nullptr);
    EXPECT_EQ(sum, 2000);
  });
}

TEST_P(BothExecutors, DedicatedProcessorsRunTheirOwnNodes) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    const auto launching = std::this_thread::get_id();
    int processor = -1;
    bool elsewhere = false;
    Node& node = scope.allocate(sizeof(void*) * 3);
    struct Seen {
      int* processor;
      bool* elsewhere;
      std::thread::id launching;
    };
    node.payload_as<Seen>() = {&processor, &elsewhere, launching};
    node.info = &task_info;
    node.processor = 2;  // id 1
    node.run = [](Node& self, Execution& execution) {
      const Seen& seen = self.payload_as<Seen>();
      *seen.processor = execution.processor;
      *seen.elsewhere = std::this_thread::get_id() != seen.launching;
    };
    executor_->publish(node, {});
    scope.drain(nullptr);
    EXPECT_EQ(processor, 1);
    EXPECT_EQ(elsewhere, GetParam().workers >= 0);
  });
}

TEST_P(BothExecutors, RunsInlineWhenReady) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    static thread_local int here = 0;
    here = 0;
    Node& node = scope.allocate(0);
    node.info = &task_info;
    node.run = [](Node&, Execution&) { here = 1; };
    executor_->publish_inline(node, {});
    EXPECT_EQ(here, 1);
    scope.drain(nullptr);
  });
}

TEST_P(BothExecutors, MemoryIsBoundedByTheWindow) {
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 64);
    for (int i = 0; i < 20'000; ++i) {
      scope.throttle();
      Node& node = scope.allocate(100);
      node.info = &task_info;
      node.run = [](Node&, Execution&) {};
      executor_->publish(node, {});
    }
    // As many nodes as the window has room for, in slabs that double.
    EXPECT_LE(scope.pool().bytes(), 2 * 64 * (sizeof(Node) + 192) + NodePool::kFirstBuffer);
    scope.drain(nullptr);
    EXPECT_EQ(scope.window().launched(), 20'000U);
    EXPECT_EQ(scope.in_flight(), 0U);
  });
}

/// Counts how often it runs.
struct Counted final : BackgroundJob {
  explicit Counted(std::atomic<int>& count) : runs(count) {}
  void run() noexcept override { ++runs; }
  std::atomic<int>& runs;
};

// Posted by the program and by tasks of two depths at the same time. The program then waits for nothing.
TEST_P(BothExecutors, ManyPostAndEachJobIsRunOnce) {
  constexpr int kTasks = 40, kEach = 5, kAll = 2 * kTasks * kEach;
  std::vector<std::atomic<int>> runs(kAll);
  std::atomic<int> posted{0};
  const auto post = [&] {
    for (int i = 0; i < kEach; ++i) executor_->post(std::make_shared<Counted>(runs[posted++]));
  };
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 1000);
    for (int i = 0; i < kTasks; ++i) {
      launch(scope, parent_info, [&, i](Node& node, Execution&) {
        Scope inner(*executor_, node.scope, 10);
        launch(inner, task_info, [&](Node&, Execution&) { post(); });
        if (i % 8 == 3) executor_->hurry();
        inner.drain(&parent_info);
      });
      post();
    }
    scope.drain(nullptr);
    if (!executor_->runs_background()) return;
    for (auto& times : runs) {
      while (times == 0) {
        executor_->interleave();
        std::this_thread::yield();
      }
    }
  });
  EXPECT_EQ(posted, kAll);
  const bool run = executor_->runs_background();
  EXPECT_EQ(run, GetParam().workers != 0);
  executor_.reset();
  for (const auto& times : runs) EXPECT_EQ(times, run ? 1 : 0);
}

TEST_P(BothExecutors, ABackgroundJobHidesNoDeadlock) {
  std::atomic<int> runs{0};
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    const NodeRef access = launch(
        scope, access_info, [](Node&, Execution&) {}, {}, kManual);
    const NodeRef task = launch(scope, task_info, [](Node&, Execution&) {}, {access});
    for (int i = 0; i < 10; ++i) executor_->post(std::make_shared<Counted>(runs));
    EXPECT_THROW(wait_for(scope, task), Deadlock);
    if (executor_->runs_background()) {
      EXPECT_EQ(runs, 10) << "as long as one is left, something runs";
    }
    executor_->complete_manual(*access.node);
    scope.drain(nullptr);
  });
}

// With one worker, and that in the body: nobody is there to run the job, late as it is.
TEST_P(BothExecutors, AJobThatNobodyMayRunHidesNoDeadlock) {
  std::atomic<int> runs{0};
  executor_->run_root([&] {
    Scope scope(*executor_, nullptr, 100);
    launch(scope, parent_info, [&](Node& node, Execution&) {
      Scope inner(*executor_, node.scope, 100);
      executor_->post(std::make_shared<Counted>(runs));
      executor_->hurry();
      const NodeRef access = launch(
          inner, access_info, [](Node&, Execution&) {}, {}, kManual);
      const NodeRef task = launch(inner, task_info, [](Node&, Execution&) {}, {access});
      EXPECT_THROW(wait_for(inner, task), Deadlock);
      executor_->complete_manual(*access.node);
      inner.drain(nullptr);
    });
    scope.drain(nullptr);
  });
  executor_.reset();
  EXPECT_LE(runs, 1);
}

INSTANTIATE_TEST_SUITE_P(All, BothExecutors,
                         testing::Values(Case{"alone", 0}, Case{"one", 1}, Case{"two", 2},
                                         Case{"seeded", -1}),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace refrain::exec::executor_test
