#include "exec/threaded_executor.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <new>
#include <string>
#include <system_error>

#include "base/assert.hpp"
#include "exec/fiber.hpp"
#include "exec/threads.hpp"
#include "graph/completion.hpp"
#include "graph/replay_steps.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"

namespace refrain::exec {

thread_local ThreadedExecutor::Slot* ThreadedExecutor::this_slot = nullptr;

namespace {

int threads_for(const ProcessorPlan& plan, const ExecutorOptions& options) {
  return 1 + options.workers + static_cast<int>(plan.dedicated.size());
}

/// All ids of dedicated processors are below it.
int end_of_dedicated(const ProcessorPlan& plan) {
  return plan.dedicated.empty() ? 0 : 1 + std::ranges::max(plan.dedicated);
}

}  // namespace

ThreadedExecutor::ThreadedExecutor(const ProcessorPlan& plan, const ExecutorOptions& options)
    : GraphExecutor(options, threads_for(plan, options)),
      notifier_(threads(), kDedicated + end_of_dedicated(plan),
                [this] { return find_deadlocked(); }),
      queues_(end_of_dedicated(plan), notifier_),
      single_thread_(threads() == 1),
      started_ns_(profile::now_ns()) {
  const int cpu_threads = 1 + options.workers;
  for (int i = 0; i < threads(); ++i) {
    auto slot = std::make_unique<Slot>();
    slot->index = i;
    slot->random = 0x9e3779b97f4a7c15u * (i + 1);
    slot->dedicated = i >= cpu_threads;
    slot->processor = slot->dedicated ? plan.dedicated[i - cpu_threads]
                                      : plan.cpus[i % plan.cpus.size()].processor;
    slots_.push_back(std::move(slot));
  }
  const bool bind =
      options.bind &&
      static_cast<unsigned>(threads()) <= std::max(1U, std::thread::hardware_concurrency()) &&
      cpu_threads <= static_cast<int>(plan.cpus.size());
  const auto stop = [this] {
    notifier_.stop();
    for (std::thread& thread : threads_) thread.join();
  };
  threads_.reserve(slots_.size());
  try {
    for (int i = 1; i < threads(); ++i) {
      Slot& slot = *slots_[i];
      threads_.emplace_back(
          [this, &slot, cpus = bind && !slot.dedicated ? plan.cpus[i].cpus : std::vector<int>()] {
            bind_this_thread(cpus);
            work(slot);
          });
    }
  } catch (const std::system_error& error) {
    std::string why;
    try {
      why = what_limits_threads();  // while those that could be started are there
    } catch (const std::bad_alloc&) {}
    stop();
    throw Error("only " + std::to_string(threads_.size()) + " of " + std::to_string(threads() - 1) +
                " threads could be started (" + error.code().message() + "): " + why +
                "; ask for fewer with --refrain:workers");
  } catch (...) {
    stop();
    throw;
  }
}

ThreadedExecutor::~ThreadedExecutor() {
  REFRAIN_ASSERT(scopes_.load() == 0, "scopes end before their executor");  // 1
  notifier_.await_expected();
  background_.drop();
  notifier_.stop();                                    // 2
  for (std::thread& thread : threads_) thread.join();  // 3
}

void ThreadedExecutor::run_root(const std::function<void()>& program) {
  struct Entered {
    ThreadedExecutor& executor;
    void* const before = executor.enter_root();
    ~Entered() { executor.leave_root(before); }
  } entered{*this};
  program();
}

Executor::Opened ThreadedExecutor::open(Scope& scope) {
  Opened opened{slots_[0].get(), nullptr};
  if (scope.parent()) {
    REFRAIN_ASSERT(this_slot && this_slot->running, "a nested scope is made by a running task");
    opened = {this_slot, this_slot->running};
    queues_.open(scope);
  }
  scopes_.fetch_add(1, std::memory_order_relaxed);  // here nothing throws any more
  return opened;
}

void ThreadedExecutor::close(Scope& scope) {
  scopes_.fetch_sub(1, std::memory_order_relaxed);
  if (scope.parent()) queues_.close(scope);
}

void ThreadedExecutor::parallel_for(std::int64_t count, std::int64_t grain, const LoopBody& f) {
  ParallelLoop loop(count, grain, 1 + options_.workers, f);
  loops_.run(loop, [this] {
    notifier_.notify_all(kWorker);
    queues_.notify_waiters();
  });
}

void ThreadedExecutor::post(std::shared_ptr<BackgroundJob> job) {
  background_.post(std::move(job));
  notifier_.notify_one(kWorker);
}

std::uint64_t ThreadedExecutor::executed() const {
  std::uint64_t sum = 0;
  for (const auto& slot : slots_) sum += slot->executed.load(std::memory_order_relaxed);
  return sum;
}

ExecutorCounters ThreadedExecutor::counters() const {
  ExecutorCounters sum;
  sum.executed = executed();
  sum.background_jobs = background_.jobs_run();
  sum.background_ns = background_.ns();
  std::uint64_t idle = 0;
  for (const auto& slot : slots_) {
    sum.stolen += slot->stolen.load(std::memory_order_relaxed);
    sum.sleeps += slot->sleeps.load(std::memory_order_relaxed);
    idle += slot->idle_ns.load(std::memory_order_relaxed);
  }
  const double span = double(profile::now_ns() - started_ns_) * double(threads() - 1);
  sum.idle_share = span > 0 ? std::min(1.0, double(idle) / span) : 0;
  return sum;
}

// --- running ---------------------------------------------------------------------------------------

void ThreadedExecutor::publish(Node& node, std::span<const Edge> predecessors) {
  if (!connect(node, predecessors)) return;
  Sink sink = sink_of(*node.scope);
  node_ready(node, sink);
}

void ThreadedExecutor::publish_inline(Node& node, std::span<const Edge> predecessors) {
  if (node.processor != 0 || (node.flags & (kManual | kReducer)))
    return publish(node, predecessors);
  if (connect(node, predecessors)) execute(slot_of(*node.scope), node, false);
}

void ThreadedExecutor::completed_outside(Node* node) noexcept {
  if (node != nullptr) {
    node->priority = std::numeric_limits<std::int16_t>::max();  // others may wait for it
    node->processor = 0;
    queues_.push(*node);
  }
  notifier_.arrived();
}

inline void ThreadedExecutor::enqueue(Slot& slot, Node& node, bool keep) {
  if (keep && keeps() && !slot.next && (node.priority | node.processor) == 0) [[likely]] {
    slot.next = &node;
  } else {
    put_in_queue(slot, node);
  }
}

void ThreadedExecutor::push(Slot& slot, Ready ready) {
  slot.deque.push(ready.word());
  queues_.call_somebody();
}

void ThreadedExecutor::put_in_queue(Slot& slot, Node& node) {
  if ((node.priority | node.processor) == 0 && !node.scope->parent()) [[likely]] {
    push(slot, &node);
  } else {
    queues_.push(node);
  }
}

[[gnu::always_inline]] inline void ThreadedExecutor::run(Slot& slot, Ready ready, bool keep) {
  if (ready.is_live()) return drive(slot, ready.live());
  execute(slot, ready.node(), keep);
}

[[gnu::always_inline]] inline void ThreadedExecutor::execute(Slot& slot, Node& node, bool keep) {
  const Node* outer = std::exchange(slot.running, &node);
  if (listener_) [[unlikely]] {
    run_told(node, slot.processor, slot.index);
  } else {
    run_node(node, *this, slot.processor);
  }
  slot.running = outer;
  Sink sink{*this, slot, keep};
  if (!ends_now(node, sink)) return;
  add(slot.executed);
  finish(slot, node, keep);
}

[[gnu::always_inline]] inline void ThreadedExecutor::finish(Slot& slot, Node& node, bool keep) {
  Sink sink{*this, slot, keep};
  complete_node(node, sink);
  give_back(slot, node);
  queues_.notify_waiters();
}

[[gnu::always_inline]] inline void ThreadedExecutor::give_back(Slot& slot, Node& node) {
  Scope& scope = *node.scope;
  if (scope.owner() == &slot) return scope.give_back_own(node);
  if (scope.parent() || scope.window().size() < 16 * kBatch) {
    Node* const single = &node;
    return scope.give_back({&single, 1});
  }
  slot.batch[slot.batch_size++] = &node;
  if (slot.batch_size == kBatch || notifier_.any(kWaiter) || notifier_.any(kRootWaiter))
    flush(slot);
}

void ThreadedExecutor::flush(Slot& slot) {
  if (slot.batch_size == 0) return;
  slot.batch[0]->scope->give_back({slot.batch, std::exchange(slot.batch_size, 0)});
  queues_.notify_waiters();
}

void ThreadedExecutor::put_next_back(Slot& slot) {
  slot.streak = 0;
  const Ready next = std::exchange(slot.next, nullptr);
  if (next.is_live()) {
    push(slot, next);
  } else if (next) {
    put_in_queue(slot, next.node());
  }
}

/// Runs a streak of operations without a node: each is the first that the one before it has made ready.
template <bool listened>
void ThreadedExecutor::drive_streak(Slot& slot, LiveNode& first) {
  Sink sink{*this, slot};
  Execution execution{*this, slot.processor};
  Replay* replay = &Replay::of(first);
  std::uint32_t index = first.index;
  // How many operations of the replay are known to be issued. A successor in the same replay may go by
  // that: until it is done, the slot is used for nothing else.
  std::uint32_t issued = 0;
  int streak = 0;
  do {
    const TemplateNode& node = replay->nodes[index];
    LiveNode& live = replay->live()[index];
    const std::uint64_t begin = listened ? profile::now_ns() : 0;
    const bool plain = node.flags == 0;
    const Failure* failure =
        plain ? run_operation<RunKind::plain>(*replay, index, node, execution)
              : run_operation<RunKind::per_replay>(*replay, index, node, execution);
    if (listened) tell_listener(slot.index, *replay, index, begin);
    if (plain && failure == nullptr) [[likely]] {
      index = complete_plain(*replay, live, node, issued, sink);
    } else if (LiveNode* next = complete_any(*replay, live, node, failure, sink)) {
      replay = &Replay::of(*next);
      index = next->index;
      issued = 0;
      execution.failure = nullptr;
    } else {
      index = kNoNode;
    }
  } while (++streak < kStreak && index != kNoNode);
  add(slot.executed, static_cast<std::uint64_t>(streak));
  if (index == kNoNode) return;
  LiveNode* const next = replay->live() + index;
  if (slot.next) return push(slot, next);
  slot.next = next;
  slot.streak = kStreak;
}

/// Lives while operations without a node run on a thread. They open no scope, since that takes a node. They wait only
/// with a body-local pointer of their own.
struct ThreadedExecutor::WithoutNode {
  explicit WithoutNode(Slot& thread) : slot(thread) {}
  ~WithoutNode() {
    set_body_local(local);
    slot.running = outer;
  }
  Slot& slot;
  const Node* const outer = std::exchange(slot.running, nullptr);
  void* const local = set_body_local(nullptr);
};

void ThreadedExecutor::drive(Slot& slot, LiveNode& first) {
  const WithoutNode among(slot);
  if (listener_) [[unlikely]] {
    drive_streak<true>(slot, first);
  } else {
    drive_streak<false>(slot, first);
  }
}

bool ThreadedExecutor::runs_in_order() {
  const std::uint64_t executed = slots_[0]->executed.load(std::memory_order_relaxed);  // its own
  if (threads() == 1 && single_thread_.length_due(executed))
    single_thread_.look_at_length(profile::now_ns(), executed);
  return single_thread_.on();
}

std::uint32_t ThreadedExecutor::run_in_order(Replay& replay, std::uint32_t from, std::uint32_t to,
                                             bool to_the_end) {
  Slot& slot = slot_of(replay.extras->scope);
  const WithoutNode among(slot);
  const auto goes_on = [&] { return to_the_end || single_thread_.on(); };
  std::uint32_t index = from;
  for (;;) {
    if (listener_ == nullptr) index = run_plain_in_order(replay, index, to, goes_on);
    if (index == to || !goes_on()) break;
    run_one_told(replay, index++, slot.processor, slot.index);
  }
  add(slot.executed, index - from);
  return index;
}

/// The thread's own slot, or the owner's where the thread is in a program of another executor within its own one.
ThreadedExecutor::Sink ThreadedExecutor::sink_here(LiveNode& live) {
  const auto index = static_cast<std::size_t>(this_slot->index);
  if (index < slots_.size() && slots_[index].get() == this_slot) return {*this, *this_slot};
  return sink_of(Replay::of(live).extras->scope);
}

// --- finding ---------------------------------------------------------------------------------------

inline Ready ThreadedExecutor::next_or_find(Slot& slot, const Scope* within) {
  if (slot.next) {
    if (++slot.streak < kStreak) return std::exchange(slot.next, nullptr);
    put_next_back(slot);
    if (!slot.dedicated && !within) {
      if (const Ready oldest = Ready::of(slot.deque.steal())) return oldest;
    }
  }
  slot.streak = 0;
  return find(slot, within);
}

Ready ThreadedExecutor::find(Slot& slot, const Scope* within) {
  if (slot.dedicated) {
    Node* node = queues_.pop_dedicated(slot.processor, within);
    return node || !within ? node : queues_.pop_nested(within);
  }
  if (within) return queues_.pop_nested(within);
  if (Node* node = queues_.pop_urgent()) return node;
  if (const Ready ready = take_own(slot)) return ready;
  if (Node* node = queues_.pop_nested(nullptr)) return node;
  if (const Ready ready = steal(slot)) return ready;
  return queues_.pop_prioritised();
}

Ready ThreadedExecutor::take_own(Slot& slot) {
  if (keeps()) return Ready::of(slot.deque.take());
  while (!slot.deque.looks_empty())
    if (const Ready oldest = Ready::of(slot.deque.steal())) return oldest;
  return nullptr;
}

Ready ThreadedExecutor::steal(Slot& slot) {
  const int all = threads();
  if (all == 1) return nullptr;
  slot.random ^= slot.random << 13;
  slot.random ^= slot.random >> 7;
  slot.random ^= slot.random << 17;
  const int start = static_cast<int>(slot.random % static_cast<std::uint64_t>(all));
  for (int i = 0; i < all; ++i) {
    Slot& victim = *slots_[(start + i) % all];
    if (&victim == &slot) continue;
    while (!victim.deque.looks_empty()) {
      if (const Ready ready = Ready::of(victim.deque.steal())) {
        add(slot.stolen);
        return ready;
      }
    }
  }
  return nullptr;
}

// --- with nothing to run ---------------------------------------------------------------------------

void ThreadedExecutor::work(Slot& slot) {
  this_slot = &slot;
  while (true) {
    if (background_.late()) [[unlikely]]
      run_late_jobs(slot);
    Ready ready = next_or_find(slot, nullptr);
    if (!ready) ready = idle(slot);
    if (!ready) return;
    // A dedicated thread keeps nothing: what becomes ready is for the cpu threads.
    run(slot, ready, !slot.dedicated);
  }
}

void ThreadedExecutor::wait(Scope& scope, const std::function<bool()>& done, NodeRef awaited,
                            const NodeInfo* waiter) {
  if (done()) return;
  Slot& slot = slot_of(scope);
  if (this_slot != &slot) [[unlikely]]
    throw UsageError(
        "a wait in a context whose program or task runs on another thread: a task launches and "
        "waits in the context that it is given");
  const Scope* within = scope.parent() ? &scope : nullptr;
  WaitRecord record{&scope, awaited, waiter, {}};
  struct Enter {
    ThreadedExecutor& executor;
    Slot& slot;
    WaitRecord* outer;
    ~Enter() {
      executor.put_next_back(slot);
      slot.waits = outer;
    }
  } enter{*this, slot, std::exchange(slot.waits, &record)};
  do {
    Ready ready = next_or_find(slot, within);
    if (!ready && !wait_idle(slot, within, done, ready)) return;
    run(slot, ready, !slot.dedicated);
  } while (!done());
}

bool ThreadedExecutor::relieve(Scope& scope, std::size_t target) {
  if (!alone()) return false;
  Slot& slot = slot_of(scope);
  const Scope* within = scope.parent() ? &scope : nullptr;
  if (target == kAllReady) return run_all_ready(slot, within);
  // No execution gives more than its own node back, so that many can run before it pays to look again.
  for (std::size_t left; (left = scope.collect()) > target;) {
    for (; left > target; --left) {
      const Ready ready = next_or_find(slot, within);
      if (!ready) return scope.collect() <= target;
      run(slot, ready, true);
    }
  }
  put_next_back(slot);
  return true;
}

bool ThreadedExecutor::run_all_ready(Slot& slot, const Scope* within) {
  while (alone()) {
    const Ready ready = next_or_find(slot, within);
    if (!ready) return true;
    run(slot, ready, true);
  }
  put_next_back(slot);
  return false;
}

void ThreadedExecutor::look_at_proxies(Slot& slot) {
  proxies_.look(nullptr, [&](Node& node) { finish(slot, node, false); });
  flush(slot);  // the thread may be about to sleep
}

/// Looks once for anything that the thread can run. Loops of gang tasks are helped with here.
Ready ThreadedExecutor::look(Slot& slot, const Scope* within) {
  Ready ready = find(slot, within);
  while (!ready && !slot.dedicated && !within && loops_.help()) ready = find(slot, within);
  return ready;
}

/// For a worker that has no body on its stack and is no sleeper. Returns how long the job took, 0 if there was none.
std::uint64_t ThreadedExecutor::run_background_job(Slot& slot) {
  if (slot.dedicated || !background_.any()) return 0;
  const std::shared_ptr<BackgroundJob> job = background_.take();
  if (!job) return 0;
  look_at_proxies(slot);
  return std::max<std::uint64_t>(1, background_.run(*job));
}

/// For a worker between two nodes.
void ThreadedExecutor::run_late_jobs(Slot& slot) {
  if (slot.dedicated) return;
  put_next_back(slot);
  queues_.notify_waiters();  // one may have looked for it in vain
  while (background_.late() && run_background_job(slot) != 0) {}
}

/// A worker that has found nothing to do naps, or does background jobs, while the launching thread is better left
/// alone. Returns how long the jobs took.
std::uint64_t ThreadedExecutor::stay_away(Slot& slot) {
  const auto decide = [&](auto what) {
    const std::uint64_t now = profile::now_ns();
    return single_thread_.due(now) && (single_thread_.*what)(now, executed());
  };
  const bool decides = slot.index == 1;
  std::uint64_t jobs_ns = 0;
  if (decides && !decide(&SingleThreadMode::begin)) return jobs_ns;
  while (single_thread_.on() && !notifier_.stopped()) {
    const std::uint64_t ns = run_background_job(slot);
    jobs_ns += ns;
    if (ns == 0) background_.nap(std::chrono::nanoseconds(SingleThreadMode::kNapNs));
    if (decides) decide(&SingleThreadMode::go_on);  // not due: a job may be short
  }
  return jobs_ns;
}

/// For a thread that has found nothing to run: waits until it finds something. Null: the executor stops.
Ready ThreadedExecutor::idle(Slot& slot) {
  flush(slot);
  const std::uint64_t begin = profile::now_ns();
  std::uint64_t jobs_ns = slot.dedicated ? 0 : stay_away(slot);
  const auto does_job = [&] {
    const std::uint64_t ns = run_background_job(slot);
    jobs_ns += ns;
    return ns != 0;
  };
  Ready ready;
  while (!ready) {
    for (Spin spin = notifier_.spin(Spin::kSearch);
         !(ready = look(slot, nullptr)) && (does_job() || spin.step());) {}
    if (ready) break;
    notifier_.prepare(slot.sleeper, slot.dedicated ? kDedicated + slot.processor : int(kWorker));
    look_at_proxies(slot);
    ready = look(slot, nullptr);
    const bool stop = notifier_.stopped();
    // Only looked for: a job takes long, and a sleeper who does one keeps a notification from the others.
    const bool job = !slot.dedicated && background_.any();
    if (ready || stop || job) {
      notifier_.cancel(slot.sleeper);
      if (stop && !ready) return nullptr;
    } else {
      add(slot.sleeps);
      notifier_.commit(slot.sleeper);
    }
  }
  add(slot.idle_ns, profile::now_ns() - begin - jobs_ns);
  return ready;
}

/// For a thread in `wait` that has found nothing to run: spins, then sleeps. False: done() is true. True: `found` is there
/// to be run.
bool ThreadedExecutor::wait_idle(Slot& slot, const Scope* within, const std::function<bool()>& done,
                                 Ready& found) {
  flush(slot);
  look_at_proxies(slot);
  while (true) {
    for (Spin spin = notifier_.spin(Spin::kWait); threads() > 1 && spin.step();) {
      if (done()) return false;
      if ((found = look(slot, within))) return true;
    }
    notifier_.prepare(slot.sleeper, within != nullptr ? kWaiter : kRootWaiter);
    look_at_proxies(slot);
    const bool finished = done();
    if (finished || (found = look(slot, within))) {
      notifier_.cancel(slot.sleeper);
      return !finished;
    }
    add(slot.sleeps);
    if (notifier_.commit(slot.sleeper) == Wake::deadlock) throw Deadlock(*slot.waits->deadlock);
    if (done()) return false;
  }
}

/// Every thread sleeps. Names the waiter in the deepest scope: nobody below it is left who could go
/// on, while waiters above it may be waiting for its task, which the exception will end.
Sleeper* ThreadedExecutor::find_deadlocked() {
  Slot* deepest = nullptr;
  for (const auto& slot : slots_) {
    if (slot->waits && (!deepest || slot->waits->scope->depth() > deepest->waits->scope->depth()))
      deepest = slot.get();
  }
  REFRAIN_ASSERT(deepest, "all threads sleep only while somebody waits");
  declare_deadlock(*deepest->waits);
  return &deepest->sleeper;
}

std::shared_ptr<Executor> make_threaded_executor(const Machine& machine,
                                                 const ExecutorOptions& options) {
  return std::make_shared<ThreadedExecutor>(plan_processors(machine), options);
}

}  // namespace refrain::exec
