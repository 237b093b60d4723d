// Contexts of tasks that launch tasks.

#include "data/set_algebra.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

ContextImpl::ContextImpl(ContextImpl& parent, LaunchRecord& record, TaskPayload& payload)
    : runtime_(parent.runtime_),
      parent_(&parent),
      id_(runtime_.next_context_id()),
      task_name_("task '" + record.plan->info.name + "' launched at " +
                 to_string(record.plan->info.where)),
      facade_(*this),
      scope_(runtime_.executor(), &parent.scope_, runtime_.window()),
      analysis_(runtime_.executor(), scope_, runtime_.memories(), runtime_.machine(), id_,
                runtime_.graph_log()),
      forest_(parent.forest_) {
  scope_.reclaim = reclaim;
  const LaunchPlan& plan = *record.plan;
  for (std::size_t i = 0; i < plan.requirements.size(); ++i) {
    const PlannedArgument& argument = plan.arguments[payload.rank * plan.requirements.size() + i];
    Grant grant;
    const data::RegionTree* tree = argument.region.tree;
    grant.root = tree->origin != nullptr ? tree->origin : tree;
    grant.field = argument.field_index;
    grant.points = argument.points;
    grant.privilege = plan.requirements[i].privilege;
    grant.state = granted_.size();
    grants_.push_back(grant);
    auto& granted = granted_.emplace_back();
    granted.grant = i;
    if (grant.privilege == Privilege::reduce) continue;
    // The values are in the parent's instance, and no child has touched them yet.
    granted.state = std::make_unique<analysis::FieldState>(
        argument.points, plan.requirements[i].type, plan.requirements[i].field, grant.root);
    if (argument.points->empty()) continue;  // nobody keeps an instance for that
    const analysis::Instance& home = *payload.arguments()[i].instance;
    auto borrowed = std::make_unique<analysis::Instance>();
    borrowed->space = argument.points;
    borrowed->memory = home.memory;
    borrowed->layout = home.layout;
    borrowed->storage = analysis::Storage::borrowed;
    borrowed->origin = home.origin;
    for (int d = 0; d < 3; ++d) borrowed->stride[d] = home.stride[d];
    borrowed->made_by = task_name_;
    granted.home = &granted.state->add_instance(std::move(borrowed));
    analysis_.store().adopt(*granted.home);
    for (const auto& piece : granted.state->pieces()) {
      piece->fill.reset();
      piece->at(granted.home).valid = true;
    }
  }
}

namespace {

bool allows(Privilege given, Privilege asked) {
  switch (asked) {
    case Privilege::read: return given != Privilege::reduce;
    default: return writes(given);
  }
}

}  // namespace

analysis::FieldState& ContextImpl::granted_field(const data::RegionTree& root, std::uint32_t field,
                                                 const AnyRegion& region, Privilege privilege,
                                                 const ReductionOp*, const std::string& who) {
  const data::IndexSpaceRef& points = region.tree->node(region.node).space;
  const std::string& name = root.fields()[field].name;
  std::string found;
  for (const Grant& grant : grants_) {
    if (grant.root != &root || grant.field != field) continue;
    if (!data::contains(grant.points, points)) {
      found = "an argument that does not contain all of its points";
      continue;
    }
    if (allows(grant.privilege, privilege)) return *granted_[grant.state].state;
    found = std::string(to_string(grant.privilege)) + " access to it";
  }
  if (parent_ == nullptr)
    throw UsageError(who + ": " + region.name() +
                     " belongs to another runtime, or to a run that has ended");
  throw UsageError(who +
                   " asks for more than its parent has: " + std::string(to_string(privilege)) +
                   " access to field '" + name + "' of " + region.name() + "; the parent, " +
                   task_name_ + ", has " + (found.empty() ? "no argument with that data" : found));
}

void ContextImpl::lend(const analysis::FieldState& field, Privilege privilege) {
  for (Grant& grant : grants_) {
    const GrantedState& granted = granted_[grant.state];
    if (granted.state.get() == &field && (privilege != Privilege::read || writes(grant.privilege)))
      grant.lent = true;
  }
}

bool ContextImpl::is_lent(std::size_t requirement) const { return grants_[requirement].lent; }

// Waited for: what children changed elsewhere goes back to the parent's instances.
void ContextImpl::bring_home() {
  for (const GrantedState& granted : granted_) {
    if (granted.home == nullptr || !writes(grants_[granted.grant].privilege)) continue;
    const analysis::Origin origin{calls_, 0, -1, nullptr};
    analysis_.begin_point();
    analysis_.make_valid_everywhere(*granted.state, *granted.home, origin);
    // From here on the parent may change it there, without saying so.
    for (const auto& piece : granted.state->pieces()) {
      piece->fill.reset();
      for (analysis::Use& use : piece->uses) use.valid = use.instance == granted.home;
    }
  }
  scope_.drain(nullptr);
  for (Grant& grant : grants_) grant.lent = false;
}

exec::FailureRef ContextImpl::poison_at_home() const {
  for (const GrantedState& granted : granted_) {
    if (granted.home == nullptr || !writes(grants_[granted.grant].privilege)) continue;
    for (const auto& piece : granted.state->pieces()) {
      const analysis::Use* use = piece->find(granted.home);
      if (use == nullptr || !use->writer) continue;
      if (const exec::Failure* failure = scope_.failure_of(use->writer))
        return exec::FailureRef(failure);
    }
  }
  return {};
}

}  // namespace refrain::runtime
