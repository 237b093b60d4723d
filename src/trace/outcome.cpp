#include "trace/outcome.hpp"

#include <algorithm>
#include <utility>

#include "analysis/analysis.hpp"
#include "base/assert.hpp"

namespace refrain::trace {

using analysis::StateChange;

Outcome::Outcome(const Recording& of, Index effects) : recording(&of) {
  places.reserve(of.places.size());
  while (places.size() < of.places.size()) add_place();
  for (Index at = 0; at < effects; ++at) apply(of.effects[at], [](OperationRef) {});
}

void Outcome::add_place() {
  const Place& found = recording->places[places.size()];
  PlaceAfter& place = places.emplace_back();
  place.fill.pending = found.pending;
  for (analysis::Instance* instance : found.valid) add_use(place, instance).valid = true;
}

// Nobody was there before an instance that the trace has made.
UseAfter& Outcome::add_use(PlaceAfter& place, analysis::Instance* instance) {
  UseAfter& use = place.uses.emplace_back();
  use.instance = instance;
  const PerReplayInstance* own = recording->per_replay_of(instance);
  if (own != nullptr && own->made != kNone) return use;
  use.writer = kBefore;
  use.readers.emplace_back(kBefore);
  return use;
}

// --- entry uses, carried edges -----------------------------------------------------------------------------

namespace {

/// A region ends at a place: notes who may still use its instances there.
void note_users(Recording& recording, const PlaceAfter& place) {
  for (const UseAfter& use : place.uses) {
    std::vector<Index>& users = recording.own[use.instance->position].users;
    const auto note = [&users](OperationRef operation) {
      if (is_recorded(operation)) users.push_back(operation.number);
    };
    std::ranges::for_each(use.readers, note);
    use.for_each_last_writer(note);
  }
}

/// Applies all effects; finds the uses on entry, and the users of the recording's own instances when these end.
void find_entry_uses(Recording& recording, Outcome& outcome) {
  std::vector<EntryUse>& uses = recording.entry_uses;
  uses.reserve(recording.places.size());  // no less
  for (const Effect& effect : recording.effects) {
    if (effect.change == StateChange::end) note_users(recording, outcome.places[effect.place]);
    else if (effect.change == StateChange::empty_use &&
             recording.per_replay_of(effect.instance) != nullptr)
      recording.own[effect.instance->position].users.push_back(effect.by);
    bool enters = false;
    outcome.apply(effect, [&](OperationRef earlier) { enters |= !is_recorded(earlier); });
    if (!enters) continue;
    const bool begins_group =
        effect.change == StateChange::fold &&
        outcome.places[effect.place].find(effect.instance)->group->folds.front() != kJoined;
    uses.push_back({effect.by, effect.place, effect.instance,
                    begins_group ? StateChange::write : effect.change});
  }
  if (!std::ranges::is_sorted(uses, {}, &EntryUse::operation))
    std::ranges::stable_sort(uses, {}, &EntryUse::operation);
  uses.erase(std::ranges::unique(uses).begin(), uses.end());
  for (EntryUse& use : uses) {
    const UseAfter* left = outcome.places[use.place].find(use.instance);
    use.standing = left == nullptr || left->writer == kBefore;
  }
  for (PerReplayInstance& own : recording.own) {
    std::ranges::sort(own.users);
    own.users.erase(std::ranges::unique(own.users).begin(), own.users.end());
  }
}

/// Whether the next replay finds the places as this one has. Only places that were changed, or ended, can differ. A fill
/// that is pending in a region that the next replay ends is not found where it fills.
bool leaves_as_found(const Recording& recording, const Outcome& outcome) {
  for (std::size_t i = 0; i < recording.places.size(); ++i) {
    const PlaceAfter& after = outcome.places[i];
    if ((after.changed || after.ended) &&
        ((after.ended && after.fill.step != kNone) || !recording.places[i].is_in(after)))
      return false;
  }
  return true;
}

/// The carried edges are those to the next replay's operations: its uses on entry are applied to the outcome of this
/// one. After a write nothing enters at its place and instance, so its own transition is not needed. The first fold of a
/// group is such a write. Between two operations there is one edge. The edges come by target, as the uses on entry
/// do.
///
/// gnu::flatten: the transitions are inlined; to call them takes as long as all that they do. `add` stays in registers,
/// too; a copy would be read in wider words than those just written.
[[gnu::flatten]] void find_carried(Recording& recording, Outcome& outcome) {
  const auto next = static_cast<Index>(recording.operations.size());
  std::vector<RecordedEdge>& carried = recording.carried;
  carried.reserve(recording.entry_uses.size());
  // By operation: 1 + the index of the last edge from it; 0: there is none.
  std::vector<std::size_t> last(next);
  for (EntryUse& use : recording.entry_uses) {
    UseAfter* const left = outcome.places[use.place].find(use.instance);
    REFRAIN_ASSERT(left != nullptr, "an instance that ends in the recording is its own");
    const bool folds = use.change == StateChange::fold;
    const analysis::FoldFunction fold = folds ? recording.fold_of(use.operation) : nullptr;
    const auto add = [&](OperationRef earlier) {
      use.after_joined |= folds && earlier == kJoined;
      if (earlier.number >= next) return;
      std::size_t& edge = last[earlier.number];
      if (edge != 0 && carried[edge - 1].to == use.operation) return;
      carried.push_back({earlier.number, use.operation});
      edge = carried.size();
    };
    if (folds || use.change == StateChange::read)
      analysis::apply(*left, use.change, fold, OperationRef{use.operation + next}, add);
    else analysis::before(*left, use.change, fold, add);
  }
}

bool leaves_shards_as_found(const Recording& recording) {
  return std::ranges::all_of(recording.on_shards, [&](const OnShards& each) {
    const auto& after = recording.on_shards_after;
    const auto last = std::find_if(after.rbegin(), after.rend(), [&](const OnShardsAfter& change) {
      return change.field == each.field;
    });
    return last == after.rend() || last->after == each.found;
  });
}

}  // namespace

void find_chain_edges(Recording& recording) {
  Outcome outcome(recording);
  find_entry_uses(recording, outcome);
  // The next replay's first fold would join the folds of this one.
  const auto goes_on = [&](const EntryUse& use) {
    if (use.change != StateChange::fold) return false;
    const UseAfter* left = outcome.places[use.place].find(use.instance);
    return left != nullptr && left->joins_group(recording.fold_of(use.operation));
  };
  const auto is_left = [](const PerReplayInstance& own) {
    return own.made == kNone || own.ended == kNone;
  };
  recording.idempotent = std::ranges::none_of(recording.own, is_left) &&
                         std::ranges::none_of(recording.entry_uses, goes_on) &&
                         leaves_as_found(recording, outcome) && leaves_shards_as_found(recording);
  if (recording.idempotent) find_carried(recording, outcome);
}

// --- the state of the analysis -----------------------------------------------------------------------------

namespace {

void bring_folds_forward(const analysis::Analysis& analysis,
                         const analysis::FoldGroup<OperationRef>& left, const Replayed& replay,
                         analysis::Use& use) {
  if (left.folds.front() != kJoined) {
    analysis::FoldGroup<exec::NodeRef> group{left.fold, {}, {}};
    bool entered = false;
    for (const OperationRef earlier : left.before) entered |= !is_recorded(earlier);
    if (entered)
      analysis::before_write(
          use, [&group](const exec::NodeRef& earlier) { group.before.push_back(earlier); });
    for (const OperationRef earlier : left.before)
      if (is_recorded(earlier)) group.before.push_back(replay.operation(earlier.number));
    use.writer = {};
    use.readers.clear();
    use.group.emplace(std::move(group));
  }
  for (const OperationRef fold : left.folds)
    if (is_recorded(fold)) analysis.join_group(use, left.fold, replay.operation(fold.number));
}

void bring_use_forward(const analysis::Analysis& analysis, const UseAfter& left,
                       const Replayed& replay, analysis::Use& use) {
  if (left.group) {
    bring_folds_forward(analysis, *left.group, replay, use);
  } else if (left.writer != kBefore && left.writer) {
    use.readers.clear();
    use.group.reset();
    use.writer = replay.operation(left.writer.number);
  }
  for (const OperationRef reader : left.readers) {
    if (!is_recorded(reader)) continue;
    const exec::NodeRef named = replay.operation(reader.number);
    // A complete reader orders nothing any more, but a log is told of every edge.
    if (analysis.has_log() || !exec::is_complete(named)) analysis.note_reader(use, named);
  }
}

/// Nothing orders operations that look at an instance without points, so each replay's are noted.
void note_empty_uses(const Outcome& outcome, const Replayed& replay) {
  for (const auto& [instance, operation] : outcome.empty_uses) {
    const exec::NodeRef named = replay.operation(operation);
    if (!exec::is_complete(named))
      analysis::Analysis::note_empty_user(*analysis::present(instance), named);
  }
}

}  // namespace

void bring_forward(analysis::Analysis& analysis, const Outcome& outcome, const Replayed& replay) {
  for (std::size_t i = 0; i < outcome.places.size(); ++i) {
    const PlaceAfter& after = outcome.places[i];
    analysis::EquivalenceSet& set = *outcome.recording->places[i].set;
    if (after.changed) set.invalidate();
    for (const UseAfter& left : after.uses) {
      analysis::Instance* instance = analysis::present(left.instance);
      REFRAIN_ASSERT(instance != nullptr, "of what has ended nothing is left");
      analysis::Use& use = set.at(instance);
      bring_use_forward(analysis, left, replay, use);
      if (after.changed) use.valid = left.valid;
    }
    if (!after.changed) continue;
    if (!after.fill) set.fill.reset();
    else if (after.fill.step != kNone) set.fill = replay.fill(after.fill.step);
  }
  note_empty_uses(outcome, replay);
}

void add_standing_readers(const analysis::Analysis& analysis, const Outcome& outcome,
                          const Replayed& replay) {
  const Recording& recording = *outcome.recording;
  for (const EntryUse& entry : recording.entry_uses) {
    if (!entry.standing) continue;
    const exec::NodeRef reader = replay.operation(entry.operation);
    if (!analysis.has_log() && exec::is_complete(reader)) continue;
    REFRAIN_ASSERT(recording.per_replay_of(entry.instance) == nullptr,
                   "replays of a chain find none");
    analysis.note_reader(recording.places[entry.place].set->at(entry.instance), reader);
  }
  note_empty_uses(outcome, replay);
}

Entries entries(const Recording& recording,
                const std::function<bool(const exec::NodeRef&)>& matters) {
  Entries found;
  for (const EntryUse& entry : recording.entry_uses) {
    analysis::Instance* instance = analysis::present(entry.instance);
    REFRAIN_ASSERT(instance != nullptr, "nobody was there before what the trace makes");
    const analysis::Use* use = recording.places[entry.place].set->find(instance);
    if (use == nullptr) continue;
    const analysis::FoldFunction fold = recording.fold_of(entry.operation);
    const auto add = [&](const exec::NodeRef& earlier) {
      if (!matters(earlier)) return;
      found.first.push_back({entry.operation, earlier});
      if (entry.standing) found.later.push_back({entry.operation, earlier});
    };
    analysis::before(*use, entry.change, fold, add);
    if (entry.after_joined && use->joins_group(fold))
      for (const exec::NodeRef& joined : use->group->folds)
        if (matters(joined)) found.later.push_back({entry.operation, joined});
  }
  return found;
}

}  // namespace refrain::trace
