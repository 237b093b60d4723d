// Contexts of tasks that launch tasks.

#include "runtime/context_impl.hpp"

namespace refrain::runtime {

ContextImpl::ContextImpl(ContextCore& enclosing, LaunchRecord& record, TaskPayload& payload)
    : ContextCore(enclosing.runtime, &enclosing,
                  exec::operation_name(&record.plan->info, exec::NodeKind::task), make_nested) {
  for (std::size_t i = 0; i < record.plan->requirements.size(); ++i)
    grants.all.push_back(make_grant(*record.plan, payload, i));
}

Grant ContextImpl::make_grant(LaunchPlan& plan, TaskPayload& payload, std::size_t requirement) {
  const PlannedRequirement& given = plan.requirements[requirement];
  const PlannedArgument& argument = plan.arguments_of(payload.rank)[requirement];
  const data::RegionTree& root = argument.region.tree->data_tree();
  auto state =
      std::make_unique<analysis::FieldState>(argument.points, given.type, given.field, &root);
  Grant grant{&root,    argument.field_index, argument.points, given.privilege,
              given.op, std::move(state),     nullptr,         {}};
  const bool reduces = grant.privilege == Privilege::reduce;
  if (argument.points->empty() && !reduces) return grant;  // nobody keeps an instance for that

  // The parent's instance, or its accumulator, as an instance of this context.
  const PhysicalArgument& physical = payload.arguments()[requirement];
  auto borrowed = std::make_unique<analysis::Instance>();
  borrowed->space = grant.points;
  borrowed->storage = analysis::Storage::borrowed;
  borrowed->made_by = std::make_shared<const std::string>(task_name);
  if (reduces) {
    borrowed->memory = program_memories().front();
    borrowed->accumulator = physical.accumulator;
  } else {
    const auto& home = static_cast<const analysis::Instance&>(*physical.placement);
    static_cast<detail::Placement&>(*borrowed) = home;
    borrowed->memory = home.memory;
    borrowed->layout = home.layout;
  }
  grant.home = &grant.state->add_instance(std::move(borrowed));
  analysis.store().adopt(*grant.home);
  for (const auto& piece : grant.state->sets()) {
    piece->fill.reset();
    piece->at(grant.home).valid = true;
  }
  return grant;
}

// What children changed elsewhere goes back to where the parent has it.
void ContextImpl::bring_home(Grant& grant) {
  if (grant.home == nullptr || grant.privilege == Privilege::read) return;
  traces.untraceable("the task waited for its children");
  const analysis::Origin origin{calls, 0, -1, nullptr};
  analysis.begin_point();
  analysis.make_valid(*grant.state, grant.state->footprint(grant.points), *grant.home, origin);
  // From here on the parent may change it there, without saying so.
  for (const auto& piece : grant.state->sets()) {
    piece->fill.reset();
    for (analysis::Use& use : piece->uses) use.valid = use.instance == grant.home;
  }
}

void ContextImpl::bring_all_home() {
  for (Grant& grant : grants.all) bring_home(grant);
  scope.drain(nullptr);
  for (Grant& grant : grants.all) grant.loan.end();
  reductions_.clear();
}

void ContextImpl::has_waited_for(detail::FutureState& state, std::size_t rank_or_all) {
  if (state.context() == identity)
    tell({.kind = capture::CallKind::wait, .where = {}, .future = &state});
  if (grants.empty() || state.context() != identity || state.points() == 0) return;
  const auto [first, last] = ranks(state, rank_or_all);
  if (const auto reduction = reductions_.extract(state.producer(first).seq))
    has_waited_for(*reduction.mapped().state(), all);
  for (Grant& grant : grants.all) {
    if (!grant.loan.open()) continue;
    for (std::size_t rank = first; rank < last; ++rank)
      grant.loan.waited_for(state.producer(rank).seq);
    if (grant.loan.open()) continue;
    bring_home(grant);
    await_home(grant);
  }
}

// What still happens where the parent has its data: folds and copies that come after the children.
void ContextImpl::await_home(const Grant& grant) {
  if (grant.home == nullptr) return;
  const auto await = [this](const exec::NodeRef& node) {
    runtime.executor().wait(
        scope, [&] { return exec::is_complete(node); }, node, nullptr);
  };
  for (const auto& piece : grant.state->sets()) {
    const analysis::Use& use = piece->at(grant.home);
    use.for_each_last_writer(await);
    for (const exec::NodeRef& reader : use.readers) await(reader);
  }
}

exec::FailureRef ContextImpl::poison_at_home() const {
  for (const Grant& grant : grants.all) {
    if (grant.home == nullptr || grant.privilege == Privilege::read) continue;
    if (exec::FailureRef failure = grant.home->poison.first_at(grant.points)) return failure;
  }
  return {};
}

}  // namespace refrain::runtime
