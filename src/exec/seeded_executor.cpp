#include "exec/seeded_executor.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "exec/gang_loops.hpp"
#include "graph/completion.hpp"
#include "graph/replay_steps.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"

namespace refrain::exec {

namespace {

constexpr std::size_t kProgramStack = 8 << 20;

}  // namespace

SeededExecutor::SeededExecutor(ProcessorPlan plan, const ExecutorOptions& options,
                               std::uint64_t seed)
    : GraphExecutor(options, 1), plan_(std::move(plan)), fibers_(options.stacks), random_(seed) {
  constexpr std::uint64_t scales[] = {2, 5, 20, 100, 1000, 10000};
  change_every_ = scales[draw() % std::size(scales)];
}

SeededExecutor::~SeededExecutor() {
  std::unique_lock lock(outside_.mutex);  // who completed the last operation may not have left yet
  outside_.changed.wait(lock, [this] { return outside_.expected == 0; });
}

/// splitmix64.
std::uint64_t SeededExecutor::draw() {
  std::uint64_t z = random_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// --- actors ----------------------------------------------------------------------------------------

SeededExecutor::Actor& SeededExecutor::add_actor(Ready work) {
  Actor& actor = actors_[actors_made_];
  actor.id = actors_made_++;
  actor.priority = draw_priority();
  actor.work = work;
  return actor;
}

void SeededExecutor::make_runnable(Actor& actor) {
  runnable_.push_back(&actor);
  std::ranges::push_heap(runnable_, ByPriority{});
}

void SeededExecutor::run_root(const std::function<void()>& program) {
  if (current_ != nullptr) return program();
  run_programs({&program, 1});
}

void SeededExecutor::run_programs(std::span<const std::function<void()>> programs) {
  std::vector<std::exception_ptr> errors(programs.size());
  std::size_t left = 0;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const auto run = [&, i] {
      try {
        programs[i]();
      } catch (...) { errors[i] = std::current_exception(); }
      --left;
    };
    try {
      Fiber& stack = fibers_.start(run, kProgramStack);
      Actor& actor = add_actor(nullptr);
      actor.fiber = &stack;
      make_runnable(actor);
      ++left;
    } catch (const std::bad_alloc&) { errors[i] = std::current_exception(); }
  }
  schedule([&left] { return left == 0; });
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

/// On the thread's own stack: steps until `until`.
void SeededExecutor::schedule(const std::function<bool()>& until) {
  REFRAIN_ASSERT(current_ == nullptr, "only the thread's own stack schedules");
  while (!until()) {
    ask_told();
    if (runnable_.empty()) {
      if (!await_completed()) declare_deadlock();
      continue;
    }
    std::ranges::pop_heap(runnable_, ByPriority{});
    Actor& actor = *runnable_.back();
    runnable_.pop_back();
    step(actor);
  }
}

void SeededExecutor::step(Actor& actor) {
  ++steps_;
  if (actor.completing) {
    const auto [work, failure] = std::pair(actor.work, actor.failure);
    actors_.erase(actor.id);
    return work.is_live() ? complete_replayed(work.live(), failure) : finish(work.node());
  }
  if (!actor.work && !actor.fiber) {  // a job: it launches nothing and waits for nothing
    actors_.erase(actor.id);
    background_.run(*background_.take(draw()));
    return;
  }
  if (!actor.fiber) {
    try {
      actor.fiber = &fibers_.start([this, work = actor.work] {
        if (work.is_live()) return run_replayed(work.live());
        run_body(work.node());
      });
    } catch (const std::bad_alloc&) { return refuse(actor); }
  }
  resume(actor);
}

/// No stack is left for the body: so many wait, each on its own. The node fails instead.
void SeededExecutor::refuse(Actor& actor) {
  const bool live = actor.work.is_live();
  Replay* const replay = live ? &Replay::of(actor.work.live()) : nullptr;
  const Scope& scope = live ? replay->extras->scope : *actor.work.node().scope;
  const auto waiting = std::ranges::count_if(
      actors_, [](const auto& entry) { return entry.second.done != nullptr; });
  std::exception_ptr error;
  try {
    error = std::make_exception_ptr(
        Error("no stack for its body, " + std::to_string(scope.depth() + 1) +
              " tasks deep: " + std::to_string(waiting) +
              " others wait, and under a seeded schedule each keeps its stack meanwhile; nest less "
              "deeply, or have fewer wait at one time"));
  } catch (...) { error = std::current_exception(); }  // not even for the message
  // With a failure its run only lets go of what it holds.
  if (live) {
    const std::uint32_t index = actor.work.live().index;
    fail(*replay, index, error);
    Execution execution{*this};
    actor.failure =
        run_operation<RunKind::per_replay>(*replay, index, replay->nodes[index], execution);
  } else {
    fail(actor.work.node(), error);
    run_node(actor.work.node(), *this, 0);
  }
  complete_next(actor);
}

void SeededExecutor::complete_next(Actor& actor) {
  actor.completing = true;
  actor.priority = draw_priority();
  make_runnable(actor);
}

void SeededExecutor::resume(Actor& actor) {
  current_ = &actor;
  const bool ended = actor.fiber->resume();
  current_ = nullptr;
  if (!ended) return;
  actor.fiber = nullptr;
  if (actor.work) return complete_next(actor);
  actors_.erase(actor.id);
}

void SeededExecutor::run_body(Node& node) {
  Actor& actor = *current_;
  const Node* outer = std::exchange(actor.running, &node);
  run_told(node, node.processor != 0 ? node.processor - 1 : draw_processor(), 0);
  executed_ += is_over(node);
  actor.running = outer;
}

void SeededExecutor::run_replayed(LiveNode& live) {
  Replay& replay = Replay::of(live);
  Execution execution{*this, draw_processor()};
  const std::uint64_t begin = listener_ ? profile::now_ns() : 0;
  current_->failure =
      run_operation<RunKind::per_replay>(replay, live.index, replay.nodes[live.index], execution);
  if (listener_) tell_listener(0, replay, live.index, begin);
  ++executed_;
}

void SeededExecutor::finish(Node& node) {
  Scope& scope = *node.scope;
  Sink sink = sink_of(scope);
  if (!ends_now(node, sink)) return;
  complete_node(node, sink);
  scope.give_back_own(node);
  tell_waiter(scope);
}

// --- what programs and bodies call -------------------------------------------------------------------

void SeededExecutor::publish(Node& node, std::span<const Edge> predecessors) {
  if (connect(node, predecessors)) {
    Sink sink = sink_of(*node.scope);
    node_ready(node, sink);
  }
  // One that has failed before is given up (Scope::give_up_unpublished), in a clean-up: nothing else runs in between.
  if (node.failure.load(std::memory_order_relaxed) == nullptr) interleave();
}

void SeededExecutor::publish_inline(Node& node, std::span<const Edge> predecessors) {
  if (!current_ || node.processor != 0 || (node.flags & (kManual | kReducer))) {
    return publish(node, predecessors);
  }
  if (!connect(node, predecessors)) return interleave();
  run_body(node);
  interleave();
  finish(node);
}

void SeededExecutor::interleave() {
  if (!current_) return;
  ++steps_;
  if (draw() % change_every_ == 0) current_->priority = lowest_--;
  ask_told();
  if (runnable_.empty() || ByPriority{}(runnable_.front(), current_)) return;
  make_runnable(*current_);
  current_->fiber->suspend();
}

void SeededExecutor::post(std::shared_ptr<BackgroundJob> job) {
  background_.post(std::move(job));
  make_runnable(add_actor(nullptr));
}

ExecutorCounters SeededExecutor::counters() const {
  ExecutorCounters counters;
  counters.executed = executed_;
  counters.background_jobs = background_.jobs_run();
  counters.background_ns = background_.ns();
  return counters;
}

Executor::Opened SeededExecutor::open(Scope& scope) {
  if (scope.parent() == nullptr) return {};
  REFRAIN_ASSERT(current_ && current_->running, "a nested scope is made by a running task");
  return {nullptr, current_->running};
}

bool SeededExecutor::relieve(Scope&, std::size_t) {
  interleave();
  return false;
}

std::uint32_t SeededExecutor::run_in_order(Replay& replay, std::uint32_t from, std::uint32_t to,
                                           bool to_the_end) {
  std::uint32_t index = from;
  do {
    run_one_told(replay, index, draw_processor(), 0);
    ++executed_;
  } while (++index < to && (to_the_end || draw() % 16 != 0));
  interleave();
  return index;
}

void SeededExecutor::parallel_for(std::int64_t count, std::int64_t grain, const LoopBody& f) {
  ParallelLoop loop(count, grain, 1 + options_.workers, f);
  std::vector<std::int64_t> order(static_cast<std::size_t>(loop.pieces()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<std::int64_t>(i);
    std::swap(order[i], order[draw() % (i + 1)]);
  }
  for (const std::int64_t piece : order) {
    interleave();
    loop.run(piece);
  }
  loop.rethrow();
}

// --- completion from outside -------------------------------------------------------------------------

void SeededExecutor::expect_completion() {
  const std::lock_guard lock(outside_.mutex);
  ++outside_.expected;
}

void SeededExecutor::completed_outside(Node* node) noexcept {
  const std::lock_guard lock(outside_.mutex);
  --outside_.expected;
  if (node != nullptr) outside_.completed.push_back(node);
  outside_.changed.notify_all();  // under the lock: the executor may end when it is released
}

/// What was completed becomes an actor, whose turn the seed decides.
void SeededExecutor::take_completed() {
  const std::lock_guard lock(outside_.mutex);
  for (Node* node : outside_.completed) make_runnable(add_actor(node));
  outside_.completed.clear();
}

/// Nothing can take a step: sleeps until an operation is completed outside. False: none is expected.
bool SeededExecutor::await_completed() {
  std::unique_lock lock(outside_.mutex);
  if (outside_.completed.empty() && outside_.expected == 0) return false;
  const int expected = outside_.expected;
  outside_.changed.wait(
      lock, [&] { return !outside_.completed.empty() || outside_.expected != expected; });
  return true;
}

// --- waiting ---------------------------------------------------------------------------------------

/// Outside run_root nobody else could go on: the caller lends its stack to those that take steps.
void SeededExecutor::wait(Scope& scope, const std::function<bool()>& done, NodeRef awaited,
                          const NodeInfo* waiter) {
  interleave();
  const bool outside = current_ == nullptr;
  Actor& self = outside ? add_actor(nullptr) : *current_;
  WaitRecord record{&scope, awaited, waiter, {}};
  struct Enter {
    SeededExecutor& executor;
    Actor& actor;
    Scope& scope;
    bool outside;
    WaitRecord* outer;
    ~Enter() {
      actor.waits = outer;
      actor.done = nullptr;
      scope.set_owner(nullptr);
      if (outside) executor.actors_.erase(actor.id);
    }
  } enter{*this, self, scope, outside, std::exchange(self.waits, &record)};
  scope.set_owner(&self);
  for (;;) {
    self.done = &done;  // before it looks: that may itself end something
    if (done()) return;
    if (!outside) {
      self.fiber->suspend();
    } else {
      schedule([&] {
        ask_told();
        return self.done == nullptr;
      });
    }
    if (record.deadlock) throw Deadlock(*record.deadlock);
  }
}

/// Something has happened in the scope that its owner may wait for.
void SeededExecutor::tell_waiter(const Scope& scope) {
  if (const auto* waiter = static_cast<const Actor*>(scope.owner())) told_.insert(waiter->id);
}

/// A look may itself end something: those that are told of it look before the next step.
void SeededExecutor::ask_told() {
  REFRAIN_ASSERT(!asking_, "a look does not interleave");
  asking_ = true;
  take_completed();
  for (const std::uint64_t id : std::exchange(told_, {})) {
    const auto waiter = actors_.find(id);
    if (waiter != actors_.end()) look(waiter->second);
  }
  asking_ = false;
}

/// Whether what the waiter, if it waits still, waits for is there: then it goes on.
bool SeededExecutor::look(Actor& waiter) {
  if (waiter.done == nullptr) return false;
  ++looks_;
  if (!(*waiter.done)()) return false;
  go_on(waiter);
  return true;
}

void SeededExecutor::go_on(Actor& waiter) {
  waiter.done = nullptr;
  if (waiter.fiber != nullptr) make_runnable(waiter);
}

/// The same choice as ThreadedExecutor::find_deadlocked: the waiter in the deepest scope.
void SeededExecutor::declare_deadlock() {
  Actor* deepest = nullptr;
  for (auto& [id, actor] : actors_) {
    if (actor.done == nullptr) continue;
    const bool goes_on = look(actor);
    REFRAIN_ASSERT(!goes_on, "who waits is told of whatever may end its wait");
    if (!deepest || actor.waits->scope->depth() > deepest->waits->scope->depth()) deepest = &actor;
  }
  if (!told_.empty()) return;  // a look has ended something
  if (!deepest) throw Deadlock("deadlock: nothing is left that could run");
  exec::declare_deadlock(*deepest->waits);
  go_on(*deepest);
}

std::shared_ptr<Executor> make_seeded_executor(const Machine& machine,
                                               const ExecutorOptions& options, std::uint64_t seed) {
  return std::make_shared<SeededExecutor>(plan_processors(machine), options, seed);
}

}  // namespace refrain::exec
