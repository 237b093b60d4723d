#pragma once
// The outcome of a recording, or of a prefix: the state that it leaves behind at each place, told in the recording's
// own operations and in "whatever was there before". It is worked out from the effects alone, by the transitions of
// the analysis itself (analysis/use_state.hpp). From it follow the entry uses and the carried edges of a recording
// (dynamic tracing paper, IV.F), the edges between recordings that are joined, and how the analysis' state is
// brought forward over launches that were replayed.
//
// Owner: the context's thread. Cost of find_chain_edges: some 300 instructions per effect (the stencil's recordings).

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "analysis/equivalence_set.hpp"
#include "trace/recording.hpp"

namespace refrain::analysis {
class Analysis;
}

namespace refrain::trace {

/// An operation of the recording. Or, in place of operations before it: kBefore, the last writers and readers; kJoined,
/// the fold group that its first fold may have joined.
struct OperationRef {
  Index number = kNone;
  explicit operator bool() const { return number != kNone; }
  friend bool operator==(const OperationRef&, const OperationRef&) = default;
};
constexpr OperationRef kBefore{kNone - 1}, kJoined{kNone - 2};
constexpr bool is_recorded(OperationRef operation) { return operation.number < kJoined.number; }

/// A pending fill: by this step, or kNone for the one from before the recording.
struct PendingFill {
  bool pending = false;
  Index step = kNone;
  explicit operator bool() const { return pending; }
};

using UseAfter = analysis::UseState<OperationRef>;

struct PlaceAfter : analysis::SetState<OperationRef, PendingFill> {
  PlaceAfter() {}        // not an aggregate, which would be cleared as a whole first
  bool changed = false;  ///< another instance may be valid, or another fill be pending
  bool ended = false;    ///< a region ended here; the rest is of the one that came after it
};

struct Outcome {
  /// After the first `effects` effects.
  explicit Outcome(const Recording& of, Index effects = 0);

  const Recording* recording;
  std::vector<PlaceAfter> places;                                 ///< the recording's
  std::vector<std::pair<analysis::Instance*, Index>> empty_uses;  ///< at instances, by operations

  /// A place that the recording has got since then, as it has to be found.
  void add_place();
  /// The first use of an instance there.
  UseAfter& add_use(PlaceAfter& place, analysis::Instance* instance);
  /// Applies the recording's next effect. Calls add(operation) for the predecessors that it gives its operation.
  template <class Add>
  void apply(const Effect& effect, Add add);
};

/// Works out entry_uses, the users of the recording's own instances when these end, whether it is idempotent, and if so
/// the carried edges: those that the analysis would find if the trace were unrolled once.
void find_chain_edges(Recording& recording);

/// The first steps of a recording: a recording, too.
struct Prefix {
  const Recording* recording = nullptr;
  Index steps = 0;
};

/// Recordings that follow each other as one: the recording that would have been made if all their calls had been made in
/// one trace. So the edges between them are worked out once, and every property of a recording holds for the result:
/// prefixes, outcome, carried edges. No part is stale or has per-replay instances. Each has followed the one before
/// directly, so its precondition held. Cost: that of Recorder::finish, per recording.
[[nodiscard]] std::unique_ptr<Recording> join(std::span<const Prefix> parts);

// --- between a recording and the state of the analysis ------------------------------------------------------

/// A replay as the analysis' state names it.
struct Replayed {
  std::function<exec::NodeRef(Index operation)> operation;
  /// The fill that a step has made pending.
  std::function<std::shared_ptr<const analysis::FillValue>(Index step)> fill;
};

/// Brings the state forward over a replay with this outcome. It was brought forward to the replay's beginning before.
void bring_forward(analysis::Analysis& analysis, const Outcome& outcome, const Replayed& replay);

/// After several replays: adds those operations of an earlier, whole one that read what the trace never writes, or
/// looked at an instance without points. In launch order, before bring_forward for the last one.
void add_standing_readers(const analysis::Analysis& analysis, const Outcome& outcome,
                          const Replayed& replay);

/// A predecessor that an operation has from before the trace.
struct Entry {
  Index operation = 0;
  exec::NodeRef after;
};
/// When the trace is entered now: those of this replay, and those of each that follows it in a chain; by operation.
struct Entries {
  std::vector<Entry> first, later;
};

/// All of them for which `matters(predecessor)`.
Entries entries(const Recording& recording,
                const std::function<bool(const exec::NodeRef&)>& matters);

// --- templates -----------------------------------------------------------------------------------------------

template <class Add>
void Outcome::apply(const Effect& effect, Add add) {
  using analysis::StateChange;
  if (effect.change == StateChange::empty_use) {
    empty_uses.emplace_back(effect.instance, effect.by);
    return;
  }
  if (effect.change == StateChange::gone) {
    std::erase_if(empty_uses, [&](const auto& look) { return look.first == effect.instance; });
    return;
  }
  PlaceAfter& place = places[effect.place];
  if (effect.change == StateChange::end) {
    place = {};
    place.fill.pending = place.ended = true;
  } else if (effect.change == StateChange::pend) {
    place.invalidate();
    place.fill = {true, effect.by};
    place.changed = true;
  } else {
    UseAfter* const found = place.find(effect.instance);
    UseAfter& use = found != nullptr ? *found : add_use(place, effect.instance);
    analysis::FoldFunction fold = nullptr;
    if (effect.change == StateChange::fold) [[unlikely]] {
      fold = recording->fold_of(effect.by);
      if (use.writer == kBefore && use.readers.size() == 1) {  // it may join a group
        use.writer = {};
        use.readers.clear();
        use.group.emplace({fold, {kJoined}, {kBefore}});
      }
    }
    analysis::apply(use, effect.change, fold, OperationRef{effect.by}, add);
    if (effect.change == StateChange::read) return;
    if (effect.change == StateChange::validate) use.valid = true;
    else place.only_valid(use);
    place.changed = true;
  }
}

}  // namespace refrain::trace
