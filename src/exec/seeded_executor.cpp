#include "exec/seeded_executor.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "exec/fiber.hpp"
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
    : options_(options), plan_(std::move(plan)), fibers_(options.stacks), random_(seed) {
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

bool SeededExecutor::change_point() { return draw() % change_every_ == 0; }

// --- actors ----------------------------------------------------------------------------------------

SeededExecutor::Actor& SeededExecutor::add_actor(Ready work) {
  Actor* actor = nullptr;
  if (unused_.empty()) {
    actor = &storage_.emplace_back();
  } else {
    actor = unused_.back();
    unused_.pop_back();
  }
  const bool told = actor->told;
  *actor = Actor{};
  actor->told = told;
  actor->id = actors_++;
  actor->priority = draw_priority();
  actor->work = work;
  make_runnable(*actor);
  return *actor;
}

void SeededExecutor::make_runnable(Actor& actor) {
  runnable_.push_back(&actor);
  std::push_heap(runnable_.begin(), runnable_.end(), ByPriority{});
}

void SeededExecutor::run_root(const std::function<void()>& program) {
  if (current_ != nullptr) return program();
  run_programs({&program, 1});
}

void SeededExecutor::run_programs(std::span<const std::function<void()>> programs) {
  std::vector<std::exception_ptr> errors(programs.size());
  std::size_t left = programs.size();
  for (std::size_t i = 0; i < programs.size(); ++i) {
    Fiber& stack = fibers_.start(
        [&, i] {
          try {
            programs[i]();
          } catch (...) { errors[i] = std::current_exception(); }
          --left;
        },
        kProgramStack);
    add_actor(nullptr).fiber = &stack;
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
    std::pop_heap(runnable_.begin(), runnable_.end(), ByPriority{});
    Actor& actor = *runnable_.back();
    runnable_.pop_back();
    step(actor);
  }
}

void SeededExecutor::step(Actor& actor) {
  ++steps_;
  if (actor.job) return run_background_job(actor);
  if (actor.completing) {
    unused_.push_back(&actor);
    return finish(actor.work, actor.failure);
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

/// On the thread's own stack: it launches nothing and waits for nothing.
void SeededExecutor::run_background_job(Actor& actor) {
  const std::shared_ptr<BackgroundJob> job = std::move(actor.job);
  unused_.push_back(&actor);
  const std::uint64_t begin = profile::now_ns();
  job->run();
  counters_.background_ns += profile::now_ns() - begin;
  ++counters_.background_jobs;
}

/// No stack is left for the body: so many wait, each on its own. The node fails instead.
void SeededExecutor::refuse(Actor& actor) {
  const bool live = actor.work.is_live();
  Replay* const replay = live ? &Replay::of(actor.work.live()) : nullptr;
  const Scope& scope = live ? replay->extras->scope() : *actor.work.node().scope;
  std::exception_ptr error;
  try {
    error = std::make_exception_ptr(
        Error("no stack for its body, " + std::to_string(scope.depth() + 1) +
              " tasks deep: " + std::to_string(waiting_) +
              " others wait, and under a seeded schedule each keeps its stack meanwhile; nest less "
              "deeply, or have fewer wait at one time"));
  } catch (...) { error = std::current_exception(); }  // not even for the message
  // With a failure its run only lets go of what it holds.
  if (live) {
    LiveNode& node = actor.work.live();
    fail(*replay, node.index, error);
    Execution execution{*this};
    actor.failure = run_operation<RunKind::per_replay>(*replay, node.index,
                                                       replay->nodes[node.index], execution);
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
  void* outside = set_body_local(actor.local);
  const bool ended = actor.fiber->resume();
  actor.local = set_body_local(outside);
  current_ = nullptr;
  if (!ended) return;
  actor.fiber = nullptr;
  if (!actor.work) {
    unused_.push_back(&actor);
    return;
  }
  complete_next(actor);
}

void SeededExecutor::run_body(Node& node) {
  Actor& actor = *current_;
  const Node* outer = std::exchange(actor.running, &node);
  const bool is_operation = runs_operation(node);
  const int processor = node.processor != 0 ? node.processor - 1 : draw_processor();
  const std::uint64_t begin = listener_ ? profile::now_ns() : 0;
  run_node(node, *this, processor);
  if (listener_ && is_operation) listener_->executed(node, 0, begin, profile::now_ns());
  ++counters_.executed;
  actor.running = outer;
}

void SeededExecutor::run_replayed(LiveNode& live) {
  Replay& replay = Replay::of(live);
  Execution execution{*this, draw_processor()};
  const std::uint64_t begin = listener_ ? profile::now_ns() : 0;
  current_->failure =
      run_operation<RunKind::per_replay>(replay, live.index, replay.nodes[live.index], execution);
  if (listener_) tell_listener(0, replay, live.index, begin);
  ++counters_.executed;
}

void SeededExecutor::finish(Ready work, const Failure* failure) {
  if (!work.is_live()) return finish(work.node());
  complete_replayed(work.live(), failure);
}

void SeededExecutor::finish(Node& node) {
  Scope& scope = *node.scope;
  Sink sink{*this, scope};
  if (!ends_now(node, sink)) return;
  complete_node(node, *this, sink);
  scope.give_back_own(node);
  tell_waiter(scope);
}

// --- what programs and bodies call -------------------------------------------------------------------

void SeededExecutor::publish(Node& node, std::span<const Edge> predecessors) {
  if (connect(node, predecessors)) {
    Sink sink{*this, *node.scope};
    node_ready(node, *this, sink);
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

void SeededExecutor::complete_manual(Node& node) {
  Sink sink{*this, *node.scope};
  end_manual(node, sink);
  interleave();
}

void SeededExecutor::interleave() {
  if (!current_) return;
  ++steps_;
  if (change_point()) current_->priority = lowest_--;
  ask_told();
  if (runnable_.empty() || ByPriority{}(runnable_.front(), current_)) return;
  make_runnable(*current_);
  suspend_current();
}

void SeededExecutor::post(std::shared_ptr<BackgroundJob> job) {
  add_actor(nullptr).job = std::move(job);
}

void SeededExecutor::suspend_current() {
  Actor& self = *current_;
  self.fiber->suspend();
}

Executor::Opened SeededExecutor::open(Scope& scope) {
  const Node* task = nullptr;
  if (scope.parent() != nullptr) {
    REFRAIN_ASSERT(current_ && current_->running, "a nested scope is made by a running task");
    task = current_->running;
  }
  return {nullptr, task};
}

bool SeededExecutor::relieve(Scope&, std::size_t) {
  interleave();
  return false;
}

// --- completion from outside -------------------------------------------------------------------------

void SeededExecutor::expect_completion() {
  const std::lock_guard lock(outside_.mutex);
  ++outside_.expected;
}

void SeededExecutor::completed_outside(Node* node) noexcept {
  const std::lock_guard lock(outside_.mutex);
  --outside_.expected;
  if (node != nullptr) {
    outside_.completed.push_back(node);
    // relaxed: whoever sees it takes the lock; who does not sees it at a later step.
    outside_.any.store(true, std::memory_order_relaxed);
  }
  outside_.changed.notify_all();  // under the lock: the executor may end when it is released
}

/// What was completed becomes an actor, whose turn the seed decides.
void SeededExecutor::take_completed() {
  if (!outside_.any.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(outside_.mutex);
  outside_.any.store(false, std::memory_order_relaxed);
  for (Node* node : outside_.completed) add_actor(node);
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

void SeededExecutor::wait(Scope& scope, const std::function<bool()>& done, NodeRef awaited,
                          const NodeInfo* waiter) {
  if (!current_) return wait_outside(scope, done);
  interleave();
  Actor& self = *current_;
  WaitRecord record{&scope, awaited, waiter, self.waits};
  struct Enter {
    Actor& actor;
    Scope& scope;
    WaitRecord* outer;
    ~Enter() {
      actor.waits = outer;
      actor.done = nullptr;
      scope.set_owner(nullptr);
    }
  } enter{self, scope, self.waits};
  self.waits = &record;
  scope.set_owner(&self);
  for (;;) {
    self.done = &done;  // before it looks: that may itself end something
    if (done()) return;
    ++waiting_;
    suspend_current();
    if (std::exchange(self.deadlocked, false)) throw Deadlock(deadlock_text_);
  }
}

/// Outside run_root nobody else could go on: the caller lends its stack.
void SeededExecutor::wait_outside(Scope& scope, const std::function<bool()>& done) {
  struct Enter {
    Actor& caller;
    Scope& scope;
    ~Enter() {
      caller.done = nullptr;
      scope.set_owner(nullptr);
    }
  } enter{caller_, scope};
  caller_.done = &done;
  scope.set_owner(&caller_);
  tell_waiter(scope);
  schedule([&] {
    ask_told();
    return caller_.done == nullptr;
  });
}

/// Something has happened in the scope that its owner may wait for.
void SeededExecutor::tell_waiter(const Scope& scope) {
  Actor* waiter = waiter_of(scope);
  if (waiter == nullptr || waiter->told) return;
  waiter->told = true;
  told_.push_back(waiter);
}

/// A look may itself end something: those that are told of it look before the next step.
void SeededExecutor::ask_told() {
  REFRAIN_ASSERT(asked_.empty(), "a look does not interleave");
  take_completed();
  if (told_.empty()) return;
  asked_.swap(told_);
  for (Actor* waiter : asked_) waiter->told = false;
  for (Actor* waiter : asked_) look(*waiter);
  asked_.clear();
}

/// Whether what the waiter, if it waits still, waits for is there: then it goes on.
bool SeededExecutor::look(Actor& waiter) {
  if (waiter.done == nullptr) return false;
  ++looks_;
  if (!(*waiter.done)()) return false;
  waiter.done = nullptr;
  if (&waiter == &caller_) return true;
  --waiting_;
  make_runnable(waiter);
  return true;
}

/// The same choice as ThreadedExecutor::find_deadlocked: the waiter in the deepest scope.
void SeededExecutor::declare_deadlock() {
  Actor* deepest = nullptr;
  for (Actor& actor : storage_) {
    if (actor.done == nullptr) continue;
    const bool goes_on = look(actor);
    REFRAIN_ASSERT(!goes_on, "who waits is told of whatever may end its wait");
    if (!deepest || actor.waits->scope->depth() > deepest->waits->scope->depth() ||
        (actor.waits->scope->depth() == deepest->waits->scope->depth() && actor.id < deepest->id)) {
      deepest = &actor;
    }
  }
  if (!told_.empty()) return;  // a look has ended something
  if (!deepest) throw Deadlock("deadlock: nothing is left that could run");
  try {
    deadlock_text_ = describe_deadlock(*deepest->waits);
  } catch (const std::bad_alloc&) { deadlock_text_.clear(); }  // it is one all the same
  deepest->deadlocked = true;
  deepest->done = nullptr;
  --waiting_;
  make_runnable(*deepest);
}

// --- replays -----------------------------------------------------------------------------------------

std::uint32_t SeededExecutor::run_in_order(Replay& replay, std::uint32_t from, std::uint32_t to,
                                           bool to_the_end) {
  std::uint32_t index = from;
  do {
    Execution execution{*this, draw_processor()};
    const std::uint64_t begin = listener_ ? profile::now_ns() : 0;
    run_one(replay, index, replay.nodes[index], execution);
    if (listener_) tell_listener(0, replay, index, begin);
    ++counters_.executed;
  } while (++index < to && (to_the_end || draw() % 16 != 0));
  interleave();
  return index;
}

void SeededExecutor::parallel_for(std::int64_t count, std::int64_t grain,
                                  const std::function<void(std::int64_t, std::int64_t)>& f) {
  if (count <= 0) return;
  const std::int64_t piece = loop_piece(count, grain, 1 + options_.workers);
  std::vector<std::int64_t> begins(static_cast<std::size_t>(loop_pieces(count, piece)));
  for (std::size_t i = 0; i < begins.size(); ++i) {
    begins[i] = static_cast<std::int64_t>(i) * piece;
    std::swap(begins[i], begins[draw() % (i + 1)]);
  }
  std::exception_ptr error;
  std::int64_t failed_at = count;
  for (const std::int64_t begin : begins) {
    interleave();
    try {
      f(begin, begin + std::min(piece, count - begin));
    } catch (...) {
      if (begin < failed_at) failed_at = begin, error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

std::shared_ptr<Executor> make_seeded_executor(const Machine& machine,
                                               const ExecutorOptions& options, std::uint64_t seed) {
  return std::make_shared<SeededExecutor>(plan_processors(machine), options, seed);
}

}  // namespace refrain::exec
