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
  ++entry.alive;
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
  if (--entry->second.alive == 0) names_.erase(entry);
}

namespace {

void check_variants(const std::string& name, const std::vector<TaskVariant>& variants) {
  if (variants.empty()) throw UsageError("task '" + name + "' has no body");
  for (const TaskVariant& variant : variants) {
    if (static_cast<int>(variant.kind) >= processor_kinds)
      throw UsageError("task '" + name + "' has a body for an unknown kind of processor");
    if (!variant.body) throw UsageError("task '" + name + "' has an empty body");
    const auto same = [&](const TaskVariant& other) { return other.kind == variant.kind; };
    if (std::ranges::count_if(variants, same) > 1)
      throw UsageError("task '" + name + "' has two bodies for one kind of processor");
  }
}

}  // namespace

std::shared_ptr<TaskRecord> TaskRecord::make(std::string name, std::vector<TaskVariant> variants,
                                             const ResultType& result) {
  check_variants(name, variants);
  if (result.size > 0 && !std::has_single_bit(result.alignment))
    throw UsageError("task '" + name + "' returns values with an alignment of " +
                     std::to_string(result.alignment) + ", which is no power of two");
  return std::make_shared<TaskRecord>(Private{}, std::move(name), std::move(variants), result);
}

TaskRecord::TaskRecord(Private, std::string name, std::vector<TaskVariant> variants,
                       const ResultType& result)
    : name_(std::move(name)),
      variants_(std::move(variants)),
      result_(result),
      slots_(TaskSlots::here()),
      slot_(slots_->take(name_)),
      id_((hash_name(name_) ^ slot_) * 0x9E3779B97F4A7C15ull) {}

TaskRecord::~TaskRecord() { slots_->give_back(name_, slot_); }

const TaskVariant* TaskRecord::variant(ProcessorKind kind) const {
  const auto found = std::ranges::find(variants_, kind, &TaskVariant::kind);
  return found == variants_.end() ? nullptr : &*found;
}

std::vector<ProcessorKind> TaskRecord::kinds() const {
  std::vector<ProcessorKind> kinds;
  kinds.reserve(variants_.size());
  for (const TaskVariant& variant : variants_) kinds.push_back(variant.kind);
  return kinds;
}

}  // namespace detail

DynamicTask::DynamicTask(std::string name, std::function<void(const TaskFrame&)> body,
                         ResultType result)
    : DynamicTask(std::move(name), {{ProcessorKind::cpu, std::move(body)}}, result) {}

DynamicTask::DynamicTask(std::string name, std::vector<TaskVariant> variants, ResultType result)
    : record_(detail::TaskRecord::make(std::move(name), std::move(variants), result)) {}

const std::string& DynamicTask::name() const { return record_->name(); }

}  // namespace refrain
