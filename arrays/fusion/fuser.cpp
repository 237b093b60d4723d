#include "fusion/fuser.hpp"

#include <algorithm>
#include <utility>

#include "fusion/elementwise_task.hpp"
#include "storage/hash.hpp"

namespace refrain::arrays {

namespace {

constexpr std::uint16_t kNone = 0xFFFF;
// Programs that make ever new windows forget the old ones.
constexpr std::size_t kMostPlans = 4096;
constexpr std::size_t kMostNames = 512;

std::string name_of(const std::vector<Step>& steps) {
  constexpr int kShown = 3;
  std::string name;
  int shown = 0;
  for (const Step& step : steps) {
    if (step.cast && steps.size() > 1) continue;
    if (shown == kShown) return name + "...";
    if (shown++ > 0) name += ' ';
    name += step.cast ? (step.type == step.result ? "copy" : "cast") : kernels::name_of(step.op);
  }
  return name.empty() ? "cast" : name;
}

}  // namespace

// Copies to text_ what of the window somebody needs, with new numbers. False: nothing.
bool Fuser::take_needed() {
  text_.clear();
  slots_.clear();
  numbers_.clear();
  text_.shape = window.shape();
  const std::vector<Step>& steps = window.steps();
  renamed_steps_.assign(steps.size(), kNone);
  renamed_loads_.assign(window.loads().size(), kNone);
  const std::uint16_t needed = 0;
  bool any = false;
  for (const detail::Value* value : window.values())
    if (value->step >= 0 && value->handles > 0) {
      renamed_steps_[static_cast<std::size_t>(value->step)] = needed;
      any = true;
    }
  if (!any) return false;
  for (std::size_t s = steps.size(); s-- > 0;) {
    if (renamed_steps_[s] == kNone) continue;
    for (const Source& source : steps[s].operands) {
      if (source.from == Source::From::step) renamed_steps_[source.index] = needed;
      if (source.from == Source::From::load) renamed_loads_[source.index] = needed;
    }
  }

  const auto slot_of = [&](detail::Value* value) {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i] == value) return static_cast<std::uint16_t>(i);
    slots_.push_back(value);
    text_.slots.push_back({value->type, value->tiling});
    return static_cast<std::uint16_t>(slots_.size() - 1);
  };
  for (std::size_t l = 0; l < renamed_loads_.size(); ++l) {
    if (renamed_loads_[l] == kNone) continue;
    const Window::Load& load = window.loads()[l];
    renamed_loads_[l] = static_cast<std::uint16_t>(text_.loads.size());
    text_.loads.push_back({slot_of(load.value), 0, load.layout});
  }
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (renamed_steps_[s] == kNone) continue;
    renamed_steps_[s] = static_cast<std::uint16_t>(text_.steps.size());
    Step step = steps[s];
    for (Source& source : step.operands) {
      switch (source.from) {
        case Source::From::nothing: break;
        case Source::From::step: source.index = renamed_steps_[source.index]; break;
        case Source::From::load: source.index = renamed_loads_[source.index]; break;
        case Source::From::number:
          numbers_.push_back(source.index);
          source.index = static_cast<std::uint16_t>(numbers_.size() - 1);
          break;
      }
    }
    text_.steps.push_back(step);
  }
  for (detail::Value* value : window.values())
    if (value->step >= 0 && value->handles > 0)
      text_.stores.push_back(
          {slot_of(value), renamed_steps_[static_cast<std::size_t>(value->step)], value->written});
  return true;
}

const DynamicTask& Fuser::task_for(const std::vector<Step>& steps) {
  std::string name = name_of(steps);
  auto known = tasks_.find(name);
  if (known == tasks_.end()) {
    if (tasks_.size() >= kMostNames) name = "elementwise";
    known = tasks_.find(name);
    if (known == tasks_.end())
      known =
          tasks_.emplace(name, std::make_unique<DynamicTask>(make_elementwise_task(name))).first;
  }
  return *known->second;
}

const std::shared_ptr<const Plan>& Fuser::plan() {
  key_.clear();
  text_.write_key(key_);
  WordHash hash;
  for (const std::uint64_t word : key_) hash.add(word);
  auto* bucket = &plans_[hash.value()];
  for (const auto& known : *bucket)
    if (known->key == key_) return known;
  if (plan_count_ >= kMostPlans) {
    plans_.clear();  // launches in flight hold theirs
    plan_count_ = 0;
    bucket = &plans_[hash.value()];
  }
  std::unique_ptr<Plan> made = make_plan(text_, ranges_);
  made->key = key_;
  made->task = &task_for(text_.steps);
  ++plan_count_;
  bucket->push_back(std::move(made));
  return bucket->back();
}

void Fuser::find_storage() {
  for (detail::Value* value : slots_)
    if (value->storage == nullptr) value->storage = &pool_.take(*value->tiling, value->type);
}

void Fuser::launch() {
  if (!take_needed()) return;
  const std::shared_ptr<const Plan>& plan = this->plan();
  find_storage();
  const int points = plan->points();
  requirements_.clear();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Storage& storage = *slots_[i]->storage;
    const SlotUse& use = plan->slots[i];
    if (use.ranges == nullptr) {
      requirements_.push_back(Requirement::of(storage.region(), storage.field(), use.privilege));
      continue;
    }
    const AnyPartition& pieces = storage.partition(context_, *use.ranges);
    if (points == 1)
      requirements_.push_back(
          Requirement::of(pieces.piece({0, 0, 0}), storage.field(), use.privilege));
    else requirements_.push_back(Requirement::of(pieces, storage.field(), use.privilege));
  }
  ElementwiseCall call(plan, numbers_.size());
  for (std::size_t n = 0; n < numbers_.size(); ++n)
    call.numbers()[n] = window.numbers()[numbers_[n]];
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

}  // namespace refrain::arrays
