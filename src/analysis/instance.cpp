#include "analysis/instance.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "data/index_space.hpp"

namespace refrain::analysis {

// Those that may contain the points: all that have room for the first of them.
std::vector<Instance*> InstanceSet::around(const data::IndexSpaceRef& points) const {
  std::vector<Instance*> near = whole_;
  if (points->empty()) {
    near.clear();
    for (const auto& instance : all_) near.push_back(instance.get());
  } else {
    const data::BoxPoint first = points->boxes().front().lo;
    others_.find({first, first}, [&](Instance& instance) { near.push_back(&instance); });
  }
  return near;
}

Instance* InstanceSet::find(const data::IndexSpaceRef& points, MemoryId memory, Order order) const {
  Instance* first = nullptr;
  for (Instance* instance : around(points)) {
    if (instance->memory != memory || !data::contains(instance->space, points)) continue;
    if (instance->storage != Storage::pool) return instance;
    if (instance->layout.order == order && (first == nullptr || instance->number < first->number))
      first = instance;
  }
  return first;
}

Instance& InstanceSet::add(std::unique_ptr<Instance> instance) {
  instance->number = next_++;
  if (instance->space == field_) {
    whole_.push_back(instance.get());
  } else {
    for (const data::Box& box : instance->space->boxes()) others_.insert(box, *instance);
  }
  return *all_.emplace_back(std::move(instance));
}

std::unique_ptr<Instance> InstanceSet::remove(Instance& instance) {
  if (instance.space == field_) {
    std::erase(whole_, &instance);
  } else {
    for (const data::Box& box : instance.space->boxes()) others_.erase(box, instance);
  }
  const auto it = std::ranges::lower_bound(all_, instance.number, {},
                                           [](const auto& each) { return each->number; });
  REFRAIN_ASSERT(it != all_.end() && it->get() == &instance,
                 "an instance belongs to the field that it is removed from");
  std::unique_ptr<Instance> removed = std::move(*it);
  all_.erase(it);
  return removed;
}

}  // namespace refrain::analysis
