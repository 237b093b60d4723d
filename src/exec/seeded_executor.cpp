#include "exec/seeded_executor.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "exec/body_local.hpp"
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
  std::exception_ptr error;
  bool finished = false;
  Fiber& stack = fibers_.start(
      [&] {
        try {
          program();
        } catch (...) { error = std::current_exception(); }
        finished = true;
      },
      kProgramStack);
  add_actor(nullptr).fiber = &stack;
  schedule([&] { return finished; });
  if (error) std::rethrow_exception(error);
}

/// On the thread's own stack: steps until `until`.
void SeededExecutor::schedule(const std::function<bool()>& until) {
  REFRAIN_ASSERT(current_ == nullptr, "only the thread's own stack schedules");
  while (!until()) {
    ask_told();
    if (runnable_.empty()) {
      declare_deadlock();
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
  if (actor.chore) return run_chore(actor);
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
void SeededExecutor::run_chore(Actor& actor) {
  const std::shared_ptr<Chore> chore = std::move(actor.chore);
  unused_.push_back(&actor);
  const std::uint64_t begin = profile::now_ns();
  chore->run();
  counters_.chore_ns += profile::now_ns() - begin;
  ++counters_.chores;
}

/// No stack is left for the body: so many wait, each on its own. The node fails instead.
void SeededExecutor::refuse(Actor& actor) {
  const bool live = actor.work.is_live();
  Replay* const replay = live ? &Replay::of(actor.work.live()) : nullptr;
  const Scope& scope = live ? replay->aside->scope() : *actor.work.node().scope;
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
    actor.failure = run_live(*replay, node, node.index, replay->nodes[node.index], execution);
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
  const int processor = node.processor != 0 ? node.processor - 1 : draw_processor();
  const std::uint64_t begin = listener_ ? profile::now_ns() : 0;
  run_node(node, *this, processor);
  if (listener_ && node.run != run_awaited)  // the operation itself is told of when it runs
    listener_->executed(node, 0, begin, profile::now_ns());
  ++counters_.executed;
  actor.running = outer;
}

void SeededExecutor::run_replayed(LiveNode& live) {
  Replay& replay = Replay::of(live);
  Execution execution{*this, draw_processor()};
  const std::uint64_t begin = listener_ ? profile::now_ns() : 0;
  current_->failure = run_live(replay, live, live.index, replay.nodes[live.index], execution);
  tell_listener(replay, live.index, begin);
  ++counters_.executed;
}

void SeededExecutor::tell_listener(const Replay& replay, std::uint32_t index,
                                   std::uint64_t begin_ns) {
  if (listener_ == nullptr) return;
  const Template::Operation& operation = replay.aside->recorded().operation(index);
  listener_->replayed(operation.info, operation.kind, replay.base + index, 0, begin_ns,
                      profile::now_ns());
}

void SeededExecutor::finish(Ready work, const Failure* failure) {
  if (!work.is_live()) return finish(work.node());
  complete_heavy(work.live(), failure);
}

void SeededExecutor::finish(Node& node) {
  Scope& scope = *node.scope;
  Sink sink{*this, scope};
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

void SeededExecutor::post(std::shared_ptr<Chore> chore) {
  add_actor(nullptr).chore = std::move(chore);
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
      scope.set_waiter(nullptr);
    }
  } enter{self, scope, self.waits};
  self.waits = &record;
  scope.set_waiter(&self);
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
      scope.set_waiter(nullptr);
    }
  } enter{outside_, scope};
  outside_.done = &done;
  scope.set_waiter(&outside_);
  tell_waiter(scope);
  schedule([&] {
    ask_told();
    return outside_.done == nullptr;
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
  if (&waiter == &outside_) return true;
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

void SeededExecutor::release_replay(Replay& replay, const Issued& issued) {
  Sink sink{*this, replay.aside->scope()};
  release(replay, issued, sink);
}

std::uint32_t SeededExecutor::run_in_order(Replay& replay, std::uint32_t from, std::uint32_t to,
                                           bool to_the_end) {
  std::uint32_t index = from;
  do {
    Execution execution{*this, draw_processor()};
    const std::uint64_t begin = listener_ ? profile::now_ns() : 0;
    run_next(replay, index, replay.nodes[index], execution);
    tell_listener(replay, index, begin);
    ++counters_.executed;
  } while (++index < to && (to_the_end || draw() % 16 != 0));
  interleave();
  return index;
}

void SeededExecutor::complete_in_order(Replay& replay, std::uint32_t count) {
  Sink sink{*this, replay.aside->scope()};
  complete_first(replay, count, sink);
}

void SeededExecutor::let_go(LiveNode& live) {
  Replay& replay = Replay::of(live);
  Sink sink{*this, replay.aside->scope()};
  lower_behind(replay, live, sink);
}

void SeededExecutor::complete_heavy(LiveNode& live, const Failure* failure) {
  Sink sink{*this, Replay::of(live).aside->scope()};
  complete_apart(live, failure, sink);
}

// There is one thread: it sees the exit when it completes the operation, or the operation done.
void SeededExecutor::open_exit(Replay& replay, std::uint32_t index) {
  if (!replay.is_done(index)) return;
  Sink sink{*this, replay.aside->scope()};
  take_exit(replay, replay.live()[index], sink);
}

void SeededExecutor::close_exits(Replay&) {}

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

std::unique_ptr<Executor> make_seeded_executor(const Machine& machine,
                                               const ExecutorOptions& options, std::uint64_t seed) {
  return std::make_unique<SeededExecutor>(plan_processors(machine), options, seed);
}

}  // namespace refrain::exec
