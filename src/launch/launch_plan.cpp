#include "launch/launch_plan.hpp"

#include <algorithm>

namespace refrain::runtime {

detail::ArgumentPoints physical_points(const data::IndexSpace& points, const AnyRegion& region) {
  detail::ArgumentPoints physical;
  physical.bounds = &points.bounds();
  if (!points.dense()) {
    physical.rects = points.boxes().data();
    physical.rect_count = points.boxes().size();
  }
  physical.region = region;
  return physical;
}

LaunchPlan& PlanCache::insert(std::unique_ptr<LaunchPlan> plan, std::uint64_t hash) {
  if (count_ >= sweep_at_) {
    keep_only([](const LaunchPlan& p) { return !p.stale(); });
    sweep_at_ = std::max(first_sweep, 2 * count_);
  }
  arguments_ += plan->own.arguments.size() + 1;
  if (arguments_ > max_arguments) {
    std::vector<std::uint64_t> ages;
    for (const auto& other : plans_) ages.push_back(other->last_used);
    const auto middle = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 2);
    std::ranges::nth_element(ages, middle);
    if (!ages.empty())
      keep_only([median = *middle](const LaunchPlan& p) { return p.last_used > median; });
  }
  LaunchPlan& added = *plans_.emplace_back(std::move(plan));
  ++count_;
  if (2 * count_ > table_.size()) rebuild(2 * table_.size());
  else place({hash, &added});
  return added;
}

void PlanCache::keep_only(const std::function<bool(const LaunchPlan&)>& wanted) {
  std::erase_if(plans_, [&](const auto& plan) {
    return plan->in_flight == 0 && plan->recordings == 0 && !wanted(*plan);
  });
  count_ = plans_.size();
  arguments_ = 0;
  for (const auto& plan : plans_) arguments_ += plan->own.arguments.size() + 1;
  rebuild(table_.size());
}

void PlanCache::rebuild(std::size_t capacity) {
  table_.assign(capacity, {});
  for (const auto& plan : plans_) place({hash(plan->key), plan.get()});
}

void PlanCache::place(const Entry& entry) {
  const std::size_t mask = table_.size() - 1;
  std::size_t i = entry.hash & mask;
  while (table_[i].plan != nullptr) i = (i + 1) & mask;
  table_[i] = entry;
}

}  // namespace refrain::runtime
