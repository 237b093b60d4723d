// Contexts of tasks that launch tasks.

#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

ContextImpl::ContextImpl(ContextCore& enclosing, LaunchRecord& record, TaskPayload& payload)
    : ContextCore(enclosing.runtime, &enclosing,
                  exec::operation_name(&record.plan->info, exec::NodeKind::task), make_nested),
      facade_(*this) {
  scope.about_held = [this](std::uint64_t seq) { return about_held(seq); };
  for (std::size_t i = 0; i < record.plan->requirements.size(); ++i)
    grants.add(make_grant(*record.plan, payload, i));
}

Grant ContextImpl::make_grant(const LaunchPlan& plan, TaskPayload& payload,
                              std::size_t requirement) {
  const PlannedRequirement& given = plan.requirements[requirement];
  const PlannedArgument& argument =
      plan.own.arguments[payload.rank * plan.requirements.size() + requirement];
  Grant grant;
  const data::RegionTree* tree = argument.region.tree;
  grant.root = &tree->data_tree();
  grant.field = argument.field_index;
  grant.points = argument.points;
  grant.privilege = given.privilege;
  grant.op = given.op;
  grant.state =
      std::make_unique<analysis::FieldState>(argument.points, given.type, given.field, grant.root);
  if (argument.points->empty() && grant.privilege != Privilege::reduce)
    return grant;  // nobody keeps an instance for that
  grant.home = &borrow_home(grant, payload.arguments()[requirement]);
  for (const auto& piece : grant.state->sets()) {
    piece->fill.reset();
    piece->at(grant.home).valid = true;
  }
  return grant;
}

// The parent's instance, or its accumulator, as an instance of this context.
analysis::Instance& ContextImpl::borrow_home(Grant& grant, const PhysicalArgument& argument) {
  auto borrowed = std::make_unique<analysis::Instance>();
  borrowed->space = grant.points;
  borrowed->storage = analysis::Storage::borrowed;
  borrowed->made_by = task_name;
  if (grant.privilege == Privilege::reduce) {
    borrowed->memory = program_memories().front();
    borrowed->accumulator = argument.accumulator;
  } else {
    const auto& home = static_cast<const analysis::Instance&>(*argument.placement);
    borrowed->memory = home.memory;
    borrowed->layout = home.layout;
    borrowed->zero = home.zero;
    for (int d = 0; d < 3; ++d) borrowed->stride[d] = home.stride[d];
  }
  analysis::Instance& added = grant.state->add_instance(std::move(borrowed));
  analysis.store().adopt(added);
  return added;
}

bool ContextImpl::is_lent(std::size_t requirement) const {
  return grants.all()[requirement].loan.open();
}

// What children changed elsewhere goes back to where the parent has it.
void ContextImpl::bring_home(Grant& grant) {
  if (grant.home == nullptr || grant.privilege == Privilege::read) return;
  traces.untraceable("the task waited for its children");
  const analysis::Origin origin{calls, 0, -1, nullptr};
  analysis.begin_point();
  analysis.make_valid_everywhere(*grant.state, *grant.home, origin);
  // From here on the parent may change it there, without saying so.
  for (const auto& piece : grant.state->sets()) {
    piece->fill.reset();
    for (analysis::Use& use : piece->uses) use.valid = use.instance == grant.home;
  }
}

// All children are complete.
void ContextImpl::bring_all_home() {
  for (Grant& grant : grants.all()) bring_home(grant);
  scope.drain(nullptr);
  for (Grant& grant : grants.all()) grant.loan.end();
  reductions_.clear();
}

void ContextImpl::has_waited_for(detail::FutureState& state, std::size_t rank_or_all) {
  if (grants.empty() || state.context() != identity || state.points() == 0) return;
  const std::size_t first = rank_or_all == all ? 0 : rank_or_all;
  const std::size_t last = rank_or_all == all ? state.points() : rank_or_all + 1;
  if (const auto reduction = reductions_.extract(state.producer(first).seq))
    has_waited_for(*reduction.mapped().state(), all);
  for (Grant& grant : grants.all()) {
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
    use.for_each_failing(await);
    for (const exec::NodeRef& reader : use.readers) await(reader);
  }
}

exec::FailureRef ContextImpl::poison_at_home() const {
  for (const Grant& grant : grants.all()) {
    if (grant.home == nullptr || grant.privilege == Privilege::read) continue;
    for (const auto& piece : grant.state->sets()) {
      const analysis::Use* use = piece->find(grant.home);
      if (use == nullptr) continue;
      const exec::Failure* earliest = nullptr;
      use->for_each_failing([&](const exec::NodeRef& writer) {
        earliest = exec::first_of(earliest, scope.failure_of(writer), scope.identity());
      });
      if (earliest != nullptr) return exec::FailureRef(earliest);
    }
  }
  return {};
}

}  // namespace refrain::runtime
