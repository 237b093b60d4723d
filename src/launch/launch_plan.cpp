#include "launch/launch_plan.hpp"

#include <fmt/format.h>

#include <bit>
#include <iterator>

#include "base/text.hpp"
#include "launch/context_core.hpp"
#include "refrain/error.hpp"
#include "refrain/launch.hpp"

namespace refrain::runtime {

detail::ArgumentPoints physical_points(const data::IndexSpace& points, const AnyRegion& region) {
  if (points.dense()) return {&points.bounds(), nullptr, 0, region};
  return {&points.bounds(), points.boxes().data(), points.boxes().size(), region};
}

namespace {

/// On several shards with the tables of all points' users.
std::size_t arguments_in(const LaunchPlan& plan) {
  const std::size_t own = plan.own.arguments.size() + 1;
  return plan.points.replicated ? own + plan.points.domain->volume() * plan.requirements.size()
                                : own;
}

}  // namespace

LaunchPlan* PlanCache::look_up(std::span<const std::uint64_t> key) const {
  const std::uint64_t wanted = hash(key);
  for (std::size_t at = wanted;; ++at) {
    const auto& [known, plan] = table_[at & (table_.size() - 1)];
    if (plan == nullptr || (known == wanted && std::ranges::equal(plan->key, key))) return plan;
  }
}

LaunchPlan& PlanCache::insert(std::unique_ptr<LaunchPlan> plan) {
  if (size() >= sweep_at_) {
    keep_only([](const LaunchPlan& p) { return !p.stale(); });
    sweep_at_ = std::max(first_sweep, 2 * size());
  }
  if (arguments_ + arguments_in(*plan) >= max_arguments && size() > 0) {
    std::vector<std::uint64_t> ages(size());
    std::ranges::transform(plans_, ages.begin(), &LaunchPlan::last_used);
    const auto middle = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 2);
    std::ranges::nth_element(ages, middle);
    keep_only([median = *middle](const LaunchPlan& p) { return p.last_used > median; });
  }
  LaunchPlan& added = *plans_.emplace_back(std::move(plan));
  if (2 * size() > table_.size()) enter_all();
  else enter(added);
  return added;
}

void PlanCache::enter(LaunchPlan& plan) {
  const std::uint64_t of = hash(plan.key);
  std::size_t at = of & (table_.size() - 1);
  while (table_[at].second != nullptr) at = (at + 1) & (table_.size() - 1);
  table_[at] = {of, &plan};
  arguments_ += arguments_in(plan);
}

void PlanCache::enter_all() {
  table_.assign(std::bit_ceil(2 * size() + 1), {});
  recent_.assign(kRecent, {});
  arguments_ = 0;
  for (const auto& plan : plans_) enter(*plan);
}

void PlanCache::keep_only(const std::function<bool(const LaunchPlan&)>& wanted) {
  const auto dropped = std::ranges::stable_partition(
      plans_, [&](const auto& plan) { return plan->recordings != 0 || wanted(*plan); });
  std::ranges::move(dropped, std::back_inserter(dropped_));
  has_dropped_ = true;
  plans_.erase(dropped.begin(), dropped.end());
  enter_all();
}

}  // namespace refrain::runtime

namespace refrain::detail {

data::IndexSpaceRef space_of(const LaunchDomain& domain) {
  if (domain.sparse != nullptr) return domain.sparse->space;
  if (domain.dim == LaunchDomain::negative)
    throw UsageError(std::to_string(domain.rect.lo[0]) + " points, expected at least 0");
  if (domain.dim < 1 || domain.dim > 3)
    throw UsageError(
        fmt::format("a launch domain of {} dimensions: there are 1, 2 and 3", domain.dim));
  return data::IndexSpace::dense(domain.dim, domain.rect);
}

data::IndexSpaceRef domain_of(const LaunchRequest& launch) {
  try {
    return space_of(launch.domain != nullptr ? *launch.domain : LaunchDomain(1));
  } catch (const UsageError& error) {
    throw UsageError(runtime::launch_name(launch) + ", its domain: " + error.what());
  }
}

void for_each_launch_point(const LaunchRequest& launch, std::size_t value,
                           const std::function<void(const Point<3>&)>& f) {
  domain_of(launch)->for_each_point([&](const Point<3>& p) {
    try {
      f(p);
    } catch (...) {
      fail_around(
          fmt::format("{}, by-value argument {}: the function of per_point threw for point {}",
                      runtime::launch_name(launch), value, data::to_string(p, launch.domain->dim)));
    }
  });
}

// --- accesses that are checked ---------------------------------------------------------------------------

namespace {

/// Of a task, or of an access of the program. Its trees are pinned: a piece has its name to the end, also when the program
/// has destroyed it since.
std::string name_of(const ArgumentInfo& info) {
  const runtime::LaunchPlan& plan = *info.plan;
  const AnyRegion& region = info.planned().region;
  const exec::NodeKind kind = plan.task ? exec::NodeKind::task : exec::NodeKind::access;
  return fmt::format("{}, argument {} ({}, field '{}')", exec::operation_name(&plan.info, kind),
                     info.argument, region.tree->name_of(region.node),
                     plan.requirements[info.argument].field);
}

[[noreturn]] void fail_access(const ArgumentInfo& info, const Point<3>& p, const std::string& why) {
  throw UsageError(fmt::format("{}: access to point {} {}", name_of(info),
                               data::to_string(p, info.points().dim()), why));
}

}  // namespace

void fail_argument(std::size_t asked, std::size_t arguments) {
  throw UsageError(fmt::format(
      "a task's body asks for its argument {}, but it was launched with {} region arguments", asked,
      arguments));
}

void fail_field(std::size_t asked, std::size_t fields) {
  throw UsageError(fmt::format(
      "a task's body asks for field {} of a FieldList, but it was launched with {} of them", asked,
      fields));
}

void fail_origin(const ArgumentInfo* info, std::size_t value_size, Coord stride) {
  throw UsageError(fmt::format(
      "{}: origin() wants values side by side, and these, of {} bytes each, are {} bytes apart; "
      "reach them by operator[]",
      info != nullptr ? name_of(*info) : "a task's argument", value_size, stride));
}

void fail_values(const ArgumentInfo* info) {
  throw UsageError(
      fmt::format("{}: values() wants the argument's points side by side: as a rectangle, or "
                  "compact (Sparse::compact) "
                  "with no others between them (Extent::exact)",
                  info != nullptr ? name_of(*info) : "a task's argument"));
}

void fail_strides(const ArgumentInfo* info, const char* function) {
  throw UsageError(
      fmt::format("{}: {} is of values that lie by strides, and these are compact "
                  "(Sparse::compact); reach them by "
                  "operator[], or rectangle by rectangle by row()",
                  info != nullptr ? name_of(*info) : "a task's argument", function));
}

void fail_row(const ArgumentInfo* info, const Point<3>& p, std::size_t count) {
  throw UsageError(fmt::format(
      "{}: a row of {} values from ({}, {}, {}) leaves its rectangle, and the values are compact "
      "(Sparse::compact); go rectangle by rectangle, domain().rect(i)",
      info != nullptr ? name_of(*info) : "a task's argument", count, p[0], p[1], p[2]));
}

std::size_t compact_position(const data::IndexSpace& points, const Point<3>& p) {
  const std::optional<std::size_t> position = points.rank_by_boxes(p);
  if (!position) [[unlikely]]
    throw UsageError(
        fmt::format("access to point {} outside of the points that compact values have room for",
                    data::to_string(p, points.dim())));
  return *position;
}

const RunIndex* compact_runs(const data::IndexSpace& points) { return points.runs(); }

std::byte* compact_address(const Placement& placement, const Point<3>& p) {
  const data::IndexSpace& points = *placement.compact;
  return placement.zero +
         compact_position(points, p) * static_cast<std::size_t>(placement.stride[points.dim() - 1]);
}

void check_accessor(const ArgumentInfo& info, Privilege privilege, const ValueType& type, int dim) {
  const runtime::PlannedRequirement& given = info.plan->requirements[info.argument];
  // Asking for less is fine: a reader of what it may also write.
  const bool allowed = given.privilege == privilege ||
                       (given.privilege == Privilege::read_write && privilege != Privilege::reduce);
  if (allowed && given.type == type && info.points().dim() == dim) return;
  const auto describe = [](Privilege p, const ValueType& t, int d) {
    return fmt::format("{} access to {} in {} dimensions", to_string(p), t.name, d);
  };
  throw UsageError(fmt::format("{}: the body asks for {}, the launch gave {}", name_of(info),
                               describe(privilege, type, dim),
                               describe(given.privilege, given.type, info.points().dim())));
}

void check_access(const ArgumentInfo& info, const Point<3>& p) {
  if (info.context != nullptr && info.context->is_lent(info.argument))
    fail_access(info, p,
                "while a child may be changing it: wait for its future, or call fence(), first");
  if (!info.points().contains(p))
    fail_access(info, p,
                fmt::format("outside the argument, which is {}{}",
                            data::to_string(info.points().bounds(), info.points().dim()),
                            info.points().dense() ? "" : ", sparse"));
}

}  // namespace refrain::detail
