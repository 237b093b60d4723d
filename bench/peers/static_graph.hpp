#pragma once
// A task graph that is known beforehand, and the threads that run it: what is left of a runtime when
// it has nothing to find out. The floor of bench/task_overhead.
//
// The graph is flat arrays: per node a function, one pointer argument, a count of predecessors and a
// range in the array of successors. A node's count is armed again by the thread that runs it, so a
// graph can be run any number of times.
//
// The threads are Refrain's workers without what only a growing graph needs: a deque per thread, a
// kept successor (exec/threaded_executor.cpp says why), search, then sleep. One graph at a time;
// `run` is called by the thread that made the StaticExecutor, and returns when all nodes have run.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "exec/deque.hpp"
#include "exec/notifier.hpp"
#include "exec/threads.hpp"
#include "machine/machine.hpp"

namespace peer {

struct StaticNode {
  void (*function)(void*) = nullptr;
  void* argument = nullptr;
  std::atomic<std::uint32_t> pending{0};  ///< predecessors that have not run yet
  std::uint32_t predecessors = 0;
  std::uint32_t first = 0, last = 0;  ///< in StaticGraph::successors
};

struct StaticGraph {
  std::vector<StaticNode> nodes;
  std::vector<StaticNode*> successors;
  std::vector<StaticNode*> sources;  ///< nodes without predecessors
  std::uint32_t sinks = 0;           ///< nodes without successors

  /// `count` nodes that call function(argument); an edge is (from, to).
  using Edge = std::pair<std::uint32_t, std::uint32_t>;
  StaticGraph(std::uint32_t count, void (*function)(void*), void* argument,
              const std::vector<Edge>& edges)
      : nodes(count), successors(edges.size()) {
    for (const Edge& edge : edges) {
      ++nodes[edge.first].last;
      ++nodes[edge.second].predecessors;
    }
    std::uint32_t end = 0;
    for (StaticNode& node : nodes) {
      node.function = function;
      node.argument = argument;
      if (node.last == 0) ++sinks;
      if (node.predecessors == 0) sources.push_back(&node);
      node.first = end;
      end += node.last;
      node.last = node.first;
      node.pending.store(node.predecessors, std::memory_order_relaxed);
    }
    for (const Edge& edge : edges) successors[nodes[edge.first].last++] = &nodes[edge.second];
  }
};

class StaticExecutor {
 public:
  explicit StaticExecutor(int threads)
      : notifier_(threads + 1, 1, [] { return nullptr; }) {  // the caller never sleeps
    const auto plan = refrain::exec::plan_processors(refrain::machine::load(""));
    for (int i = 0; i < threads; ++i) slots_.push_back(std::make_unique<Slot>());
    for (int i = 1; i < threads; ++i) {
      threads_.emplace_back([this, i, cpus = plan.cpus[i % plan.cpus.size()].cpus] {
        refrain::exec::bind_this_thread(cpus);
        work(*slots_[i]);
      });
    }
  }
  ~StaticExecutor() {
    // seq_cst: before the look for sleepers; partner: the load in idle.
    stop_.store(true, std::memory_order_seq_cst);
    notifier_.notify_all(0);
    for (std::thread& thread : threads_) thread.join();
  }
  StaticExecutor(const StaticExecutor&) = delete;
  StaticExecutor& operator=(const StaticExecutor&) = delete;

  void run(StaticGraph& graph) {
    Slot& slot = *slots_[0];
    graph_ = &graph;
    sinks_left_.store(graph.sinks, std::memory_order_relaxed);
    for (StaticNode* source : graph.sources) push(slot, source);  // publishes the two stores above
    // acquire: partner of the decrements in complete, what all nodes wrote is visible.
    for (int looks = 1; sinks_left_.load(std::memory_order_acquire) != 0; ++looks) {
      if (StaticNode* node = find(slot)) drive(slot, node);
      else rest(looks, kWaitPauses);
    }
  }

 private:
  static constexpr int kSearchPauses = 64, kWaitPauses = 8;
  static constexpr std::chrono::microseconds kSearch{50};

  struct alignas(128) Slot {
    refrain::exec::Deque deque;
    refrain::exec::Sleeper sleeper;
  };

  // The deque holds words.
  static std::uintptr_t erase(StaticNode* node) { return reinterpret_cast<std::uintptr_t>(node); }
  static StaticNode* restore(std::uintptr_t word) { return reinterpret_cast<StaticNode*>(word); }

  void push(Slot& slot, StaticNode* node) {
    slot.deque.push(erase(node));
    notifier_.notify_one(0);
  }

  StaticNode* find(Slot& slot) {
    if (const auto word = slot.deque.take()) return restore(word);
    for (const auto& victim : slots_) {
      if (victim.get() == &slot) continue;
      if (const auto word = victim->deque.steal()) return restore(word);
    }
    return nullptr;
  }

  void drive(Slot& slot, StaticNode* node) {
    while (node) {
      // Its predecessors have run, and run again only when the whole graph does.
      node->pending.store(node->predecessors, std::memory_order_relaxed);
      node->function(node->argument);
      node = complete(slot, *node);
    }
  }

  /// The first successor that has become ready, to be run next.
  StaticNode* complete(Slot& slot, const StaticNode& node) {
    if (node.first == node.last) {
      sinks_left_.fetch_sub(1, std::memory_order_acq_rel);
      return nullptr;
    }
    StaticNode* next = nullptr;
    // After the last count has been lowered the run may end, and the graph with it.
    StaticNode* const* end = graph_->successors.data() + node.last;
    for (StaticNode* const* at = end - (node.last - node.first); at != end; ++at) {
      StaticNode* successor = *at;
      // acquire and release: what all predecessors wrote is visible to whoever runs the successor. At
      // 1 nobody else is left to touch the count.
      if (successor->pending.load(std::memory_order_acquire) != 1 &&
          successor->pending.fetch_sub(1, std::memory_order_acq_rel) != 1) {
        continue;
      }
      if (next) push(slot, successor);
      else next = successor;
    }
    return next;
  }

  void work(Slot& slot) {
    while (StaticNode* node = idle(slot)) drive(slot, node);
  }

  /// Searches, then sleeps, until there is a node. Null: the executor stops.
  StaticNode* idle(Slot& slot) {
    while (true) {
      const auto end = std::chrono::steady_clock::now() + kSearch;
      for (int looks = 1;; ++looks) {
        if (StaticNode* node = find(slot)) return node;
        rest(looks, kSearchPauses);
        if (looks % 16 == 0 && std::chrono::steady_clock::now() >= end) break;
      }
      notifier_.prepare(slot.sleeper, 0);
      StaticNode* node = find(slot);
      const bool stop = stop_.load(std::memory_order_seq_cst);
      if (!node && !stop) {
        notifier_.commit(slot.sleeper);
        continue;
      }
      notifier_.cancel(slot.sleeper);
      return node;
    }
  }

  /// Between two looks; now and then lets another thread have the core.
  static void rest(int looks, int pauses) {
    if (looks % 16 == 0) return std::this_thread::yield();
#if defined(__x86_64__)
    for (int i = 0; i < pauses; ++i) __builtin_ia32_pause();
#else
    static_cast<void>(pauses);
#endif
  }

  StaticGraph* graph_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> sinks_left_{0};
  alignas(64) refrain::exec::Notifier notifier_;
  std::atomic<bool> stop_{false};
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::thread> threads_;
};

}  // namespace peer
