#pragma once
// What an operation comes after, given how an instance stands at a piece: the order of the naive analysis
// within one instance. Used by the analysis on its state, and by tracing on what it knows of it.

#include "analysis/piece.hpp"
#include "exec/node.hpp"

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

}  // namespace refrain::analysis
