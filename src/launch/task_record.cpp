#include "launch/task_record.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "launch/context_core.hpp"
#include "refrain/error.hpp"

namespace refrain {

namespace detail {

const std::shared_ptr<TaskSlots>& TaskSlots::process() {
  // Never destroyed: tasks are often global constants.
  static const auto& one = *new auto(std::make_shared<TaskSlots>());
  return one;
}

std::shared_ptr<TaskSlots> TaskSlots::beside_process() {
  auto own = std::make_shared<TaskSlots>();
  const std::lock_guard lock(process()->mutex_);
  own->names_ = process()->names_;
  return own;
}

const std::shared_ptr<TaskSlots>& TaskSlots::here() {
  const Waiter* const running = Waiter::current();
  const runtime::ContextCore* const context = running ? running->context_in_use() : nullptr;
  return context != nullptr ? context->runtime.task_slots() : process();
}

std::uint32_t TaskSlots::take(const std::string& name) {
  const std::lock_guard lock(mutex_);
  Name& entry = names_[name];
  if (entry.free.empty()) return entry.next++;
  const std::uint32_t slot = entry.free.back();
  entry.free.pop_back();
  return slot;
}

// A name without tasks is forgotten: the next one starts at slot 0, where it would in a new process.
void TaskSlots::give_back(const std::string& name, std::uint32_t slot) {
  const std::lock_guard lock(mutex_);
  const auto entry = names_.find(name);
  entry->second.free.push_back(slot);
  if (entry->second.free.size() == entry->second.next) names_.erase(entry);
}

std::vector<std::string> TaskSlots::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  names.reserve(names_.size());
  for (const auto& [name, entry] : names_) names.push_back(name);
  return names;
}

namespace {

std::vector<TaskVariant> checked(const std::string& name, std::vector<TaskVariant> variants,
                                 const ResultType& result) {
  const std::string task = "task '" + name + "'";
  if (variants.empty()) throw UsageError(task + " has no body");
  for (const TaskVariant& variant : variants) {
    if (static_cast<int>(variant.kind) >= processor_kinds)
      throw UsageError(task + " has a body for an unknown kind of processor");
    if (!variant.body) throw UsageError(task + " has an empty body");
    if (std::ranges::count(variants, variant.kind, &TaskVariant::kind) > 1)
      throw UsageError(task + " has two bodies for one kind of processor");
  }
  if (result.size > 0 && !std::has_single_bit(result.alignment))
    throw UsageError(task + " returns values with an alignment of " +
                     std::to_string(result.alignment) + ", which is no power of two");
  return variants;
}

}  // namespace

TaskRecord::TaskRecord(std::string name, std::vector<TaskVariant> variants,
                       const ResultType& result)
    : name_(std::move(name)),
      variants_(checked(name_, std::move(variants), result)),
      result_(result),
      slots_(TaskSlots::here()),
      slot_(slots_->take(name_)),
      id_((hash_name(name_) ^ slot_) * 0x9E3779B97F4A7C15ull) {}

TaskRecord::~TaskRecord() { slots_->give_back(name_, slot_); }

const TaskVariant* TaskRecord::variant(ProcessorKind kind) const {
  const auto found = std::ranges::find(variants_, kind, &TaskVariant::kind);
  return found == variants_.end() ? nullptr : &*found;
}

}  // namespace detail

DynamicTask::DynamicTask(std::string name, std::function<void(const TaskFrame&)> body,
                         ResultType result)
    : DynamicTask(std::move(name), {{ProcessorKind::cpu, std::move(body)}}, result) {}

DynamicTask::DynamicTask(std::string name, std::vector<TaskVariant> variants, ResultType result)
    : record_(std::make_shared<detail::TaskRecord>(std::move(name), std::move(variants), result)) {}

const std::string& DynamicTask::name() const { return record_->name(); }

}  // namespace refrain
