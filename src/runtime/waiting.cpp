// Waiting, and the end of a context.

#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

ContextImpl::ContextImpl(RuntimeImpl& runtime)
    : runtime_(runtime),
      waiter_(this),
      facade_(*this),
      scope_(runtime.executor(), nullptr, runtime.window()),
      analysis_(runtime.executor(), scope_, runtime.memories(), runtime.machine(), id_,
                runtime.graph_log()) {
  scope_.reclaim = reclaim;
}

ContextImpl::~ContextImpl() { runtime_.add(*this); }

// Another program or body may have run on this thread.
void ContextImpl::after_wait() { detail::Waiter::set_current(waiter_); }

const exec::NodeInfo& ContextImpl::info_for(const char* name, Where where) {
  const auto [entry, added] = infos_.try_emplace({name, where.file_name(), where.line()});
  if (added) entry->second = {name, where};
  return entry->second;
}

void ContextImpl::fence(Where where) {
  runtime_.executor().interleave();
  scope_.drain(&info_for("fence", where));
  after_wait();
  bring_home();
  if (const exec::Failure* failure = scope_.take_failure()) failure->rethrow();
}

bool ContextImpl::may_wait_for(const detail::FutureState& state) const {
  // Whoever is the program may wait for anything; a task for what it launched.
  return parent_ == nullptr || state.context() == id_;
}

void ContextImpl::wait_for(detail::FutureState& state, std::size_t rank_or_all) {
  const std::size_t first = rank_or_all == all ? 0 : rank_or_all;
  const std::size_t last = rank_or_all == all ? state.points() : rank_or_all + 1;
  for (std::size_t rank = first; rank < last; ++rank) {
    if (state.ready(rank)) continue;
    const exec::NodeRef producer = state.producer(rank);
    runtime_.executor().wait(scope_, [&] { return exec::is_complete(producer); }, producer, nullptr);
    after_wait();
  }
}

void ContextImpl::end_regions() {
  accesses_.clear();
  for (data::RegionTree* tree : forest_.trees()) {
    if (tree->origin != nullptr) continue;
    analysis::TreeState::of(*tree).for_each([&](analysis::FieldState& field) {
      analysis_.release_instances(field);
      field.reset();
    });
    forest_.destroy(*tree);
  }
}

void ContextImpl::finish() {
  while (!accesses_.empty()) end_access(accesses_.back()->ticket);
  scope_.drain(nullptr);
  bring_home();
  const exec::FailureRef failure(scope_.take_failure());
  end_regions();
  if (failure) failure->rethrow();
}

void ContextImpl::abandon() noexcept {
  try {
    while (!accesses_.empty()) end_access(accesses_.back()->ticket);
    scope_.drain(nullptr);
    after_wait();
    end_regions();
  } catch (const Error&) {
    // Already on the way out with an error; what is left unfinished belongs to it.
  }
}

}  // namespace refrain::runtime
