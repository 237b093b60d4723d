// Waiting for everything and for futures; then failures that no data carries any more are forgotten.

#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

void ContextImpl::fence(Where where) {
  runtime.executor().interleave();
  scope.drain(&info_for("fence", where));
  bring_all_home();
  forget_failures();
  if (const exec::FailureRef failure = scope.take_failure()) failure->rethrow();
}

bool ContextImpl::may_wait_for(const detail::FutureState& state) const {
  return state.context() == identity;
}

void ContextImpl::wait_for(detail::FutureState& state, std::size_t rank_or_all) {
  const std::size_t first = rank_or_all == all ? 0 : rank_or_all;
  const std::size_t last = rank_or_all == all ? state.points() : rank_or_all + 1;
  // For the node too, not for the point alone: a point that is settled may not have been counted yet, and
  // then the whole is not ready. What is replayed has no node; its number names it in reports.
  for (std::size_t rank = first; rank < last; ++rank) {
    const exec::NodeRef producer = state.producer(rank);
    runtime.executor().wait(
        scope, [&] { return exec::is_complete(producer) && state.ready(rank); }, producer, nullptr);
  }
  const auto is_ready = [&] { return rank_or_all == all ? state.ready() : state.ready(first); };
  if (!is_ready()) runtime.executor().wait(scope, is_ready, {}, nullptr);
  forget_failures();
}

}  // namespace refrain::runtime
