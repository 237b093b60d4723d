#pragma once
// What the contexts of a runtime share: the machine, the memories, the executor, the mapper and the listeners.
//
// Threads: set up before a program runs; then read by all contexts. Mappers, listeners, memories, and the executor
// say themselves who may call them.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "analysis/instance.hpp"
#include "data/region_tree.hpp"
#include "finder/mining.hpp"
#include "graph/executor.hpp"
#include "launch/listener.hpp"
#include "launch/task_record.hpp"
#include "launch/timed_mover.hpp"
#include "memory/mover.hpp"
#include "refrain/machine.hpp"
#include "refrain/mapper.hpp"
#include "refrain/options.hpp"

namespace refrain::runtime {

class RuntimeCore {
 public:
  RuntimeCore(const RuntimeCore&) = delete;

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] exec::Executor& executor() { return *executor_; }
  [[nodiscard]] analysis::Memories& memories() { return memories_; }
  /// Memories have no bytes, bodies do not run, and results are zeros: a simulation.
  [[nodiscard]] bool is_imagined() const { return imagined_; }
  [[nodiscard]] const std::shared_ptr<data::TreeGraveyard>& graveyard() const { return graveyard_; }
  [[nodiscard]] Mapper& mapper() { return *mapper_; }
  /// Whether somebody wants to know how long launches take.
  [[nodiscard]] bool times_launches() const { return times_launches_; }
  /// Of each context's scope.
  [[nodiscard]] std::uint32_t window() const { return static_cast<std::uint32_t>(options_.window); }

  /// Who is told what happens. They come and go while no program runs.
  [[nodiscard]] Listeners& listeners() { return listeners_; }
  /// Null: nobody wants to know.
  [[nodiscard]] Listener* listener(Events kind) const { return listeners_.of(kind); }
  [[nodiscard]] analysis::GraphLog* graph_log() const { return listener(Events::graph); }

  /// Repeats of an earlier run, out of its record (tracing/warm_start.cpp).
  [[nodiscard]] const std::vector<autotrace::MinedRepeat>& warm_start() const {
    return warm_start_;
  }

  /// Of the tasks that its programs make.
  [[nodiscard]] const std::shared_ptr<detail::TaskSlots>& task_slots() const { return task_slots_; }

  /// A number for a nested context; the program's is 0.
  std::uint64_t next_context_id() {
    return context_ids_.fetch_add(1, std::memory_order_relaxed) + 1;
  }

 protected:
  RuntimeCore(Options options, std::vector<autotrace::MinedRepeat> warm_start, Machine machine,
              bool is_imagined)
      : options_(std::move(options)),
        warm_start_(std::move(warm_start)),
        machine_(std::move(machine)),
        imagined_(is_imagined),
        memories_(machine_, mover()) {}
  ~RuntimeCore() = default;
  [[nodiscard]] const memory::Mover& mover() const {
    if (imagined_) return memory::imagined_mover();
    return options_.capture.empty() ? memory::cpu_mover() : timed_mover_;
  }

  const Options options_;
  const std::vector<autotrace::MinedRepeat> warm_start_;
  const Machine machine_;
  const bool imagined_;
  Listeners listeners_;
  const TimedMover timed_mover_{listeners_};
  analysis::Memories memories_;
  std::shared_ptr<data::TreeGraveyard> graveyard_ = std::make_shared<data::TreeGraveyard>();
  std::unique_ptr<Mapper> mapper_;
  std::shared_ptr<exec::Executor> executor_;
  std::shared_ptr<detail::TaskSlots> task_slots_;
  const bool times_launches_ =
      options_.stats || !options_.timeline.empty() || !options_.explain.empty();
  std::atomic<std::uint64_t> context_ids_{0};
};

}  // namespace refrain::runtime
