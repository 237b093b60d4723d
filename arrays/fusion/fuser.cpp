#include "fusion/fuser.hpp"

#include <algorithm>
#include <utility>

#include "fusion/elementwise_task.hpp"
#include "fusion/fused_tasks.hpp"
#include "storage/hash.hpp"

namespace refrain::arrays::detail {

namespace {

// Programs that make ever new windows forget the old ones.
constexpr std::size_t kMostPlans = 1024;

}  // namespace

// Copies to text_ what of the window somebody needs. False: nothing.
bool Fuser::take_needed(Wanted wanted, const Value* spare) {
  const auto is_wanted = [&](const Window::Write& write) {
    if (wanted == Wanted::stores && write.value->storage == nullptr) return false;
    return write.value->handles > (write.value == spare ? 1u : 0u);
  };
  stores_.clear();
  for (const Window::Write& write : window.writes())
    if (is_wanted(write)) stores_.push_back(&write);
  if (stores_.empty() && reduction_ == nullptr) return false;
  needed_.clear(window.steps().size(), window.loads().size(), window.constants().size());
  for (const Window::Write* write : stores_) needed_.add_step(write->step);
  if (reduction_ != nullptr) needed_.add(reduction_->terms);
  needed_.complete(window.steps());
  copy_needed();
  return true;
}

void Fuser::copy_needed() {
  text_.clear();
  slots_.clear();
  constants_.clear();
  text_.shape = window.shape();
  for (std::size_t l = 0; l < window.loads().size(); ++l) {
    const Window::Load& load = window.loads()[l];
    if (needed_.has_load(l)) text_.loads.push_back({slot_of(load.value), 0, load.layout});
  }
  for (std::size_t c = 0; c < window.constants().size(); ++c)
    if (needed_.has_constant(c)) constants_.push_back(window.constants()[c]);
  for (std::size_t s = 0; s < window.steps().size(); ++s) {
    if (!needed_.has_step(s)) continue;
    Step step = window.steps()[s];
    for (Source& source : step.operands) source = needed_.moved(source);
    text_.steps.push_back(step);
  }
  for (const Window::Write* write : stores_)
    text_.stores.push_back({slot_of(write->value), needed_.step(write->step), write->layout});
  if (reduction_ == nullptr) return;
  text_.reduction = *reduction_;
  text_.reduction->terms = needed_.moved(reduction_->terms);
}

std::uint16_t Fuser::slot_of(Value* value) {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i] == value) return static_cast<std::uint16_t>(i);
  slots_.push_back(value);
  text_.slots.push_back({value->type, value->tiling});
  return static_cast<std::uint16_t>(slots_.size() - 1);
}

// That of text_, if it is known.
const std::shared_ptr<const Plan>* Fuser::find_plan() {
  key_.clear();
  text_.write_key(key_);
  WordHash hash;
  for (const std::uint64_t word : key_) hash.add(word);
  key_hash_ = hash.value();
  if (const auto bucket = plans_.find(key_hash_); bucket != plans_.end())
    for (const Known& known : bucket->second)
      if (known.key == key_) return &known.plan;
  return nullptr;
}

const std::shared_ptr<const Plan>& Fuser::keep_plan(std::unique_ptr<Plan> made) {
  if (plan_count_ >= kMostPlans) {
    plans_.clear();  // launches in flight hold theirs
    plan_count_ = 0;
  }
  if (made != nullptr) made->task = &fused_task(text_);
  ++plan_count_;
  return plans_[key_hash_].emplace_back(Known{key_, std::move(made)}).plan;
}

std::shared_ptr<const Plan> Fuser::window_plan() {
  if (const auto* known = find_plan()) return *known;
  return keep_plan(make_plan(text_, ranges_));
}

std::shared_ptr<const Plan> Fuser::plan_reduction(const ReductionText& reduction,
                                                  const Value& terms, Coord most_points) {
  planned_ = window.revision();
  reduction_ = &reduction;
  take_needed(Wanted::everything, &terms);
  reduction_ = nullptr;
  if (const auto* known = find_plan()) return *known;
  return keep_plan(make_reduction_plan(text_, ranges_, most_points));
}

// What text_ says, the way the plan says.
void Fuser::launch(const std::shared_ptr<const Plan>& plan, std::span<Storage* const> results) {
  const int points = plan->points();
  requirements_.clear();
  const auto require = [&](Storage& storage, Privilege privilege,
                           const std::shared_ptr<const Ranges>& ranges) {
    requirements_.push_back(
        storage.requirement(context_, privilege, ranges, points, window.where()));
  };
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Value& value = *slots_[i];
    if (value.storage == nullptr) store(value, pool_, window.where());
    require(*value.storage, plan->slots[i].privilege, plan->slots[i].ranges);
  }
  for (Storage* storage : results) require(*storage, Privilege::write, plan->results);
  ElementwiseCall call(plan, constants_.size());
  std::copy(constants_.begin(), constants_.end(), call.constants());
  const LaunchDomain domain(points);
  LaunchRequest request(*plan->task, window.where());
  if (points > 1) request.domain = &domain;
  request.requirements = requirements_;
  request.values = &call;
  request.value_ops = &value_ops<ElementwiseCall>;
  request.hints.inline_if_ready = plan->small;
  context_.launch(request);
  ++launches_;
}

}  // namespace refrain::arrays::detail
