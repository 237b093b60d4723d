// Waiting for everything and for futures; then failures that no data carries any more are forgotten.

#include <unordered_set>

#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

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
  if (tracing_ != nullptr) tracing_->settle();
  std::unordered_set<std::uint64_t> carried;
  for_each_field([&carried](const analysis::FieldState& field) {
    for (const auto& piece : field.pieces()) {
      if (piece->fill && piece->fill->producer) carried.insert(piece->fill->producer.seq);
      for (const analysis::Use& use : piece->uses)
        use.for_each_failing([&](const exec::NodeRef& writer) { carried.insert(writer.seq); });
    }
  });
  scope_.prune_failures([&](std::uint64_t seq) { return !carried.contains(seq); });
  failures_limit_ = 2 * scope_.failures() + kFailures;
}

bool ContextImpl::may_wait_for(const detail::FutureState& state) const {
  return state.context() == identity_;
}

void ContextImpl::wait_for(detail::FutureState& state, std::size_t rank_or_all) {
  const std::size_t first = rank_or_all == all ? 0 : rank_or_all;
  const std::size_t last = rank_or_all == all ? state.points() : rank_or_all + 1;
  // For the node too, not for the point alone: a point that is settled may not have been counted yet, and
  // then the whole is not ready. What is replayed has no node; its number names it in reports.
  for (std::size_t rank = first; rank < last; ++rank) {
    const exec::NodeRef producer = state.producer(rank);
    runtime_.executor().wait(
        scope_, [&] { return exec::is_complete(producer) && state.ready(rank); }, producer,
        nullptr);
  }
  const auto is_ready = [&] { return rank_or_all == all ? state.ready() : state.ready(first); };
  if (!is_ready()) runtime_.executor().wait(scope_, is_ready, {}, nullptr);
  forget_failures();
}

}  // namespace refrain::runtime
