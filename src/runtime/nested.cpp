// Contexts of tasks that launch tasks.

#include "analysis/independence.hpp"
#include "data/set_algebra.hpp"
#include "refrain/error.hpp"
#include "report/explanation.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

ContextImpl::ContextImpl(ContextImpl& parent, LaunchRecord& record, TaskPayload& payload)
    : runtime_(parent.runtime_),
      parent_(&parent),
      id_(runtime_.next_context_id()),
      task_name_(exec::operation_name(&record.plan->info, exec::NodeKind::task)),
      facade_(*this),
      scope_(runtime_.executor(), &parent.scope_, runtime_.window()),
      analysis_(runtime_.executor(), scope_, runtime_.memories(), runtime_.machine(), id_,
                runtime_.graph_log()),
      forest_(data::Forest::nested_in(parent.forest_)) {
  scope_.reclaim = reclaim;
  scope_.about_held = [this](std::uint64_t seq) { return about_held(seq); };
  if (Explanation* explanation = runtime_.explanation())
    explanation->waits().opened(identity_, id_);
  for (std::size_t i = 0; i < record.plan->requirements.size(); ++i)
    grants_.push_back(make_grant(*record.plan, payload, i));
}

Grant ContextImpl::make_grant(const LaunchPlan& plan, TaskPayload& payload,
                              std::size_t requirement) {
  const PlannedRequirement& given = plan.requirements[requirement];
  const PlannedArgument& argument =
      plan.arguments[payload.rank * plan.requirements.size() + requirement];
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
  for (const auto& piece : grant.state->pieces()) {
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
  borrowed->made_by = task_name_;
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
  analysis_.store().adopt(added);
  return added;
}

bool Grant::allows(Privilege asked, const ReductionOp* asked_op) const {
  if (privilege == Privilege::reduce) return analysis::compatible(privilege, op, asked, asked_op);
  return asked == Privilege::read || writes(privilege);
}

namespace {

std::string describe(Privilege privilege, const ReductionOp* op) {
  return std::string(to_string(privilege)) + " access" +
         (op != nullptr ? " with '" + std::string(op->name) + "'" : std::string());
}

}  // namespace

analysis::FieldState& ContextImpl::granted_field(const data::RegionTree& root, std::uint32_t field,
                                                 const AnyRegion& region, Privilege privilege,
                                                 const ReductionOp* op, const std::string& who) {
  const data::IndexSpaceRef& points = region.tree->node(region.node).space;
  const std::string& name = root.fields()[field].name;
  std::string found;
  for (const Grant& grant : grants_) {
    if (grant.root != &root || grant.field != field) continue;
    if (!data::contains(grant.points, points)) {
      found = "an argument that does not contain all of its points";
      continue;
    }
    if (grant.allows(privilege, op)) return *grant.state;
    found = describe(grant.privilege, grant.op) + " to it";
  }
  if (parent_ == nullptr)
    throw UsageError(who + ": " + region.name() +
                     " belongs to another runtime, or to a run that has ended");
  throw UsageError(who + " asks for more than its parent has: " + describe(privilege, op) +
                   " to field '" + name + "' of " + region.name() + "; the parent, " + task_name_ +
                   ", has " + (found.empty() ? "no argument with that data" : found));
}

void ContextImpl::lend(const LaunchPlan& plan, const detail::FutureState* result) {
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    const PlannedArgument& argument = plan.arguments[i];
    for (Grant& grant : grants_) {
      if (grant.state.get() != argument.field || !grant.conflicts(argument.privilege)) continue;
      if (argument.points == grant.points) grant.loan.supersede(argument.privilege);
      if (result == nullptr) grant.loan.until_fence(argument.privilege);
      else grant.loan.to(result->producer(i / plan.argument_count).seq, argument.privilege);
    }
  }
}

void ContextImpl::lend(const analysis::FieldState& field, Privilege privilege) {
  for (Grant& grant : grants_)
    if (grant.state.get() == &field && grant.conflicts(privilege))
      grant.loan.until_fence(privilege);
}

bool ContextImpl::is_lent(std::size_t requirement) const {
  return grants_[requirement].loan.open();
}

// What children changed elsewhere goes back to where the parent has it.
void ContextImpl::bring_home(Grant& grant) {
  if (grant.home == nullptr || grant.privilege == Privilege::read) return;
  if (tracing_ != nullptr) tracing_->untraceable("the task waited for its children");
  const analysis::Origin origin{calls_, 0, -1, nullptr};
  analysis_.begin_point();
  analysis_.make_valid_everywhere(*grant.state, *grant.home, origin);
  // From here on the parent may change it there, without saying so.
  for (const auto& piece : grant.state->pieces()) {
    piece->fill.reset();
    for (analysis::Use& use : piece->uses) use.valid = use.instance == grant.home;
  }
}

// All children are complete.
void ContextImpl::bring_all_home() {
  for (Grant& grant : grants_) bring_home(grant);
  scope_.drain(nullptr);
  for (Grant& grant : grants_) grant.loan.end();
  reductions_.clear();
}

void ContextImpl::has_waited_for(detail::FutureState& state, std::size_t rank_or_all) {
  if (grants_.empty() || state.context() != identity_ || state.points() == 0) return;
  const std::size_t first = rank_or_all == all ? 0 : rank_or_all;
  const std::size_t last = rank_or_all == all ? state.points() : rank_or_all + 1;
  if (const auto reduction = reductions_.extract(state.producer(first).seq))
    has_waited_for(*reduction.mapped().state(), all);
  for (Grant& grant : grants_) {
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
    runtime_.executor().wait(
        scope_, [&] { return exec::is_complete(node); }, node, nullptr);
  };
  for (const auto& piece : grant.state->pieces()) {
    const analysis::Use& use = piece->at(grant.home);
    use.for_each_failing(await);
    for (const exec::NodeRef& reader : use.readers) await(reader);
  }
}

exec::FailureRef ContextImpl::poison_at_home() const {
  for (const Grant& grant : grants_) {
    if (grant.home == nullptr || grant.privilege == Privilege::read) continue;
    for (const auto& piece : grant.state->pieces()) {
      const analysis::Use* use = piece->find(grant.home);
      if (use == nullptr) continue;
      const exec::Failure* earliest = nullptr;
      use->for_each_failing([&](const exec::NodeRef& writer) {
        earliest = exec::first_of(earliest, scope_.failure_of(writer), scope_.identity());
      });
      if (earliest != nullptr) return exec::FailureRef(earliest);
    }
  }
  return {};
}

}  // namespace refrain::runtime
