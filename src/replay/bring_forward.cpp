#include "replay/bring_forward.hpp"

#include <algorithm>
#include <utility>

#include "analysis/order_rules.hpp"
#include "base/assert.hpp"

namespace refrain::trace {

namespace {

void fold_forward(const analysis::Analysis& analysis, const LeftFolds& left, const Replayed& replay,
                  analysis::Use& use) {
  if (left.entry != analysis::StateChange::fold) {
    analysis::FoldGroup group{left.fold, {}, {}};
    if (left.entry)
      analysis::before(use, *left.entry, nullptr,
                       [&group](const exec::NodeRef& earlier, exec::EdgeKind kind) {
                         group.before.push_back({earlier, kind});
                       });
    for (const auto& [earlier, kind] : left.before)
      group.before.push_back({replay.operation(earlier), kind});
    use.writer = {};
    use.readers.clear();
    use.group.emplace(std::move(group));
  }
  for (const Index fold : left.folds) analysis.join_group(use, left.fold, replay.operation(fold));
}

/// Nothing orders those who look at an instance without points, so each replay's are noted.
void note_looks(const Outcome& outcome, const Replayed& replay) {
  for (const auto& [instance, operation] : outcome.looks) {
    const exec::NodeRef named = replay.operation(operation);
    if (!exec::is_complete(named))
      analysis::Analysis::note_looker(*analysis::present(instance), named);
  }
}

}  // namespace

void bring_forward(analysis::Analysis& analysis, const Recording& recording, const Outcome& outcome,
                   const Replayed& replay) {
  for (const Left& left : outcome.uses) {
    analysis::Instance* instance = analysis::present(left.instance);
    REFRAIN_ASSERT(instance != nullptr, "of what has ended nothing is left");
    analysis::Use& use = recording.places[left.place].piece->at(instance);
    if (left.writer != kNone) {
      use.readers.clear();
      use.group.reset();
      use.writer = replay.operation(left.writer);
    }
    if (left.folds) fold_forward(analysis, *left.folds, replay, use);
    for (Index reader : left.readers) {
      const exec::NodeRef named = replay.operation(reader);
      // What is complete orders nothing any more, but a log is told of every edge.
      if (analysis.has_log() || !exec::is_complete(named)) analysis.note_reader(use, named);
    }
  }
  for (Index i = 0; i < outcome.places.size(); ++i) {
    const LeftValid& after = outcome.places[i];
    if (!after.changed) continue;
    analysis::Piece& piece = *recording.places[i].piece;
    for (analysis::Use& use : piece.uses)
      use.valid =
          std::ranges::find(after.valid, use.instance, analysis::present) != after.valid.end();
    if (!after.pending) piece.fill.reset();
    else if (after.fill != kNone) piece.fill = replay.fill(after.fill);
  }
  note_looks(outcome, replay);
}

void add_standing_readers(const analysis::Analysis& analysis, const Recording& recording,
                          const Outcome& outcome, const Replayed& replay) {
  for (const EntryUse& entry : recording.entry_uses) {
    if (!entry.standing) continue;
    const exec::NodeRef reader = replay.operation(entry.operation);
    if (!analysis.has_log() && exec::is_complete(reader)) continue;
    REFRAIN_ASSERT(recording.own_of(entry.instance) == nullptr, "replays of a chain find none");
    analysis.note_reader(recording.places[entry.place].piece->at(entry.instance), reader);
  }
  note_looks(outcome, replay);
}

std::vector<Entry> entries(const Recording& recording,
                           const std::function<bool(const exec::Edge&)>& matters) {
  std::vector<Entry> all;
  for (const EntryUse& entry : recording.entry_uses) {
    analysis::Instance* instance = analysis::present(entry.instance);
    REFRAIN_ASSERT(instance != nullptr, "nobody was there before what the trace makes");
    const analysis::Use* use = recording.places[entry.place].piece->find(instance);
    if (use == nullptr) continue;
    const auto add = [&](const exec::NodeRef& earlier, exec::EdgeKind kind) {
      const exec::Edge edge{earlier, kind};
      if (matters(edge)) all.push_back({entry.operation, edge, entry.standing});
    };
    analysis::before(*use, entry.change, recording.fold_of(entry.operation), add);
  }
  return all;
}

}  // namespace refrain::trace
