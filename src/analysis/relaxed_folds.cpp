// The order of folds that may commute: analysis/fold_group.hpp has the rules.

#include "analysis/analysis.hpp"
#include "analysis/order_rules.hpp"
#include "graph/failure.hpp"

namespace refrain::analysis {

FoldGroup& Analysis::join_group(Use& use, FoldFunction fold, const exec::NodeRef& self) const {
  FoldGroup& group = group_of(use, fold);
  if (group.folds.size() == group.folds.capacity() && may_forget()) forget_complete(group);
  group.folds.push_back(self);
  return group;
}

void Analysis::use_relaxed(Edges& edges, Footprint& footprint, Instance& instance,
                           const ReductionOp& op) {
  const exec::NodeRef self{&edges.to(), edges.to().seq};
  if (state_log_ != nullptr) [[unlikely]]
    tell_uses(edges, footprint, instance, StateChange::fold);
  for (Piece* piece : footprint.pieces) {
    Use& use = piece->at(&instance);
    for (const exec::Edge& edge : join_group(use, op.fold, self).before)
      edges.add(edge.from, edge.kind);
    piece->only_valid(use);
  }
  if (footprint.pieces.empty()) note_looker(instance, self);
}

// A group that is never closed must not remember all its folds. What is complete orders nothing any more,
// but the data carries its failure: of all failures that meet, the earliest reaches who comes next, so one
// fold that has it stands for all that failed.
void Analysis::forget_complete(FoldGroup& group) const {
  const exec::Failure* earliest = nullptr;
  exec::NodeRef failed;
  std::erase_if(group.folds, [&](const exec::NodeRef& fold) {
    if (!exec::is_complete(fold)) return false;
    const exec::Failure* first =
        exec::first_of(earliest, scope_.failure_of(fold), scope_.identity());
    if (first != earliest) failed = fold;
    earliest = first;
    return true;
  });
  if (failed) group.folds.push_back(failed);
  // Mostly still in flight: look again when there are twice as many.
  if (group.folds.size() > group.folds.capacity() / 2)
    group.folds.reserve(2 * group.folds.capacity());
  std::erase_if(group.before, [&](const exec::Edge& edge) {
    return exec::is_complete(edge.from) &&
           (edge.kind == exec::EdgeKind::order || scope_.failure_of(edge.from) == nullptr);
  });
}

}  // namespace refrain::analysis
