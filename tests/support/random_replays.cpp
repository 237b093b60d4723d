#include "support/random_replays.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "graph/replays.hpp"
#include "support/random.hpp"

namespace refrain::test {

using namespace refrain::exec;

namespace {

/// An operation that will be run once: of a replay, or a node of the ordinary graph.
struct Work {
  std::vector<const Work*> before;  ///< what it comes after
  std::uint64_t seq = 0;
  bool throws = false;
  bool launches = false;
  std::uint32_t number = 0;  ///< of its replay
  int ran = 0;               ///< written by the operation
  std::string name;
};

/// A template and its one user.
struct Loop {
  std::vector<Template::Operation> operations;
  std::vector<Template::Edge> inner, carried;
  std::vector<bool> splits;  ///< whether a launch may begin here
  std::unique_ptr<Template> recorded;
  std::unique_ptr<Replays> replays;

  Replay* present = nullptr;
  std::deque<Work>* works = nullptr;   ///< of the present replay
  std::deque<Work>* before = nullptr;  ///< of the one that it follows
};

const NodeInfo replayed_info{"replayed", std::source_location::current()};
const NodeInfo ordinary_info{"ordinary", std::source_location::current()};

void launch_children(Executor& executor, Scope& parent) {
  Scope inner(executor, &parent, 4);
  std::atomic<int> ran{0};
  for (int i = 0; i < 3; ++i) {
    inner.throttle();
    Node& node = inner.allocate(sizeof(&ran));
    node.info = &ordinary_info;
    node.payload_as<std::atomic<int>*>() = &ran;
    node.run = [](Node& self, Execution&) { ++*self.payload_as<std::atomic<int>*>(); };
    executor.publish(node, {});
  }
  inner.drain(nullptr);
  EXPECT_EQ(ran.load(), 3);
}

void run_work(Work& work, Execution& execution, Scope& scope) {
  for (const Work* before : work.before)
    EXPECT_NE(before->ran, 0) << work.name << " ran before " << before->name;
  EXPECT_EQ(work.ran, 0) << work.name << " ran twice";
  EXPECT_EQ(execution.failure, nullptr) << work.name;
  if (work.seq % 3 == 0) execution.executor.interleave();
  work.ran = 1;
  if (work.launches) launch_children(execution.executor, scope);
  if (work.throws) throw std::runtime_error(work.name);
}

void run_replayed(const void* operand, Replay& replay, std::uint32_t index, Execution& execution) {
  auto& works = *static_cast<std::deque<Work>*>(replay.user);
  Work& work = works[index];
  EXPECT_EQ(work.number, replay.number) << work.name;
  EXPECT_EQ(work.seq, replay.base + index) << work.name;
  run_work(work, execution, *static_cast<Scope* const*>(operand)[0]);
}

class Program {
 public:
  Program(Executor& executor, Scope& scope, Random& random, const ReplayOptions& options)
      : executor_(executor), scope_(&scope), random_(random), options_(options) {}

  void run() {
    loops_.resize(static_cast<std::size_t>(random_.between(1, 3)));
    for (Loop& loop : loops_) make_loop(loop);
    for (int step = 0; step < options_.steps; ++step) take_step();
    for (Loop& loop : loops_) leave(loop);
    scope_->drain(nullptr);
    check_end();
  }

 private:
  // --- templates
  void make_loop(Loop& loop) {
    const int count = random_.between(1, options_.operations);
    while (static_cast<int>(loop.operations.size()) < count) add_operation(loop);
    const auto size = static_cast<std::uint32_t>(loop.operations.size());
    const int density = random_.between(0, 3);
    const auto any = [&] { return static_cast<std::uint32_t>(random_.below(int(size))); };
    for (std::uint32_t to = 1; to < size; ++to) {
      for (int e = random_.between(0, density); e > 0; --e) {
        loop.inner.push_back({static_cast<std::uint32_t>(random_.below(int(to))), to});
      }
    }
    const bool carries = !random_.percent(15);
    for (int e = carries ? random_.between(0, 2 * int(size)) : 0; e > 0; --e) {
      loop.carried.push_back({any(), any()});
    }
    loop.recorded =
        std::make_unique<Template>(loop.operations, loop.inner, loop.carried, options_.nested);
    const std::uint32_t slots =
        random_.percent(50) ? 0 : static_cast<std::uint32_t>(random_.between(4, 9));
    loop.replays = std::make_unique<Replays>(executor_, *scope_, *loop.recorded, slots);
  }

  void add_operation(Loop& loop) {
    Template::Operation operation;
    operation.run = run_replayed;
    operation.operand = &scope_;
    operation.info = &replayed_info;
    operation.wakes = random_.percent(20);
    loop.splits.push_back(true);
    if (!options_.heavy || random_.percent(70)) return loop.operations.push_back(operation);
    if (random_.percent(30)) return add_reduction(loop, operation);
    if (random_.percent(50)) operation.priority = static_cast<std::int16_t>(random_.between(-2, 2));
    if (options_.dedicated && random_.percent(30)) operation.processor = 2;
    operation.opens_scope = random_.percent(30);
    loop.operations.push_back(operation);
  }

  void add_reduction(Loop& loop, Template::Operation operation) {
    const auto reducer = static_cast<std::uint32_t>(loop.operations.size());
    operation.flags = kReducer;
    operation.reduction = static_cast<std::uint32_t>(random_.between(1, 2));
    const std::uint32_t folds = operation.reduction;
    loop.operations.push_back(operation);
    for (std::uint32_t fold = 1; fold <= folds; ++fold) {
      operation.flags = kFold;
      operation.kind = NodeKind::fold;
      operation.reduction = fold;
      loop.operations.push_back(operation);
      loop.splits.push_back(false);
      loop.inner.push_back({reducer, reducer + fold});
    }
  }

  // --- the program
  void take_step() {
    Loop& loop = loops_[static_cast<std::size_t>(random_.below(int(loops_.size())))];
    const int dice = random_.below(100);
    if (dice < 60) {
      replay_some(loop);
    } else if (dice < 75) {
      leave(loop);
    } else if (dice < 85) {
      launch_ordinary(some_works());
    } else if (dice < 93) {
      wait_for_some();
    } else {
      scope_->drain(nullptr);
      for (const Named& named : named_) EXPECT_EQ(named.work->ran, 1) << named.work->name;
    }
  }

  /// Whole replays and a part of one.
  void replay_some(Loop& loop) {
    for (int whole = random_.below(4); whole > 0; --whole) {
      continue_or_begin(loop);
      issue_up_to(loop, loop.recorded->size());
    }
    if (random_.percent(50)) {
      continue_or_begin(loop);
      issue_up_to(loop, static_cast<std::uint32_t>(random_.below(int(loop.recorded->size()) + 1)));
    }
  }

  void continue_or_begin(Loop& loop) {
    if (loop.present != nullptr && loop.replays->issued() < loop.recorded->size()) return;
    if (loop.present != nullptr && random_.percent(10)) leave(loop);
    const bool carried = loop.present != nullptr;
    loop.before = carried ? loop.works : nullptr;
    loop.present = &loop.replays->begin(carried);
    if (options_.bounded) check_bound(loop);
    kept_.emplace_back();
    loop.works = &kept_.back();
    loop.present->user = loop.works;
    for (std::uint32_t i = 0; i < loop.recorded->size(); ++i) {
      Work& work = loop.works->emplace_back();
      work.seq = loop.present->base + i;
      work.number = loop.present->number;
      work.name = "operation " + std::to_string(i) + " of replay " + std::to_string(work.number);
      work.launches = loop.operations[i].opens_scope;
      work.throws =
          options_.failures && random_.percent(2) && (loop.operations[i].flags & kFold) == 0;
    }
    for (const auto& edge : loop.inner) after(loop, edge.to, (*loop.works)[edge.from]);
    if (!carried) return;
    for (const auto& edge : loop.carried) after(loop, edge.to, (*loop.before)[edge.from]);
  }

  /// What is issued and has not run, of all recordings and of none, but for present replays: others than the
  /// owner cannot end those.
  void check_bound(const Loop& begun) {
    const std::size_t size = begun.recorded->size();
    const std::size_t most = std::max<std::size_t>(scope_->window().size(), 4 * size);
    while (ran_ < named_.size() && named_[ran_].work->ran != 0) ++ran_;
    if (named_.size() - ran_ + size <= most) return;
    const auto waits = [&](const Named& named) {
      if (named.work->ran != 0) return false;
      const auto of = [&](const Loop& loop) { return loop.replays.get() == named.replays; };
      const auto loop = std::ranges::find_if(loops_, of);
      return loop == loops_.end() || loop->present == nullptr ||
             loop->present->base + loop->recorded->size() <= named.work->seq ||
             named.work->seq < loop->present->base;
    };
    const auto waiting =
        std::ranges::count_if(named_.begin() + std::ptrdiff_t(ran_), named_.end(), waits);
    EXPECT_LE(static_cast<std::size_t>(waiting) + size, most);
  }

  static void after(Loop& loop, std::uint32_t to, const Work& work) {
    (*loop.works)[to].before.push_back(&work);
  }

  void issue_up_to(Loop& loop, std::uint32_t end) {
    while (end < loop.recorded->size() && !loop.splits[end]) ++end;
    while (loop.replays->issued() < end) {
      const std::uint32_t from = loop.replays->issued();
      // A call may have no operations.
      if (random_.percent(10)) loop.replays->issue(*loop.present, from);
      std::uint32_t to = from + 1 + static_cast<std::uint32_t>(random_.below(int(end - from)));
      while (to < end && !loop.splits[to]) ++to;
      for (std::uint32_t i = from; i < to; ++i) prepare(loop, i);
      if (random_.percent(10)) executor_.interleave();
      loop.replays->issue(*loop.present, to);
      for (std::uint32_t i = from; i < to; ++i) {
        named_.push_back({&(*loop.works)[i], {}, loop.replays.get()});
      }
    }
  }

  /// What operation `i` awaits.
  void prepare(Loop& loop, std::uint32_t i) {
    Work& work = (*loop.works)[i];
    for (int times = random_.percent(12) ? random_.between(1, 2) : 0; times > 0; --times) {
      std::vector<NodeRef> after;
      const auto add = [&](const Named& named) {
        after.push_back(named.ref());
        work.before.push_back(named.work);
      };
      std::ranges::for_each(some_works(), add);
      if (random_.percent(50)) add(launch_ordinary(some_works()));
      loop.replays->add_preconditions(*loop.present, i, after);
    }
  }

  void leave(Loop& loop) {
    if (loop.present == nullptr) return;
    loop.replays->leave(*loop.present);
    loop.present = nullptr;
  }

  // --- references from outside
  /// Something issued, and how the ordinary graph names it.
  struct Named {
    Work* work;
    NodeRef node;                ///< of an ordinary one
    Replays* replays = nullptr;  ///< of a replayed one

    [[nodiscard]] NodeRef ref() const {
      return replays == nullptr ? node : replays->ref(work->seq);
    }
  };

  /// Some of what was issued lately.
  std::vector<Named> some_works() {
    std::vector<Named> some;
    for (int i = random_.between(0, 3); i > 0 && !named_.empty(); --i) {
      const int reach = std::min(int(named_.size()), random_.percent(70) ? 20 : 200);
      some.push_back(named_[named_.size() - 1 - static_cast<std::size_t>(random_.below(reach))]);
    }
    return some;
  }

  Named launch_ordinary(const std::vector<Named>& before) {
    scope_->throttle();
    Node& node = scope_->allocate(2 * sizeof(void*));
    Work& work = ordinary_.emplace_back();
    work.seq = node.seq;
    work.name = "ordinary " + std::to_string(node.seq);
    work.throws = options_.failures && random_.percent(4);
    node.info = &ordinary_info;
    node.payload_as<Work*>() = &work;
    node.run = [](Node& self, Execution& execution) {
      run_work(*self.payload_as<Work*>(), execution, *self.scope);
    };
    std::vector<NodeRef> after;
    for (const Named& named : before) {
      after.push_back(named.ref());
      work.before.push_back(named.work);
    }
    named_.push_back({&work, {&node, node.seq}});
    const Named result = named_.back();
    executor_.publish(node, after);
    return result;
  }

  void wait_for_some() {
    const std::vector<Named> some = some_works();
    if (some.empty()) return;
    const NodeRef ref = some.front().ref();
    executor_.wait(
        *scope_, [&] { return is_complete(ref); }, ref, nullptr);
    EXPECT_EQ(some.front().work->ran, 1) << some.front().work->name;
  }

  void check_end() {
    std::size_t throwers = 0;
    for (const Named& named : named_) {
      const Work& work = *named.work;
      EXPECT_EQ(work.ran, 1) << work.name;
      EXPECT_EQ(scope_->failures().find(work.seq) != nullptr, work.throws) << work.name;
      throwers += work.throws;
    }
    std::size_t told = 0;
    while (scope_->failures().take() != nullptr) ++told;
    EXPECT_EQ(told, throwers);
    EXPECT_EQ(scope_->gate().free(), executor_.options().accumulators);
    EXPECT_EQ(scope_->in_flight(), 0U);
    for (std::deque<Work>& works : kept_) {
      for (const Work& work : works) EXPECT_LE(work.ran, 1) << work.name;
    }
  }

  Executor& executor_;
  Scope* scope_;
  Random& random_;
  const ReplayOptions& options_;
  std::vector<Loop> loops_;
  std::deque<std::deque<Work>> kept_;
  std::deque<Work> ordinary_;
  std::vector<Named> named_;  ///< all that was issued
  std::size_t ran_ = 0;       ///< the first so many have run
};

}  // namespace

void run_random_replays(Executor& executor, std::uint64_t seed, const ReplayOptions& options) {
  Random random(seed);
  const std::uint32_t window = random.pick(std::vector<std::uint32_t>{2, 20, 8192});
  Scope root(executor, nullptr, window);
  if (!options.nested) {
    Program(executor, root, random, options).run();
    return;
  }
  struct Task {
    Random* random;
    const ReplayOptions* options;
    std::uint32_t window;
  };
  Node& node = root.allocate(sizeof(Task));
  node.info = &ordinary_info;
  node.payload_as<Task>() = {&random, &options, window};
  node.run = [](Node& self, Execution& execution) {
    const Task& task = self.payload_as<Task>();
    Scope scope(execution.executor, self.scope, task.window);
    Program(execution.executor, scope, *task.random, *task.options).run();
  };
  executor.publish(node, {});
  root.drain(nullptr);
}

}  // namespace refrain::test
