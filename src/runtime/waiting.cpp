// Waiting, and the end of a context.

#include <unordered_set>

#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

ContextImpl::ContextImpl(RuntimeImpl& runtime)
    : runtime_(runtime),
      facade_(*this),
      scope_(runtime.executor(), nullptr, runtime.window()),
      analysis_(runtime.executor(), scope_, runtime.memories(), runtime.machine(), id_,
                runtime.graph_log()),
      forest_(runtime.graveyard()) {
  scope_.reclaim = reclaim;
}

ContextImpl::~ContextImpl() {
  if (alive_) *alive_ = nullptr;
  runtime_.add(*this);
}

std::shared_ptr<ContextImpl*> ContextImpl::alive() {
  if (!alive_) alive_ = std::make_shared<ContextImpl*>(this);
  return alive_;
}

const exec::NodeInfo& ContextImpl::info_for(const char* name, Where where) {
  const auto [entry, added] = infos_.try_emplace({name, where.file_name(), where.line()});
  if (added) entry->second = {name, where};
  return entry->second;
}

void ContextImpl::fence(Where where) {
  runtime_.executor().interleave();
  scope_.drain(&info_for("fence", where));
  bring_all_home();
  forget_failures();
  if (const exec::Failure* failure = scope_.take_failure()) failure->rethrow();
}

// A failure is remembered for as long as data carries it: a program that goes on after failures, again
// and again, must not remember them all.
void ContextImpl::forget_failures() {
  if (scope_.failures() < failures_limit_) return;
  std::unordered_set<std::uint64_t> carried;
  const auto note = [&carried](const analysis::FieldState& field) {
    for (const auto& piece : field.pieces()) {
      if (piece->fill && piece->fill->producer) carried.insert(piece->fill->producer.seq);
      for (const analysis::Use& use : piece->uses)
        use.for_each_writer([&](const exec::NodeRef& writer) { carried.insert(writer.seq); });
    }
  };
  for (data::RegionTree* tree : forest_.trees())
    if (tree->origin == nullptr) analysis::TreeState::of(*tree).for_each(note);
  for (const Grant& grant : grants_) note(*grant.state);
  scope_.prune_failures([&](std::uint64_t seq) { return !carried.contains(seq); });
  failures_limit_ = 2 * scope_.failures() + kFailures;
}

bool ContextImpl::may_wait_for(const detail::FutureState& state) const {
  return state.context() == identity_;
}

void ContextImpl::wait_for(detail::FutureState& state, std::size_t rank_or_all) {
  const std::size_t first = rank_or_all == all ? 0 : rank_or_all;
  const std::size_t last = rank_or_all == all ? state.points() : rank_or_all + 1;
  // Waiting for the node, not for the point: a point that is settled may not have been counted yet, and
  // then the whole is not ready.
  for (std::size_t rank = first; rank < last; ++rank) {
    const exec::NodeRef producer = state.producer(rank);
    runtime_.executor().wait(
        scope_, [&] { return exec::is_complete(producer); }, producer, nullptr);
  }
  forget_failures();
}

void ContextImpl::end_regions() {
  accesses_.clear();
  for (const Grant& grant : grants_) analysis_.release_instances(*grant.state);
  for (data::RegionTree* tree : forest_.trees()) {
    if (tree->origin != nullptr) continue;
    analysis::TreeState::of(*tree).for_each([&](analysis::FieldState& field) {
      analysis_.release_instances(field);
      field.reset();
    });
    forest_.destroy(*tree);
  }
}

// Memory still attached gets its values, as if the program had detached it. What cannot be had because a
// task failed is not told here: the end of the context tells the first failure that nobody knows.
void ContextImpl::end_attachments() {
  for (data::RegionTree* tree : forest_.trees()) {
    if (tree->origin != nullptr) continue;
    try {
      end_attachments(*tree, Where{});
    } catch (const Error&) {}
  }
}

void ContextImpl::finish() {
  while (!accesses_.empty()) end_access(accesses_.back()->ticket);
  end_attachments();
  scope_.drain(nullptr);
  bring_all_home();
  exec::FailureRef failure(scope_.take_failure());
  if (!failure) failure = poison_at_home();
  end_regions();
  if (failure) failure->rethrow();
}

void ContextImpl::abandon() noexcept {
  try {
    while (!accesses_.empty()) end_access(accesses_.back()->ticket);
    scope_.drain(nullptr);
    end_regions();
  } catch (const Error&) {
    // Already on the way out with an error; what is left unfinished belongs to it.
  }
}

}  // namespace refrain::runtime
