#include "exec/threaded_executor.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <string>
#include <system_error>

#include "base/assert.hpp"
#include "exec/threads.hpp"
#include "graph/completion.hpp"
#include "graph/replay_steps.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"

namespace refrain::exec {

thread_local ThreadedExecutor::Slot* ThreadedExecutor::this_slot = nullptr;

ThreadedExecutor::ThreadedExecutor(ProcessorPlan plan, const ExecutorOptions& options)
    : options_(options),
      plan_(std::move(plan)),
      notifier_(1 + options.workers + static_cast<int>(plan_.dedicated.size()),
                kFirstDedicated + static_cast<int>(plan_.dedicated.size()),
                [this] { return find_deadlocked(); }),
      started_ns_(profile::now_ns()) {
  const int cpu_threads = 1 + options_.workers;
  const int all = cpu_threads + static_cast<int>(plan_.dedicated.size());
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  oversubscribed_ = static_cast<unsigned>(all) > cores;
  for (std::size_t i = 0; i < plan_.dedicated.size(); ++i) {
    queue_of_.resize(std::max<std::size_t>(queue_of_.size(), plan_.dedicated[i] + 1), -1);
    queue_of_[plan_.dedicated[i]] = static_cast<int>(i);
    dedicated_.push_back(std::make_unique<ReadyQueue>());
  }
  for (int i = 0; i < all; ++i) {
    auto slot = std::make_unique<Slot>();
    slot->index = i;
    slot->random = 0x9e3779b97f4a7c15u * (i + 1);
    slot->dedicated = i < cpu_threads ? -1 : i - cpu_threads;
    slot->processor = i < cpu_threads ? plan_.cpus[i % plan_.cpus.size()].processor
                                      : plan_.dedicated[i - cpu_threads];
    slots_.push_back(std::move(slot));
  }
  const bool bind = options_.bind && !oversubscribed_ && cpu_threads <= int(plan_.cpus.size());
  threads_.reserve(static_cast<std::size_t>(all));
  try {
    for (int i = 1; i < all; ++i) {
      threads_.emplace_back([this, i, bind] {
        if (bind && slots_[i]->dedicated < 0) bind_this_thread(plan_.cpus[i].cpus);
        work(*slots_[i]);
      });
    }
  } catch (const std::system_error& error) {
    std::string why;
    try {
      why = what_limits_threads();  // while those that could be started are there
    } catch (const std::bad_alloc&) {}
    stop_threads();
    throw Error("only " + std::to_string(threads_.size()) + " of " + std::to_string(all - 1) +
                " threads could be started (" + error.code().message() + "): " + why +
                "; ask for fewer with --refrain:workers");
  } catch (...) {
    stop_threads();
    throw;
  }
}

ThreadedExecutor::~ThreadedExecutor() {
  REFRAIN_ASSERT(scopes_.load() == 0, "scopes end before their executor");  // 1
  notifier_.await_expected();
  background_.drop();
  stop_threads();
}

void ThreadedExecutor::stop_threads() {
  stop_.store(true, std::memory_order_seq_cst);  // 2
  for (int kind = 0; kind < kFirstDedicated + int(dedicated_.size()); ++kind) {
    notifier_.notify_all(kind);  // 3
  }
  for (std::thread& thread : threads_) thread.join();  // 4
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
    const std::lock_guard lock(nested_mutex_);
    nested_.push_back(&scope);
  }
  scopes_.fetch_add(1, std::memory_order_relaxed);  // here nothing throws any more
  return opened;
}

void ThreadedExecutor::close(Scope& scope) {
  scopes_.fetch_sub(1, std::memory_order_relaxed);
  if (!scope.parent()) return;
  const std::lock_guard lock(nested_mutex_);
  nested_.erase(std::find(nested_.begin(), nested_.end(), &scope));
}

// --- running ---------------------------------------------------------------------------------------

void ThreadedExecutor::publish(Node& node, std::span<const Edge> predecessors) {
  if (!connect(node, predecessors)) return;
  Sink sink{*this, slot_of(*node.scope), false};
  node_ready(node, *this, sink);
}

void ThreadedExecutor::publish_inline(Node& node, std::span<const Edge> predecessors) {
  if (node.processor != 0 || (node.flags & (kManual | kReducer)))
    return publish(node, predecessors);
  if (connect(node, predecessors)) execute(slot_of(*node.scope), node, false);
}

void ThreadedExecutor::complete_manual(Node& node) {
  Sink sink{*this, slot_of(*node.scope), false};
  end_manual(node, sink);
}

void ThreadedExecutor::completed_outside(Node* node) noexcept {
  if (node != nullptr) {
    node->priority = std::numeric_limits<std::int16_t>::max();  // others may wait for it
    node->processor = 0;
    put_in_shared_queue(*node);
  }
  notifier_.arrived();
}

void ThreadedExecutor::Sink::granted(Node&) { executor.notify_waiters(); }

inline void ThreadedExecutor::enqueue(Slot& slot, Node& node, bool keep) {
  if (keep && keeps_ && !slot.next && (node.priority | node.processor) == 0) [[likely]] {
    slot.next = &node;
  } else {
    put_in_queue(slot, node);
  }
}

/// Something of the root scope is ready. Where all workers are busy the launching thread may take it, if it waits: what
/// replays make ready nobody else tells it.
void ThreadedExecutor::call_somebody() {
  if (!notifier_.notify_one(kWorker)) notifier_.notify_one(kRootWaiter);
}

void ThreadedExecutor::push(Slot& slot, Ready ready) {
  slot.deque.push(ready.word());
  call_somebody();
}

void ThreadedExecutor::put_in_queue(Slot& slot, Node& node) {
  if ((node.priority | node.processor) == 0 && !node.scope->parent()) [[likely]] {
    push(slot, &node);
  } else {
    put_in_shared_queue(node);
  }
}

/// Any thread.
void ThreadedExecutor::put_in_shared_queue(Node& node) {
  const bool nested = node.scope->parent() != nullptr;
  if (node.processor != 0) {
    const int queue = queue_of_.at(node.processor - 1);
    dedicated_[queue]->push(node);
    notifier_.notify_one(kFirstDedicated + queue);
  } else if (nested) {
    node.scope->ready().push(node);
    nested_ready_.fetch_add(1, std::memory_order_seq_cst);
    notifier_.notify_one(kWorker);
  } else {
    prioritised_.push(node);
    call_somebody();
  }
  // Waiters run what belongs to their scopes.
  if (nested) notify_waiters();
}

inline void ThreadedExecutor::run(Slot& slot, Ready ready, bool keep) {
  if (ready.is_live()) return drive(slot, ready.live());
  execute(slot, ready.node(), keep);
}

inline void ThreadedExecutor::execute(Slot& slot, Node& node, bool keep) {
  const Node* outer = slot.running;
  slot.running = &node;
  if (listener_) [[unlikely]] {
    execute_listened(slot, node);
  } else {
    run_node(node, *this, slot.processor);
  }
  slot.running = outer;
  add(slot.executed);
  finish(slot, node, keep);
}

void ThreadedExecutor::execute_listened(Slot& slot, Node& node) {
  const bool is_operation = runs_operation(node);
  const std::uint64_t begin = profile::now_ns();
  run_node(node, *this, slot.processor);
  if (is_operation) listener_->executed(node, slot.index, begin, profile::now_ns());
}

inline void ThreadedExecutor::finish(Slot& slot, Node& node, bool keep) {
  Sink sink{*this, slot, keep};
  if (!ends_now(node, sink)) return;
  complete_node(node, *this, sink);
  give_back(slot, node);
  notify_waiters();
}

/// For those that keep nothing.
void ThreadedExecutor::finish_here(Slot& slot, Node& node) { finish(slot, node, false); }

inline void ThreadedExecutor::give_back(Slot& slot, Node& node) {
  Scope& scope = *node.scope;
  if (scope.owner() == &slot) return scope.give_back_own(node);
  if (scope.parent() || scope.window() < 16 * kBatch) {
    Node* const alone = &node;
    return scope.give_back({&alone, 1});
  }
  slot.batch[slot.batch_size++] = &node;
  if (slot.batch_size == kBatch || notifier_.any(kWaiter) || notifier_.any(kRootWaiter))
    flush(slot);
}

void ThreadedExecutor::flush(Slot& slot) {
  if (slot.batch_size == 0) return;
  slot.batch[0]->scope->give_back({slot.batch, std::exchange(slot.batch_size, 0)});
  notify_waiters();
}

void ThreadedExecutor::put_next_back(Slot& slot) {
  slot.streak = 0;
  const Ready next = std::exchange(slot.next, nullptr);
  if (next.is_live()) {
    push(slot, next);
  } else if (next) {
    enqueue(slot, next.node(), false);
  }
}

inline Ready ThreadedExecutor::next_or_find(Slot& slot, const Scope* within) {
  if (slot.next) {
    if (++slot.streak < kStreak) return std::exchange(slot.next, nullptr);
    put_next_back(slot);
    if (slot.dedicated < 0 && !within) {
      if (const Ready oldest = Ready::of(slot.deque.steal())) return oldest;
    }
  }
  slot.streak = 0;
  return find(slot, within);
}

// --- workers and waiters ---------------------------------------------------------------------------

void ThreadedExecutor::work(Slot& slot) {
  this_slot = &slot;
  while (true) {
    if (background_.late()) [[unlikely]]
      run_late_jobs(slot);
    Ready ready = next_or_find(slot, nullptr);
    if (!ready) ready = idle(slot);
    if (!ready) return;
    // A dedicated thread keeps nothing: what becomes ready is for the cpu threads.
    run(slot, ready, slot.dedicated < 0);
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
  WaitRecord record{&scope, awaited, waiter, slot.waits};
  struct Enter {
    ThreadedExecutor& executor;
    Slot& slot;
    WaitRecord* outer;
    ~Enter() {
      executor.put_next_back(slot);
      slot.waits = outer;
    }
  } enter{*this, slot, slot.waits};
  slot.waits = &record;
  do {
    Ready ready = next_or_find(slot, within);
    if (!ready && !wait_idle(slot, within, done, ready)) return;
    run(slot, ready, slot.dedicated < 0);
  } while (!done());
}

bool ThreadedExecutor::relieve(Scope& scope, std::size_t target) {
  if (threads() > 1 && !single_thread_.on()) return false;
  Slot& slot = slot_of(scope);
  const Scope* within = scope.parent() ? &scope : nullptr;
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

void ThreadedExecutor::relieve_replays(Scope& scope) {
  Slot& slot = slot_of(scope);
  const Scope* within = scope.parent() ? &scope : nullptr;
  while (threads() == 1 || single_thread_.on()) {
    const Ready ready = next_or_find(slot, within);
    if (!ready) return;
    run(slot, ready, true);
  }
  put_next_back(slot);
}

void ThreadedExecutor::parallel_for(std::int64_t count, std::int64_t grain,
                                    const std::function<void(std::int64_t, std::int64_t)>& f) {
  loops_.run(count, loop_piece(count, grain, 1 + options_.workers), f, [this] {
    notifier_.notify_all(kWorker);
    notify_waiters();
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
  std::uint64_t idle = 0;
  for (const auto& slot : slots_) {
    sum.stolen += slot->stolen.load(std::memory_order_relaxed);
    sum.sleeps += slot->sleeps.load(std::memory_order_relaxed);
    sum.background_jobs += slot->background_jobs.load(std::memory_order_relaxed);
    sum.background_ns += slot->background_ns.load(std::memory_order_relaxed);
    idle += slot->idle_ns.load(std::memory_order_relaxed);
  }
  const double span = double(profile::now_ns() - started_ns_) * double(threads() - 1);
  sum.idle_share = span > 0 ? std::min(1.0, double(idle) / span) : 0;
  return sum;
}

std::shared_ptr<Executor> make_threaded_executor(const Machine& machine,
                                                 const ExecutorOptions& options) {
  return std::make_shared<ThreadedExecutor>(plan_processors(machine), options);
}

}  // namespace refrain::exec
