// The parts of the executors one at a time, on one thread.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <string>

#include "exec/deque.hpp"
#include "exec/fiber.hpp"
#include "exec/gang_loops.hpp"
#include "exec/notifier.hpp"
#include "exec/shared_queues.hpp"
#include "exec/threads.hpp"
#include "graph/failure.hpp"
#include "graph/node.hpp"
#include "graph/ready_queue.hpp"
#include "graph/reducer_gate.hpp"
#include "graph/scope.hpp"
#include "refrain/error.hpp"

namespace refrain::exec::exec_parts_test {
namespace {

TEST(ThreadLimits, TellsTheOneThatIsReached) {
  ThreadLimits limits;
  limits.group_name = "/batch/job7";
  limits.group = {120, 118};
  limits.user = {400, 400};
  limits.system.most = 64000;
  limits.stack = 8 << 20;
  EXPECT_EQ(what_limits_threads(limits), "the user may have 400 (ulimit -u), and has 400");
  limits.user.now = 17;
  EXPECT_EQ(what_limits_threads(limits),
            "of what is known no limit is reached, pids.max 120, ulimit -u 400, "
            "kernel.threads-max 64000; memory for stacks of 8MiB may be short");
  limits.addresses = {std::uint64_t{1} << 30, (std::uint64_t{1} << 30) - 4096};
  EXPECT_EQ(what_limits_threads(limits),
            "a thread's stack takes 8MiB of addresses, of which 1GiB are allowed (ulimit -v) and "
            "1024MiB used");
  limits.group.now = 120;
  EXPECT_EQ(what_limits_threads(limits),
            "the control group /batch/job7 allows 120 (pids.max), and has 120");
  limits.group = {0, 0};  // who is in it already goes on, with no thread more
  EXPECT_EQ(what_limits_threads(limits),
            "the control group /batch/job7 allows 0 (pids.max), and has 0");
}

TEST(NodePool, ReusesTheNewestNodeOfTheClass) {
  NodePool pool;
  Node* small = pool.carve(NodePool::class_of(10));
  Node* large = pool.carve(NodePool::class_of(100'000));
  EXPECT_NE(small->size_class, large->size_class);
  EXPECT_EQ(pool.take_free(small->size_class), nullptr);
  pool.put(*small);
  pool.put(*large);
  EXPECT_EQ(pool.take_free(small->size_class), small);
  EXPECT_EQ(pool.take_free(large->size_class), large);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large) % 64, 0U);
}

TEST(NodePool, ClassesHoldTheirPayload) {
  for (const std::size_t bytes : {0, 64, 65, 192, 193, 448, 449, 960, 961, 2048, 2049, 1 << 20}) {
    const int size_class = NodePool::class_of(bytes);
    EXPECT_GE(NodePool::payload_of(size_class), bytes);
    if (size_class > 0) { EXPECT_LT(NodePool::payload_of(size_class - 1), bytes); }
  }
}

TEST(NodePool, VisitsEveryNodeAndReusesBlocks) {
  NodePool pool;
  std::set<Node*> made;
  for (int i = 0; i < 500; ++i) made.insert(pool.carve(i % 3));
  std::set<Node*> seen;
  for (Node* node : pool.nodes()) seen.insert(node);
  EXPECT_EQ(made, seen);
  Node& node = **made.begin();
  node.overflow = pool.take_block();
  node.overflow->next = pool.take_block();
  const std::set<SuccessorBlock*> blocks{node.overflow, node.overflow->next};
  const std::size_t bytes = pool.bytes();
  pool.put(node);
  EXPECT_EQ(node.overflow, nullptr);
  EXPECT_TRUE(blocks.contains(pool.take_block()));
  EXPECT_TRUE(blocks.contains(pool.take_block()));
  EXPECT_EQ(pool.bytes(), bytes);
}

TEST(Deque, BehavesLikeADequeInAMillionSteps) {
  Deque deque(2);
  std::deque<std::uintptr_t> model;
  std::mt19937 random(1);
  for (int step = 0; step < 1'000'000; ++step) {
    const unsigned dice = random() % 16;
    if (dice < 8) {
      model.push_back(1 + random() % 64);
      deque.push(model.back());
    } else if (dice < 12) {
      const std::uintptr_t expected = model.empty() ? 0 : model.back();
      if (expected != 0) model.pop_back();
      ASSERT_EQ(deque.take(), expected);
    } else {
      const std::uintptr_t expected = model.empty() ? 0 : model.front();
      if (expected != 0) model.pop_front();
      ASSERT_EQ(deque.steal(), expected);
    }
  }
}

std::shared_ptr<Executor> without_workers() {
  ExecutorOptions options;
  options.workers = 0;
  options.bind = false;
  return make_threaded_executor(ProcessorPlan{{{0, {}}}, {}}, options);
}

void check_order(ReadyQueue::Order order, std::initializer_list<int> after_two) {
  const auto executor = without_workers();
  Scope older(*executor, nullptr, 10), newer(*executor, nullptr, 10);
  ReadyQueue queue(order);
  std::vector<Node> nodes(10);
  const std::int16_t priorities[] = {0, -1, 2, 0, 2, 1, -1, 0, -5, 0};
  for (int i = 0; i < 10; ++i) {
    nodes[i].scope = i < 7 ? &older : &newer;
    nodes[i].priority = priorities[i];
    queue.push(nodes[i]);
  }
  EXPECT_EQ(queue.pop_urgent(), &nodes[2]);
  const auto as_wanted = [&](const Node& node) {
    return node.scope == &older && node.priority == 0;
  };
  EXPECT_EQ(queue.pop_if(as_wanted), &nodes[0]);
  for (const int i : after_two) EXPECT_EQ(queue.pop(), &nodes[i]);
  EXPECT_EQ(queue.pop(), nullptr);
  EXPECT_EQ(queue.pop_urgent(), nullptr);
  EXPECT_EQ(queue.size(), 0U);
}

TEST(ReadyQueue, TheNewestScopeFirstThenHigherPriorityThenArrival) {
  check_order(ReadyQueue::Order::scope, {7, 9, 8, 4, 5, 3, 1, 6});
}

// A root's urgent task on a device comes before what nested tasks have there.
TEST(ReadyQueue, HigherPriorityFirstThenTheNewestScopeThenArrival) {
  check_order(ReadyQueue::Order::priority, {4, 5, 7, 9, 3, 1, 6, 8});
}

class Gate : public testing::Test {
 protected:
  Gate() : reducers_(6), folds_(6) {
    for (int i = 0; i < 6; ++i) {
      reducers_[i].seq = 10 * i + 10;
      folds_[i].seq = 10 * i + 11;
      ReducerGate::attach_fold({&reducers_[i], reducers_[i].seq}, folds_[i]);
    }
  }
  std::vector<const Node*> fold(int i) {
    std::vector<const Node*> started;
    for (Node* node = gate_.folded(folds_[i]); node; node = node->next) started.push_back(node);
    return started;
  }
  ReducerGate gate_{2};
  std::vector<Node> reducers_, folds_;
};

TEST_F(Gate, ReadyReducersStartInLaunchOrder) {
  for (Node& reducer : reducers_) gate_.enroll(reducer);
  EXPECT_TRUE(gate_.admit(reducers_[2]));
  EXPECT_TRUE(gate_.admit(reducers_[1]));
  EXPECT_FALSE(gate_.admit(reducers_[5]));
  EXPECT_FALSE(gate_.admit(reducers_[4]));
  EXPECT_EQ(fold(1), std::vector<const Node*>{&reducers_[4]});
  EXPECT_EQ(gate_.free(), 0);
}

TEST_F(Gate, TheOldestUnfoldedAlwaysStarts) {
  for (Node& reducer : reducers_) gate_.enroll(reducer);
  EXPECT_TRUE(gate_.admit(reducers_[3]));
  EXPECT_TRUE(gate_.admit(reducers_[4]));
  EXPECT_FALSE(gate_.admit(reducers_[1]));
  EXPECT_TRUE(gate_.admit(reducers_[0]));
  EXPECT_EQ(gate_.free(), -1);
  // The next oldest becomes the oldest, and is ready.
  EXPECT_EQ(fold(0), std::vector<const Node*>{&reducers_[1]});
  EXPECT_EQ(gate_.free(), -1);
}

TEST_F(Gate, TheSlotIsFreeAfterTheLastFold) {
  ReducerGate::set_folds(reducers_[0], 2);
  for (Node& reducer : reducers_) gate_.enroll(reducer);
  EXPECT_TRUE(gate_.admit(reducers_[0]));
  EXPECT_TRUE(fold(0).empty());
  EXPECT_EQ(gate_.free(), 1);
  EXPECT_TRUE(fold(0).empty());
  EXPECT_EQ(gate_.free(), 2);
}

TEST_F(Gate, YoungerOnesMayBeFoldedFirst) {
  for (Node& reducer : reducers_) gate_.enroll(reducer);
  EXPECT_TRUE(gate_.admit(reducers_[0]));
  for (const int younger : {4, 1, 5, 3}) {
    EXPECT_TRUE(gate_.admit(reducers_[younger]));
    EXPECT_TRUE(fold(younger).empty());
    EXPECT_EQ(gate_.free(), 1);
  }
  EXPECT_TRUE(fold(0).empty());
  EXPECT_TRUE(gate_.admit(reducers_[2]));
  EXPECT_TRUE(fold(2).empty());
  EXPECT_EQ(gate_.free(), 2);
}

// Its rules in the plainest form: enrolled reducers in their order, looked through from the front.
TEST(GateOfMany, KeepsTheRulesInAnyOrderOfEvents) {
  constexpr int kCount = 300;
  enum class State { none, enrolled, ready, started, folded };
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto below = [&](std::size_t end) {
      return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
    };
    const int capacity = 1 + static_cast<int>(below(4));
    const std::size_t ahead = 1 + below(60);  // reducers that are in flight at once
    ReducerGate gate(capacity);
    std::vector<Node> reducers(kCount), folds(kCount);
    std::vector<State> state(kCount, State::none);
    // Numbers are out of order by a little, as those of replays that are issued by turns. Each has 1 to 3 folds.
    std::vector<std::uint64_t> numbers(kCount);
    std::iota(numbers.begin(), numbers.end(), 0);
    if (seed % 2 == 0)
      for (auto at = numbers.begin(); at != numbers.end(); at += 10)
        std::shuffle(at, at + 10, random);
    std::vector<std::uint32_t> folds_left(kCount);
    for (int i = 0; i < kCount; ++i) {
      reducers[i].seq = 2 * numbers[i] + 1;
      folds[i].seq = reducers[i].seq + 1;
      folds_left[i] = 1 + static_cast<std::uint32_t>(below(3));
      ReducerGate::set_folds(reducers[i], folds_left[i]);
      ReducerGate::attach_fold({&reducers[i], reducers[i].seq}, folds[i]);
    }
    int free = capacity;
    std::size_t enrolled = 0, oldest = 0;
    const auto may_start = [&](std::size_t i) { return free > 0 || i == oldest; };
    while (oldest < kCount) {
      const std::size_t i = oldest + below(std::min<std::size_t>(ahead, kCount - oldest));
      if (i >= enrolled) {
        gate.enroll(reducers[enrolled]);
        state[enrolled++] = State::enrolled;
      } else if (state[i] == State::enrolled) {
        const bool starts = may_start(i);
        ASSERT_EQ(gate.admit(reducers[i]), starts);
        state[i] = starts ? State::started : State::ready;
        free -= starts;
      } else if (state[i] == State::started && --folds_left[i] > 0) {
        ASSERT_EQ(gate.folded(folds[i]), nullptr);
      } else if (state[i] == State::started) {
        state[i] = State::folded;
        ++free;
        while (oldest < enrolled && state[oldest] == State::folded) ++oldest;
        std::vector<const Node*> starts, started;
        for (std::size_t j = oldest; j < enrolled; ++j) {
          if (state[j] != State::ready) continue;
          if (!may_start(j)) break;
          state[j] = State::started;
          --free;
          starts.push_back(&reducers[j]);
        }
        for (Node* node = gate.folded(folds[i]); node; node = node->next) started.push_back(node);
        ASSERT_EQ(started, starts);
      }
      ASSERT_EQ(gate.free(), free);
    }
  }
}

TEST(GateOfMany, ForgetsWhatWasFoldedBehindAnOlderOne) {
  constexpr int kCount = 1000;
  ReducerGate gate(2);
  std::vector<Node> reducers(kCount), folds(kCount);
  for (int i = 0; i < kCount; ++i) {
    reducers[i].seq = 2 * static_cast<std::uint64_t>(i) + 1;
    folds[i].seq = reducers[i].seq + 1;
    ReducerGate::attach_fold({&reducers[i], reducers[i].seq}, folds[i]);
    gate.enroll(reducers[i]);
    if (i == 0) continue;  // it stays
    ASSERT_TRUE(gate.admit(reducers[i]));
    ASSERT_EQ(gate.folded(folds[i]), nullptr);
    ASSERT_LE(gate.entries(), 4U);
  }
  EXPECT_TRUE(gate.admit(reducers[0]));
  EXPECT_EQ(gate.folded(folds[0]), nullptr);
  EXPECT_LE(gate.entries(), 4U);
}

TEST(FailureText, NamesTheTaskAndTheLaunch) {
  const NodeInfo info{"heat", std::source_location::current()};
  Node node;
  node.info = &info;
  node.seq = 4;
  const auto failure =
      Failure::thrown_by({0, node.seq}, std::make_exception_ptr(std::out_of_range("too hot")),
                         [&] { return operation_name(&info, node.kind); });
  EXPECT_EQ(failure->origin().seq, 4U);
  try {
    failure->rethrow();
  } catch (const TaskFailed& error) {
    EXPECT_EQ(std::string(error.what()),
              "task 'heat' launched at " + to_string(info.where) + " failed: too hot");
    EXPECT_THROW(std::rethrow_exception(error.original()), std::out_of_range);
    EXPECT_EQ(error.levels(), 1);
  }
}

// Of tasks that wait for each other the last one throws; however many there are, what is kept is bounded.
TEST(FailureText, LongChainsAreToldByTheirEnds) {
  auto error = std::make_exception_ptr(std::out_of_range("too deep"));
  const auto wrap = [&](int level) {
    const auto who = [level] { return "task " + std::to_string(level); };
    error = Failure::thrown_by({0, 0}, error, who)->error();
  };
  for (int level = 1; level <= 40'000; ++level) wrap(level);
  try {
    std::rethrow_exception(error);
  } catch (const TaskFailed& failed) {
    const std::string text = failed.what();
    EXPECT_EQ(text.find("task 40000 failed: (39991 tasks in between) task 8 failed: task 7 "), 0U)
        << text;
    EXPECT_NE(text.find("task 1 failed: too deep"), std::string::npos) << text;
    EXPECT_EQ(failed.levels(), 40'000);
  }
  for (int held = 0;; ++held) {
    try {
      std::rethrow_exception(error);
    } catch (const TaskFailed& failed) { error = failed.original(); } catch (...) {
      EXPECT_EQ(held, 9);
      return;
    }
  }
}

FailureRef failure_at(std::uint64_t seq) {
  return Failure::thrown_by({0, seq}, std::make_exception_ptr(std::runtime_error("x")),
                            [] { return "x"; });
}

TEST(Failure, TheFirstInLaunchOrderIsTold) {
  EXPECT_FALSE(Failure::any());
  {
    const FailureRef early = failure_at(1), late = failure_at(2), none;
    EXPECT_TRUE(Failure::any());
    EXPECT_EQ(first_of(late, early), early);
    EXPECT_EQ(first_of(early, late), early);
    EXPECT_EQ(first_of(none, late), late);
    EXPECT_EQ(first_of(late, none), late);
  }
  EXPECT_FALSE(Failure::any());
}

TEST(FailureLog, EachIsTakenOnceInLaunchOrderUnlessItIsTold) {
  FailureLog log;
  EXPECT_EQ(log.take(), nullptr);
  const FailureRef early = failure_at(1), told = failure_at(2), late = failure_at(3);
  for (const FailureRef& failure : {late, told, early}) log.add(failure->origin().seq, failure);
  EXPECT_EQ(log.find(3), late.get());
  EXPECT_EQ(log.find(4), nullptr);
  EXPECT_THROW(told->rethrow(), TaskFailed);
  EXPECT_EQ(log.take(), early);
  EXPECT_EQ(log.take(), late);
  EXPECT_EQ(log.take(), nullptr);
  EXPECT_EQ(log.size(), 0U);
}

TEST(FailureLog, ForgetsWhatIsTold) {
  FailureLog log;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const FailureRef failure = failure_at(i);
    log.add(i, failure);
    EXPECT_THROW(failure->rethrow(), TaskFailed);
  }
  EXPECT_LT(log.size(), 5000U);
}

TEST(Notifier, ANotificationBetweenPrepareAndCommitIsKept) {
  Notifier notifier(2, 2, [] { return nullptr; });
  Sleeper sleeper;
  EXPECT_FALSE(notifier.any(1));
  notifier.prepare(sleeper, 1);
  EXPECT_TRUE(notifier.any(1));
  notifier.notify_one(0);
  notifier.notify_one(1);
  EXPECT_FALSE(notifier.any(1));
  EXPECT_EQ(notifier.commit(sleeper), Wake::notified);
}

TEST(Notifier, ACancelledSleeperPassesTheNotificationOn) {
  Notifier notifier(2, 1, [] { return nullptr; });
  Sleeper first;
  Sleeper second;
  notifier.prepare(first, 0);
  notifier.prepare(second, 0);
  notifier.notify_one(0);  // the newest
  notifier.cancel(second);
  EXPECT_EQ(notifier.commit(first), Wake::notified);
  EXPECT_FALSE(notifier.any(0));
}

TEST(Notifier, TheLastOneToSleepIsToldOfADeadlock) {
  Sleeper sleeper;
  Notifier notifier(1, 1, [&] { return &sleeper; });
  notifier.prepare(sleeper, 0);
  EXPECT_EQ(notifier.commit(sleeper), Wake::deadlock);
  notifier.prepare(sleeper, 0);
  notifier.cancel(sleeper);
  EXPECT_FALSE(notifier.any(0));
}

TEST(GangLoops, RunsEveryPieceAndThrowsTheLowestException) {
  GangLoops loops;
  std::vector<int> hits(100);
  const LoopBody body = [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) ++hits[i];
    if (begin == 16) throw std::logic_error("low");
    if (begin == 64) throw std::runtime_error("high");
  };
  ParallelLoop loop(100, 8, 4, body);
  EXPECT_EQ(loop.pieces(), 13);
  EXPECT_THROW(loops.run(loop, [&] { EXPECT_TRUE(loops.any()); }), std::logic_error);
  EXPECT_EQ(hits, std::vector<int>(100, 1));
  EXPECT_FALSE(loops.any());
  EXPECT_FALSE(loops.help());
}

TEST(GangLoops, AHelperMayTakeItAll) {
  GangLoops loops;
  int pieces = 0;
  const LoopBody body = [&](std::int64_t, std::int64_t) { ++pieces; };
  ParallelLoop loop(10, 3, 4, body);
  loops.run(loop, [&] { EXPECT_TRUE(loops.help()); });
  EXPECT_EQ(pieces, 4);
}

TEST(Fiber, SuspendsInTheMiddleAndReusesItsStack) {
  FiberHost host(100);
  std::string log;
  Fiber* self = nullptr;
  for (int round = 0; round < 3; ++round) {
    Fiber& fiber = host.start([&] {
      log += "a";
      self->suspend();
      log += "c";
    });
    if (self) { EXPECT_EQ(self, &fiber); }
    self = &fiber;
    EXPECT_FALSE(fiber.resume());
    log += "b";
    EXPECT_TRUE(fiber.resume());
  }
  EXPECT_EQ(log, "abcabcabc");
}

TEST(Fiber, EachStackHandlesItsOwnExceptions) {
  FiberHost host(100);
  Fiber* fibers[2];
  std::string caught[2];
  for (int i = 0; i < 2; ++i) {
    fibers[i] = &host.start([&, i] {
      try {
        throw std::runtime_error("of " + std::to_string(i));
      } catch (...) {
        fibers[i]->suspend();
        try {
          throw;
        } catch (const std::exception& e) { caught[i] = e.what(); }
      }
    });
  }
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(fibers[i]->resume());
  EXPECT_EQ(std::current_exception(), nullptr);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(fibers[i]->resume());
  EXPECT_EQ(caught[0], "of 0");
  EXPECT_EQ(caught[1], "of 1");
}

// What is pushed for whom; waking is the notifier's, and has its own tests.
TEST(SharedQueues, GiveADedicatedThreadWhatIsAsDeepAsItsWait) {
  const auto executor = without_workers();
  Notifier notifier(2, kDedicated + 3, [] { return nullptr; });
  SharedQueues queues(3, notifier);
  executor->run_root([&] {
    Scope root(*executor, nullptr, 10);
    std::vector<Node> nodes(4);
    for (Node& node : nodes) node.scope = &root;
    nodes[0].processor = 3;  // that of processor 2
    nodes[1].priority = -1;
    nodes[2].priority = 5;
    for (Node& node : nodes) queues.push(node);
    EXPECT_EQ(queues.pop_dedicated(1, nullptr), nullptr);
    EXPECT_EQ(queues.pop_dedicated(2, &root), &nodes[0]);
    EXPECT_EQ(queues.pop_nested(nullptr), nullptr);
    EXPECT_EQ(queues.pop_urgent(), &nodes[2]);
    EXPECT_EQ(queues.pop_urgent(), nullptr);
    EXPECT_EQ(queues.pop_prioritised(), &nodes[3]);
    EXPECT_EQ(queues.pop_prioritised(), &nodes[1]);
  });
}

TEST(Window, BoundsNodes) {
  Window window(4);
  Node node;
  for (std::uint64_t number = 1; number <= 4; ++number) {
    EXPECT_FALSE(window.full());
    EXPECT_EQ(window.launch(), number);
  }
  EXPECT_TRUE(window.full());
  window.hold_open(+1);
  EXPECT_FALSE(window.full()) << "what the owner holds open does not count";
  window.hold_open(-1);
  EXPECT_TRUE(window.full());
  window.came_back(node);
  EXPECT_FALSE(window.full());
  EXPECT_EQ(window.nodes(), 3U);
}

TEST(Window, BoundsOperationsWhileReplaysAre) {
  Window window(4);
  window.bound(12);
  window.look_at(12);
  EXPECT_EQ(window.reserve(10), 1U);
  window.count_replayed(10);
  EXPECT_EQ(window.launch(), 11U);
  EXPECT_FALSE(window.full());
  Node proxy;
  proxy.flags = kProxy;
  window.launch_reserved();
  window.mark_auxiliary();
  EXPECT_EQ(window.operations(), 11U) << "a proxy is no operation";
  EXPECT_EQ(window.launch(), 12U);
  EXPECT_TRUE(window.full());
  EXPECT_FALSE(window.has_room(1));
  window.go_beyond(3);
  EXPECT_TRUE(window.has_room(3 + 4)) << "nobody else could make room: a window more";
  EXPECT_FALSE(window.has_room(3 + 5));
  window.stay_within();
  window.count_replayed(-10);
  window.came_back(proxy);
  EXPECT_EQ(window.operations(), 2U);
  EXPECT_FALSE(window.full());
}

TEST(Fiber, KeepsItsBodyLocalPointer) {
  FiberHost host(2);
  int here = 0, there = 0;
  Fiber* fiber = nullptr;
  fiber = &host.start([&] {
    EXPECT_EQ(body_local(), nullptr);
    set_body_local(&there);
    fiber->suspend();
    EXPECT_EQ(set_body_local(nullptr), &there);
  });
  set_body_local(&here);
  EXPECT_FALSE(fiber->resume());
  EXPECT_EQ(body_local(), &here);
  EXPECT_TRUE(fiber->resume());
  EXPECT_EQ(set_body_local(nullptr), &here);
}

}  // namespace
}  // namespace refrain::exec::exec_parts_test
