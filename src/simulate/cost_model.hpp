#pragma once
// How long the operations of a captured program take on a described machine.
//
// A body takes as long as those of the same call were measured on that kind of processor, else those of its task, else on
// another kind. Where machine and kind are not those of the measurement, the time is scaled: a body that takes d seconds on
// a processor of f flop/s is one of d f floating-point operations at most, and it reads and writes its arguments. On a
// processor of F flop/s that reads and writes the memory of argument i at B_i bytes/s it takes max(d f / F, sum of bytes_i / B_i), and the launch. A
// processor of which a description says nothing counts as a core of 50 Gflop/s. A file may say otherwise for each task.
//
// A copy takes what its links say: latency + bytes / bandwidth. Where a cpu makes it (no end is a real GPU's memory, and
// both are of one rank) it takes as long as the copies of the measured run, as far as the machine does not say; less where
// that cpu has just made the values, and neither memory is a GPU's. Fills and folds likewise, on a cpu, or on the GPU that
// has the memory. What a core writes that another core has read takes longer (capture/shared_lines.hpp).
//
// Owner: the thread of the simulation.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json.hpp"
#include "capture/captured_program.hpp"
#include "launch/task_record.hpp"
#include "simulate/virtual_executor.hpp"

namespace refrain::simulate {

/// What a file says of tasks: {"refrain_costs": 1, "tasks": [{"task": "star", "processor": "gpu", "factor": 0.5}, ...]}.
/// Later entries win.
class CostFile {
 public:
  /// InputError that says where. `file` is the name that errors give.
  CostFile(std::string text, const std::string& file, const capture::Program& program);
  /// The time of a body for which the model says `seconds`.
  [[nodiscard]] double seconds(const std::string& task, ProcessorKind kind, std::uint64_t bytes,
                               double seconds) const;

 private:
  struct Entry {
    std::string task;  ///< a name in which * stands for any text
    bool of_kind[processor_kinds];
    double factor = 1, fixed = -1, per_byte = 0;
  };
  std::vector<Entry> entries_;
};

class CostModel final : public Model {
 public:
  /// All outlive this; `file` may be null.
  CostModel(const capture::Program& program, const Machine& measured, const Machine& machine,
            const Lanes& lanes, const CostFile* file);
  /// A task of the program that is played.
  void add(const detail::TaskRecord& record, capture::Number task) { tasks_[&record] = task; }
  /// What is launched from now on is launched by this call of the program.
  void begin_call(capture::Number call) { call_ = call; }
  Work work_of(const runtime::OperationDetail& operation) override;
  void launched(const runtime::LaunchPlan& plan) override { call_of_[&plan] = call_; }
  double wait_for_others(const std::vector<capture::Touch>& touches,
                         std::uint32_t processor) override {
    return lines_.begin(touches, processor);
  }

 private:
  /// Without volumes that are rare.
  [[nodiscard]] static capture::CostsByKind usual(const capture::CostsByKind& measured);
  /// The body's measured times, and on which kind of processor; null: it has never run.
  [[nodiscard]] const capture::Costs* measured_of(const runtime::LaunchPlan& plan,
                                                  ProcessorKind& kind) const;
  Work time_of(const runtime::OperationDetail& operation) const;
  /// What it reads and writes.
  [[nodiscard]] std::vector<capture::Touch> touches_of(const runtime::OperationDetail& operation);
  Work body(const runtime::OperationDetail& operation) const;
  Work copy(const runtime::OperationDetail& operation) const;
  /// Of a fill or a fold.
  Work writing(const runtime::OperationDetail& operation, const capture::Costs& measured) const;
  /// The GPU that has the memory, unless that is emulated; or null.
  [[nodiscard]] const Processor* device_of(MemoryId memory) const;
  /// What both machines say of their processors of this kind.
  [[nodiscard]] static const Processor* first(const Machine& machine, ProcessorKind kind);

  const capture::Program& program_;
  const Machine& measured_;
  const Machine& machine_;
  const Lanes& lanes_;
  const CostFile* file_;
  std::unordered_map<const detail::TaskRecord*, capture::Number> tasks_;
  std::vector<capture::CostsByKind> bodies_, calls_;  ///< by task, and by call
  capture::Number call_ = capture::kNone;             ///< that goes on
  std::unordered_map<const runtime::LaunchPlan*, capture::Number>
      call_of_;  ///< which has launched a task of this plan last
  capture::Costs copies_, near_copies_, fills_, folds_;
  capture::SharedLines lines_;
};

}  // namespace refrain::simulate
