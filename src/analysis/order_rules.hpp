#pragma once
// What an operation comes after, given how an instance stands at a piece: the order of the naive analysis
// within one instance. Used by the analysis on its state; by tracing on the same state, where a replay enters
// it or is brought into it (replay/bring_forward.cpp), and on uses that name recorded operations, where
// recordings are joined (trace/join.cpp). What one replay leaves for the next is said in effects, not uses:
// trace/outcome.cpp follows the same rules there, and changes with this file.

#include <utility>

#include "analysis/piece.hpp"
#include "analysis/state_log.hpp"
#include "graph/node.hpp"

namespace refrain::analysis {

/// Calls add(operation, kind) for what a reader comes after: the last write.
template <class Add>
void before_read(const Use& use, Add add) {
  if (use.writer) add(use.writer, exec::EdgeKind::data);
  else if (use.group) [[unlikely]]
    for (const exec::NodeRef& fold : use.group->folds) add(fold, exec::EdgeKind::data);
}

/// The same for a writer: the reads since the last write, and that write. Readers come after the writer, so
/// with readers the edge to the writer says nothing new about order, but the values may be read through it.
template <class Add>
void before_write(const Use& use, bool reads_too, Add add) {
  const bool order_known = !use.readers.empty();
  for (const exec::NodeRef& reader : use.readers) add(reader, exec::EdgeKind::order);
  if (order_known && !reads_too) return;
  const exec::EdgeKind kind = reads_too ? exec::EdgeKind::data : exec::EdgeKind::order;
  if (use.writer) add(use.writer, kind);
  else if (use.group) [[unlikely]]
    for (const exec::NodeRef& fold : use.group->folds) add(fold, kind);
}

/// Whether a relaxed fold belongs to the folds that wrote last (analysis/fold_group.hpp).
inline bool joins_group(const Use& use, FoldFunction fold) {
  return use.group && use.group->fold == fold && use.readers.empty();
}

/// The same for a relaxed fold: what its whole group comes after. One that begins a group comes after
/// everything that a read-write would come after.
template <class Add>
void before_fold(const Use& use, FoldFunction fold, Add add) {
  if (!joins_group(use, fold)) return before_write(use, true, add);
  for (const exec::Edge& edge : use.group->before) add(edge.from, edge.kind);
}

/// Any of these. `fold`: the operator of a relaxed fold.
template <class Add>
void before(const Use& use, StateChange change, FoldFunction fold, Add add) {
  if (change == StateChange::fold) before_fold(use, fold, add);
  else if (change == StateChange::read) before_read(use, add);
  else before_write(use, change == StateChange::read_write, add);
}

/// The group of a relaxed fold, begun if there is none that it joins.
inline FoldGroup& group_of(Use& use, FoldFunction fold) {
  if (joins_group(use, fold)) return *use.group;
  FoldGroup group{fold, {}, {}};
  before_write(use, true, [&group](const exec::NodeRef& earlier, exec::EdgeKind kind) {
    group.before.push_back({earlier, kind});
  });
  use.writer = {};
  use.readers.clear();
  return use.group.emplace(std::move(group));
}

}  // namespace refrain::analysis
