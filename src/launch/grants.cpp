#include "launch/grants.hpp"

#include <fmt/format.h>

#include "analysis/independence.hpp"
#include "launch/future_state.hpp"
#include "refrain/error.hpp"

namespace refrain::runtime {

bool Grant::allows(Privilege asked, const ReductionOp* asked_op) const {
  if (privilege == Privilege::reduce) return analysis::compatible(privilege, op, asked, asked_op);
  return asked == Privilege::read || writes(privilege);
}

analysis::FieldState& Grants::field_state(const data::RegionTree& root, std::uint32_t field,
                                          const AnyRegion& region, Privilege privilege,
                                          const ReductionOp* op, const std::string& who,
                                          const std::string& task) const {
  const auto describe = [](Privilege access, const ReductionOp* by) {
    return fmt::format("{} access", to_string(access)) +
           (by != nullptr ? fmt::format(" with '{}'", by->name) : "");
  };
  std::string found;
  for (const Grant& grant : all) {
    if (grant.root != &root || grant.field != field) continue;
    if (!data::contains(grant.points, region.tree->node(region.node).space)) {
      found = "an argument that does not contain all of its points";
      continue;
    }
    if (grant.allows(privilege, op)) return *grant.state;
    found = describe(grant.privilege, grant.op) + " to it";
  }
  if (task.empty())
    throw UsageError(fmt::format("{}: {} belongs to another runtime, or to a run that has ended",
                                 who, region.name()));
  throw UsageError(fmt::format(
      "{} asks for more than its parent has: {} to field '{}' of {}; the parent, {}, has {}", who,
      describe(privilege, op), root.fields()[field].name, region.name(), task,
      found.empty() ? "no argument with that data" : found));
}

void Grants::lend(const LaunchPlan& plan, const detail::FutureState* result) {
  for (std::size_t i = 0; i < plan.own.arguments.size(); ++i) {
    const PlannedArgument& argument = plan.own.arguments[i];
    for (Grant& grant : all) {
      if (grant.state.get() != argument.field || !grant.conflicts(argument.privilege)) continue;
      if (argument.points == grant.points) grant.loan.supersede(argument.privilege);
      if (result == nullptr) grant.loan.until_fence(argument.privilege);
      else grant.loan.to(result->producer(i / plan.argument_count).seq, argument.privilege);
    }
  }
}

void Grants::lend(const analysis::FieldState& field, Privilege privilege) {
  for (Grant& grant : all)
    if (grant.state.get() == &field && grant.conflicts(privilege))
      grant.loan.until_fence(privilege);
}

}  // namespace refrain::runtime
