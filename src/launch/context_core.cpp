#include "launch/context_core.hpp"

#include <fmt/format.h>

#include <new>

#include "profile/clock.hpp"
#include "refrain/error.hpp"

namespace refrain::runtime {

ContextCore::ContextCore(RuntimeCore& of, ContextCore* enclosing, std::string task,
                         MakeNested nested)
    : runtime(of),
      parent(enclosing),
      id(enclosing == nullptr ? 0 : of.next_context_id()),
      task_name(std::move(task)),
      make_nested(nested),
      scope(of.executor(), enclosing == nullptr ? nullptr : &enclosing->scope, of.window()),
      analysis(of.executor(), scope, of.memories(), id, of.graph_log()),
      forest(enclosing == nullptr ? data::Forest(of.graveyard())
                                  : data::Forest::nested_in(enclosing->forest)) {
  scope.user = this;
  if (Listener* graph = runtime.listener(Events::graph); graph != nullptr && parent != nullptr)
    graph->opened(identity, id);
}

ContextCore::~ContextCore() {
  try {
    if (Listener* graph = runtime.listener(Events::graph)) graph->closed(identity);
  } catch (const std::bad_alloc&) {}  // then it is not in the reports
}

void ContextCore::executed(const exec::Executed& ran) {
  if (Listener* execution = runtime.listener(Events::execution)) execution->executed(ran);
}

// Other shards wait for what the operation should have sent, or would have other data.
void ContextCore::failed_here(const exec::Failure& failure) noexcept {
  if (replicated != nullptr) replicated->end_run(failure.error());
}

void ContextCore::tell(Listener::Call call) {
  if (parent != nullptr) return;
  call.marked = deferred->is_marked();
  runtime.listener(Events::calls)->called(call);
}

void ContextCore::make_room() {
  if (!runtime.times_launches()) [[likely]]
    return scope.throttle();
  const std::uint64_t begin = profile::now_ns();
  scope.throttle();
  analysis_ns -= profile::now_ns() - begin;
}

void ContextCore::fail_planning() {
  throw UsageError(
      "a mapper, a projection function or a function that gives memory uses the context whose call "
      "it is asked about");
}

void ContextCore::fail_captured(const char* call) {
  throw UsageError(
      std::string(call) +
      "the context belongs to another task: a task's body that wants one takes it as a parameter, "
      "Context&, and does not capture the one of its launcher");
}

void check_field(const AnyField& field, const std::string& who) {
  if (field.type == nullptr)
    throw UsageError(fmt::format("{}: field '{}' has no type", who, field.name));
}

analysis::FieldState& ContextCore::field_state(const AnyRegion& region, const AnyField& field,
                                               Privilege privilege, const ReductionOp* op,
                                               const std::string& who) {
  check_field(field, who);
  data::RegionTree& tree = region.tree->data_tree();
  const auto index = tree.find_field(field);
  if (!index) {
    std::string text = fmt::format("{}: {} has no field '{}' of type {}; it has", who,
                                   region.name(), field.name, field.type->name);
    for (const data::FieldColumn& column : tree.fields())
      text += fmt::format(" '{}' ({}),", column.name, column.type.name);
    text.pop_back();
    throw UsageError(text);
  }
  if (&tree.forest() == &forest) return analysis::TreeState::of(tree).field(tree, *index);
  return grants.field_state(tree, *index, region, privilege, op, who, task_name);
}

exec::NodeRef ContextCore::producer_of(const detail::FutureState& state, std::size_t rank) {
  // A replayed operation is named by its number alone until something has to come after it.
  const exec::NodeRef& producer = state.producer(rank);
  return state.ready(rank) ? producer : deferred->resolve(producer);
}

// One of another context is there (check_usable).
void ContextCore::depend_on(analysis::Edges& edges, const detail::FutureState& state) {
  if (state.context() != identity) return;
  for (std::size_t rank = 0; rank < state.points(); ++rank) edges.add(producer_of(state, rank));
}

void ContextCore::check_usable(const detail::FutureState* future, const std::string& who) const {
  if (future == nullptr) throw UsageError(who + ": the future is empty");
  if (future->context() == identity) return;
  if (future->is_kept() && (replicated != nullptr || future->group())) detail::fail_kept();
  if (future->ready()) return;
  throw UsageError(
      who +
      ": the future is of another context and not there yet: a task may use the futures "
      "that it launched itself or was given as arguments");
}

}  // namespace refrain::runtime
