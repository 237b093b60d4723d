#include "trace/outcome.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/state_log.hpp"

namespace refrain::trace {

namespace {

/// What the trace has done to an instance at a place.
struct Known {
  analysis::Instance* instance = nullptr;
  Index next = kNone;     ///< the next instance there
  Index latest = kNone;   ///< effect on it, from which Effect::before leads to all others
  Index changed = kNone;  ///< the latest that is more than a read
  /// The operator, if the first thing that the trace does here is a relaxed fold.
  analysis::FoldFunction first_fold = nullptr;
  /// Whoever comes after what the trace has done here comes after all that was here before.
  bool settled = false;
  // Of the group of relaxed folds that wrote last: how each comes after what was here before the trace, and
  // whether nothing but reads came before them.
  std::optional<analysis::StateChange> group_entry;
  bool group_first = false;

  /// The trace only reads here.
  [[nodiscard]] bool only_read() const { return changed == kNone; }
  [[nodiscard]] bool untouched() const { return latest == kNone; }
};

/// What the trace has done to each instance at each place.
class Standing {
 public:
  explicit Standing(const Recording& recording)
      : recording_(recording), effects_(recording.effects), first_(recording.places.size(), kNone) {
    known_.reserve(recording.places.size());
  }

  /// What is known of an instance at a place. Good until the next call.
  Known& at(Index place, analysis::Instance* instance) {
    Index* number = &first_[place];
    for (; *number != kNone; number = &known_[*number].next)
      if (known_[*number].instance == instance) return known_[*number];
    *number = static_cast<Index>(known_.size());
    Known& added = known_.emplace_back();
    added.instance = instance;
    // Nobody was there before an instance that the trace has made.
    const OwnInstance* own = recording_.own_of(instance);
    added.settled = own != nullptr && own->made != kNone;
    return added;
  }
  /// The region ends: nobody is known there.
  void end(Index place) { first_[place] = kNone; }
  [[nodiscard]] std::span<const Known> all() const { return known_; }
  template <class Visit>
  void for_each_at(Index place, Visit visit) const {
    for (Index number = first_[place]; number != kNone; number = known_[number].next)
      visit(known_[number]);
  }

  /// Whether a relaxed fold with this operator would join those that wrote last.
  [[nodiscard]] bool joins_group(const Known& known, analysis::FoldFunction fold) const {
    return known.latest != kNone && fold != nullptr && fold_of(known.latest) == fold;
  }
  /// How an effect's operation comes after what was there before the trace. Nothing: it comes after others of
  /// the trace that do.
  [[nodiscard]] std::optional<analysis::StateChange> entry_of(const Effect& effect,
                                                              const Known& known) const {
    if (effect.kind == Effect::Kind::fold) [[unlikely]] {
      if (joins_group(known, recording_.fold_of(effect.by))) return known.group_entry;
      if (!known.settled && !known.untouched()) return analysis::StateChange::read_write;
    }
    if (known.settled) return {};
    return change_of(effect.kind);
  }
  /// The effect of this number is the latest one.
  void apply(Known& known, const Effect& effect, Index at) {
    if (effect.kind == Effect::Kind::fold) [[unlikely]]
      begin_or_join_group(known, effect);
    known.latest = at;
    if (effect.kind == Effect::Kind::read) return;
    known.changed = at;
    if (effect.kind != Effect::Kind::fold) known.settled = true;
  }

  // --- backwards ---------------------------------------------------------------------------------------

  /// Calls visit(operation) for those who read since `changed`, the latest first.
  template <class Visit>
  void for_each_reader(Index latest, Visit visit) const {
    Index last = kNone;
    for (Index at = latest; at != kNone; at = effects_[at].before) {
      const Effect& effect = effects_[at];
      if (effect.kind != Effect::Kind::read) return;
      if (effect.by != last) visit(effect.by);
      last = effect.by;
    }
  }
  /// Calls visit(effect) for the writer, or for the group of relaxed folds that `changed` is the latest of.
  /// Returns the effect before them.
  template <class Visit>
  Index for_each_writer(Index changed, Visit visit) const {
    const analysis::FoldFunction fold = fold_of(changed);
    for (Index at = changed;; at = effects_[at].before) {
      visit(effects_[at]);
      const Index before = effects_[at].before;
      if (fold == nullptr || before == kNone || fold_of(before) != fold) return before;
    }
  }
  /// The operator, if the effect is a relaxed fold.
  [[nodiscard]] analysis::FoldFunction fold_of(Index at) const {
    const Effect& effect = effects_[at];
    return effect.kind == Effect::Kind::fold ? recording_.fold_of(effect.by) : nullptr;
  }

 private:
  void begin_or_join_group(Known& known, const Effect& effect) {
    const analysis::FoldFunction fold = recording_.fold_of(effect.by);
    const auto entry = entry_of(effect, known);
    if (known.untouched()) known.first_fold = fold;
    if (!joins_group(known, fold)) known.group_first = known.only_read();
    known.group_entry = entry;
    if (entry != analysis::StateChange::fold) known.settled = true;
  }

  const Recording& recording_;
  const std::span<const Effect> effects_;
  std::vector<Index> first_;  ///< by place
  std::vector<Known> known_;
};

/// Whether in the replay that follows, the effect meets what this one has left.
bool meets(const Recording& recording, const Standing& standing, const Effect& effect,
           const Known& known) {
  return known.only_read() ||
         (known.group_first && standing.joins_group(known, recording.fold_of(effect.by)));
}

/// Who may use an instance when its region ends: those known at one of its places.
void note_users(const Standing& standing, const Known& known, std::vector<Index>& users) {
  standing.for_each_reader(known.latest, [&users](Index reader) { users.push_back(reader); });
  if (!known.only_read())
    standing.for_each_writer(known.changed,
                             [&users](const Effect& effect) { users.push_back(effect.by); });
}

/// A region ends at a place.
void end(Recording& recording, Standing& standing, Index place) {
  standing.for_each_at(place, [&](const Known& known) {
    note_users(standing, known, recording.own[known.instance->live_index].users);
  });
  standing.end(place);
}

/// Finds the uses on entry, and of each effect which one came before it on the same instance. Also who uses the
/// recording's own instances when they end.
void find_entry_uses(Recording& recording, Standing& standing) {
  std::vector<EntryUse>& uses = recording.entry_uses;
  uses.reserve(recording.places.size());  // no less
  bool sorted = true;
  const std::span<Effect> effects(recording.effects);
  for (Index at = 0; at < effects.size(); ++at) {
    Effect& effect = effects[at];
    if (effect.kind == Effect::Kind::end) end(recording, standing, effect.place);
    else if (effect.kind == Effect::Kind::look && recording.own_of(effect.instance) != nullptr)
      recording.own[effect.instance->live_index].users.push_back(effect.by);
    if (!concerns_operation(effect)) continue;
    Known& known = standing.at(effect.place, effect.instance);
    effect.before = known.latest;
    if (const auto change = standing.entry_of(effect, known)) {
      const bool only_writes =
          *change == analysis::StateChange::write || *change == analysis::StateChange::validate;
      sorted = sorted && (uses.empty() || uses.back().operation <= effect.by);
      uses.push_back({effect.by, effect.place, effect.instance, *change, false,
                      meets(recording, standing, effect, known),
                      only_writes && !known.untouched()});
    }
    standing.apply(known, effect, at);
  }
  if (!sorted) std::ranges::stable_sort(uses, {}, &EntryUse::operation);
  const auto repeated = std::ranges::unique(uses);
  uses.erase(repeated.begin(), repeated.end());
  for (OwnInstance& own : recording.own) {
    std::ranges::sort(own.users);
    const auto again = std::ranges::unique(own.users);
    own.users.erase(again.begin(), again.end());
  }
}

/// Calls add(operation, kind) for what the use comes after in the replay before: the rules of
/// analysis/order_rules.hpp, by what that replay has left.
template <class Add>
void for_each_met(const Standing& standing, const Known& known, const EntryUse& use, Add add) {
  const auto add_writers = [&](exec::EdgeKind kind) {
    standing.for_each_writer(known.changed, [&](const Effect& effect) { add(effect.by, kind); });
  };
  if (use.change == analysis::StateChange::read) return add_writers(exec::EdgeKind::data);
  bool order_known = use.after_reads;
  standing.for_each_reader(known.latest, [&](Index reader) {
    order_known = true;
    add(reader, exec::EdgeKind::order);
  });
  if (use.change == analysis::StateChange::read_write || use.change == analysis::StateChange::fold)
    add_writers(exec::EdgeKind::data);
  else if (!order_known) add_writers(exec::EdgeKind::order);
}

/// Which uses hold for every replay of a chain; and the carried edges. Between two operations there is one, of
/// the stronger kind.
void see_what_is_met(Recording& recording, Standing& standing) {
  const std::span<EntryUse> uses(recording.entry_uses);
  std::vector<RecordedEdge>& carried = recording.carried;
  if (recording.idempotent) carried.reserve(recording.operations.size());
  std::vector<std::size_t> last(recording.operations.size());  // edge from there, and one more
  std::size_t first = 0;                                       // edge to the operation
  for (std::size_t i = 0; i < uses.size(); ++i) {
    EntryUse& use = uses[i];
    const Known& known = standing.at(use.place, use.instance);
    use.standing = known.only_read();
    if (recording.idempotent && use.meets && !use.standing)
      for_each_met(standing, known, use, [&](Index from, exec::EdgeKind kind) {
        if (last[from] <= first) {
          carried.push_back({from, use.operation, kind});
          last[from] = carried.size();
        } else if (kind == exec::EdgeKind::data) {
          carried[last[from] - 1].kind = kind;
        }
      });
    if (i + 1 < uses.size() && uses[i + 1].operation == use.operation) continue;
    std::ranges::sort(carried.begin() + static_cast<std::ptrdiff_t>(first), carried.end(), {},
                      &RecordedEdge::from);
    first = carried.size();
  }
}

// A value that is pending in a region which the next replay ends is none that it finds where it fills.
bool leaves_as_found(const Recording& recording) {
  const auto after = places_after(recording, static_cast<Index>(recording.effects.size()));
  for (Index i = 0; i < after.size(); ++i)
    if (after[i].valid != recording.places[i].valid ||
        after[i].pending != recording.places[i].pending ||
        (after[i].ended && after[i].fill != kNone))
      return false;
  return true;
}

std::vector<Index> readers_of(const Standing& standing, Index latest) {
  std::vector<Index> readers;
  standing.for_each_reader(latest, [&readers](Index reader) { readers.push_back(reader); });
  std::ranges::reverse(readers);
  return readers;
}

/// What a group of relaxed folds comes after in the trace: as a read-write, given the effect before them.
std::vector<std::pair<Index, exec::EdgeKind>> before_group(const Recording& recording,
                                                           const Standing& standing, Index latest) {
  std::vector<std::pair<Index, exec::EdgeKind>> before;
  for (const Index reader : readers_of(standing, latest))
    before.emplace_back(reader, exec::EdgeKind::order);
  while (latest != kNone && recording.effects[latest].kind == Effect::Kind::read)
    latest = recording.effects[latest].before;
  if (latest == kNone) return before;
  const auto first = static_cast<std::ptrdiff_t>(before.size());
  standing.for_each_writer(latest, [&before](const Effect& effect) {
    before.emplace_back(effect.by, exec::EdgeKind::data);
  });
  std::reverse(before.begin() + first, before.end());
  return before;
}

Left left_at(const Recording& recording, const Standing& standing, Index place,
             const Known& known) {
  Left left{place, known.instance, kNone, {}, readers_of(standing, known.latest)};
  if (known.only_read()) return left;
  const analysis::FoldFunction fold = standing.fold_of(known.changed);
  if (fold == nullptr) {
    left.writer = recording.effects[known.changed].by;
    return left;
  }
  LeftFolds& folds = left.folds.emplace(LeftFolds{fold, known.group_entry, {}, {}});
  const Index before = standing.for_each_writer(
      known.changed, [&folds](const Effect& effect) { folds.folds.push_back(effect.by); });
  std::ranges::reverse(folds.folds);
  folds.before = before_group(recording, standing, before);
  return left;
}

}  // namespace

std::vector<LeftValid> places_after(const Recording& recording, Index effects) {
  std::vector<LeftValid> after(recording.places.size());
  enum : std::uint8_t { kOpen, kKnown, kEnded };
  std::vector<std::uint8_t> known(recording.places.size());  // what came earlier does not matter
  const auto add = [](Instances& valid, const analysis::Instance* instance) {
    if (std::ranges::find(valid, instance) == valid.end()) valid.push_back(instance);
  };
  for (Index at = effects; at-- > 0;) {
    const Effect& effect = recording.effects[at];
    if (effect.kind == Effect::Kind::look || effect.kind == Effect::Kind::gone ||
        effect.kind == Effect::Kind::read || known[effect.place] == kEnded)
      continue;
    LeftValid& place = after[effect.place];
    if (effect.kind == Effect::Kind::end) {  // what this changed was changed then (replay_end)
      if (known[effect.place] == kOpen) place.pending = true;
      known[effect.place] = kEnded;
      place.ended = true;
      continue;
    }
    place.changed = true;
    if (known[effect.place] == kKnown) continue;
    if (effect.kind != Effect::Kind::validate) known[effect.place] = kKnown;
    if (effect.kind == Effect::Kind::pend) {
      place.pending = true;
      place.fill = effect.by;
    } else {
      add(place.valid, effect.instance);
    }
  }
  for (Index i = 0; i < after.size(); ++i) {
    LeftValid& place = after[i];
    if (known[i] == kOpen) {
      place.pending = recording.places[i].pending;
      for (const analysis::Instance* instance : recording.places[i].valid)
        add(place.valid, instance);
    }
    if (place.valid.size() > 1) std::ranges::sort(place.valid, {}, &analysis::Instance::number);
  }
  return after;
}

Outcome outcome_of(const Recording& recording, Index effects) {
  Outcome outcome{{}, places_after(recording, effects), {}};
  Standing standing(recording);
  for (Index at = 0; at < effects; ++at) {
    const Effect& effect = recording.effects[at];
    if (concerns_operation(effect))
      standing.apply(standing.at(effect.place, effect.instance), effect, at);
    else if (effect.kind == Effect::Kind::look)
      outcome.looks.emplace_back(effect.instance, effect.by);
    else if (effect.kind == Effect::Kind::gone)
      std::erase_if(outcome.looks,
                    [&effect](const auto& look) { return look.first == effect.instance; });
    else if (effect.kind == Effect::Kind::end) standing.end(effect.place);
  }
  for (Index place = 0; place < recording.places.size(); ++place)
    standing.for_each_at(place, [&](const Known& known) {
      outcome.uses.push_back(left_at(recording, standing, place, known));
    });
  return outcome;
}

void find_chain_edges(Recording& recording) {
  Standing standing(recording);
  find_entry_uses(recording, standing);
  // The next replay's first fold would join the folds of this one.
  const auto goes_on = [&standing](const Known& known) {
    return known.first_fold != nullptr && standing.joins_group(known, known.first_fold);
  };
  const auto is_left = [](const OwnInstance& own) {
    return own.made == kNone || own.ended == kNone;
  };
  recording.idempotent = std::ranges::none_of(recording.own, is_left) &&
                         std::ranges::none_of(standing.all(), goes_on) &&
                         leaves_as_found(recording);
  see_what_is_met(recording, standing);
}

}  // namespace refrain::trace
