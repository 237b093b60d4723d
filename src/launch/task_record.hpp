#pragma once
// A registered task: its name, its slot, its bodies. What DynamicTask (refrain/dynamic.hpp) refers to.
//
// Slots name the tasks of one name in the order they are made; the slot freed last is taken first. So a
// program that makes its tasks in the same order has the same names in every run. Immutable after it is
// made; whoever keeps a reference (a launch plan) may call the bodies from any thread.
//
// A world is one runtime or several that are to agree on names: those of a process, which share one table of slots, or
// shards that each run the same program, with a table each.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "launch/call_name.hpp"
#include "refrain/dynamic.hpp"

namespace refrain::detail {

/// Which slots of each name are in use in a world. Any thread, one lock.
class TaskSlots {
 public:
  /// Of the process: of tasks that are made outside of programs, and in those of runtimes without a table of their own.
  static const std::shared_ptr<TaskSlots>& process();
  /// Of another world. The tasks of the process so far have their slots in it, too.
  static std::shared_ptr<TaskSlots> beside_process();
  /// Those of the program, or of the context of a task's body, that runs on this thread.
  static const std::shared_ptr<TaskSlots>& here();

  std::uint32_t take(const std::string& name);
  void give_back(const std::string& name, std::uint32_t slot);
  /// Of the tasks that there are.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  struct Name {
    std::uint32_t next = 0;
    std::vector<std::uint32_t> free;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Name> names_;
};

class TaskRecord : public std::enable_shared_from_this<TaskRecord> {
 public:
  /// Throws UsageError for a task without a body, or with two for one kind of processor. For std::make_shared.
  TaskRecord(std::string name, std::vector<TaskVariant> variants, const ResultType& result);
  ~TaskRecord();
  TaskRecord(const TaskRecord&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] runtime::CallName call_name() const { return call_name_; }
  [[nodiscard]] std::uint32_t slot() const { return slot_; }
  /// For signatures: a hash of name and slot, the same in every process.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] const ResultType& result() const { return result_; }
  [[nodiscard]] const std::vector<TaskVariant>& variants() const { return variants_; }
  /// The body for a kind of processor, or null.
  [[nodiscard]] const TaskVariant* variant(ProcessorKind kind) const;

 private:
  const std::string name_;
  const runtime::CallName call_name_ = runtime::CallName::kept(name_);  ///< of its launches
  const std::vector<TaskVariant> variants_;
  const ResultType result_;
  const std::shared_ptr<TaskSlots> slots_;  ///< of the world in which it was made
  const std::uint32_t slot_;
  const std::uint64_t id_;
};

}  // namespace refrain::detail
