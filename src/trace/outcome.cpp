#include "trace/outcome.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/order_rules.hpp"

namespace refrain::trace {

namespace {

/// How the trace has left an instance at a place. Operations are named by their index, of the second
/// time around by as many more as there are.
struct Known {
  analysis::Use use;
  /// Whoever comes after what the trace has done here comes after all that was here before.
  bool settled = false;
  /// Of the group of relaxed folds in `use`: how each of them comes after what was here before the trace.
  std::optional<analysis::StateChange> group_entry;
  /// The operator, if the first thing that the trace does here is a relaxed fold.
  analysis::FoldFunction first_fold = nullptr;

  /// The trace only reads here.
  [[nodiscard]] bool only_read() const { return !use.writer && !use.group; }
  [[nodiscard]] bool untouched() const { return only_read() && use.readers.empty(); }
  /// The next replay's first fold joins the folds of this one.
  [[nodiscard]] bool goes_on() const {
    return first_fold != nullptr && analysis::joins_group(use, first_fold);
  }
};

/// What the trace has done to each instance at each place.
class Standing {
  using KnownInstances = boost::container::small_vector<Known, 1>;

 public:
  explicit Standing(const Recording& recording) : places_(recording.places.size()) {}

  [[nodiscard]] const KnownInstances& at(Index place) const { return places_[place]; }
  Known& at(Index place, analysis::Instance* instance) {
    for (Known& known : places_[place])
      if (known.use.instance == instance) return known;
    Known& known = places_[place].emplace_back();
    known.use.instance = instance;
    return known;
  }
  template <class Predicate>
  [[nodiscard]] bool any(Predicate predicate) const {
    return std::ranges::any_of(places_, [&](const KnownInstances& place) {
      return std::ranges::any_of(place, predicate);
    });
  }

 private:
  std::vector<KnownInstances> places_;
};

/// Names operations outside of any scope.
exec::NodeRef name(std::uint64_t index) {
  static exec::Node nobody;
  return {&nobody, index};
}

analysis::StateChange change_of(Effect::Kind kind) {
  switch (kind) {
    case Effect::Kind::write: return analysis::StateChange::write;
    case Effect::Kind::read_write: return analysis::StateChange::read_write;
    case Effect::Kind::validate: return analysis::StateChange::validate;
    case Effect::Kind::fold: return analysis::StateChange::fold;
    default: return analysis::StateChange::read;
  }
}

bool concerns_operation(const Effect& effect) {
  return effect.kind != Effect::Kind::pend && effect.kind != Effect::Kind::look;
}

/// How an effect's operation comes after what was there before the trace. Nothing: it comes after others of
/// the trace that do.
std::optional<analysis::StateChange> entry_of(const Recording& recording, const Effect& effect,
                                              const Known& known) {
  if (effect.kind == Effect::Kind::fold) {
    if (analysis::joins_group(known.use, recording.fold_of(effect.by))) return known.group_entry;
    if (!known.settled && !known.untouched()) return analysis::StateChange::read_write;
  }
  if (known.settled) return {};
  return change_of(effect.kind);
}

/// The operation of an effect has this number.
void apply(const Recording& recording, const Effect& effect, Known& known, std::uint64_t number) {
  const exec::NodeRef self = name(number);
  if (effect.kind == Effect::Kind::read) {
    auto& readers = known.use.readers;
    if (readers.empty() || readers.back() != self) readers.push_back(self);
  } else if (effect.kind == Effect::Kind::fold) {
    const analysis::FoldFunction fold = recording.fold_of(effect.by);
    if (known.untouched()) known.first_fold = fold;
    known.group_entry = entry_of(recording, effect, known);
    if (known.group_entry != analysis::StateChange::fold) known.settled = true;
    analysis::group_of(known.use, fold).folds.push_back(self);
  } else {
    known.use.readers.clear();
    known.use.group.reset();
    known.use.writer = self;
    known.settled = true;
  }
}

void find_entry_uses(Recording& recording, Standing& standing) {
  for (const Effect& effect : recording.effects) {
    if (!concerns_operation(effect)) continue;
    Known& known = standing.at(effect.place, effect.instance);
    if (const auto change = entry_of(recording, effect, known))
      recording.entry_uses.push_back({effect.by, effect.place, effect.instance, *change, false});
    apply(recording, effect, known, effect.by);
  }
  for (EntryUse& use : recording.entry_uses)
    use.standing = standing.at(use.place, use.instance).only_read();
  std::ranges::stable_sort(recording.entry_uses, {}, &EntryUse::operation);
  const auto repeated = std::ranges::unique(recording.entry_uses);
  recording.entry_uses.erase(repeated.begin(), repeated.end());
}

void find_carried(Recording& recording, Standing& standing) {
  const std::uint64_t count = recording.operations.size();
  for (const Effect& effect : recording.effects) {
    if (!concerns_operation(effect)) continue;
    Known& known = standing.at(effect.place, effect.instance);
    const auto add = [&](const exec::NodeRef& earlier, exec::EdgeKind kind) {
      if (earlier.seq < count)
        recording.carried.push_back({static_cast<Index>(earlier.seq), effect.by, kind});
    };
    analysis::before(known.use, change_of(effect.kind), recording.fold_of(effect.by), add);
    apply(recording, effect, known, count + effect.by);
  }
  // One edge for two operations, of the stronger kind.
  const auto order = [](const RecordedEdge& a, const RecordedEdge& b) {
    return std::tuple(a.to, a.from, b.kind) < std::tuple(b.to, b.from, a.kind);
  };
  std::ranges::sort(recording.carried, order);
  const auto same = [](const RecordedEdge& a, const RecordedEdge& b) {
    return a.from == b.from && a.to == b.to;
  };
  const auto repeated = std::ranges::unique(recording.carried, same);
  recording.carried.erase(repeated.begin(), repeated.end());
}

/// The validity of each place after the first effects.
std::vector<LeftValid> places_after(const Recording& recording, Index effects) {
  std::vector<LeftValid> after;
  after.reserve(recording.places.size());
  for (const Place& place : recording.places)
    after.push_back({place.valid, place.pending, kNone, false});
  for (const Effect& effect : std::span(recording.effects).first(effects)) {
    if (effect.kind == Effect::Kind::look || effect.kind == Effect::Kind::read) continue;
    LeftValid& place = after[effect.place];
    place.changed = true;
    if (effect.kind != Effect::Kind::validate) place = {{}, false, kNone, true};
    if (effect.kind == Effect::Kind::pend) {
      place.pending = true;
      place.fill = effect.by;
    } else if (std::ranges::find(place.valid, effect.instance) == place.valid.end()) {
      place.valid.push_back(effect.instance);
    }
  }
  for (LeftValid& place : after) std::ranges::sort(place.valid, {}, &analysis::Instance::number);
  return after;
}

Index index_of(const exec::NodeRef& named) { return named ? static_cast<Index>(named.seq) : kNone; }

std::optional<LeftFolds> folds_of(const Known& known) {
  if (!known.use.group) return {};
  LeftFolds left{known.use.group->fold, known.group_entry, {}, {}};
  for (const exec::Edge& edge : known.use.group->before)
    left.before.emplace_back(index_of(edge.from), edge.kind);
  for (const exec::NodeRef& fold : known.use.group->folds) left.folds.push_back(index_of(fold));
  return left;
}

}  // namespace

Outcome outcome_of(const Recording& recording, Index effects) {
  const std::span<const Effect> past(recording.effects.data(), effects);
  Outcome outcome{{}, places_after(recording, effects), {}};
  Standing standing(recording);
  for (const Effect& effect : past) {
    if (concerns_operation(effect))
      apply(recording, effect, standing.at(effect.place, effect.instance), effect.by);
    else if (effect.kind == Effect::Kind::look)
      outcome.looks.emplace_back(effect.instance, effect.by);
  }
  for (Index place = 0; place < recording.places.size(); ++place) {
    for (const Known& known : std::as_const(standing).at(place)) {
      Left left{place, known.use.instance, index_of(known.use.writer), folds_of(known), {}};
      for (const exec::NodeRef& reader : known.use.readers)
        left.readers.push_back(index_of(reader));
      outcome.uses.push_back(std::move(left));
    }
  }
  return outcome;
}

void find_chain_edges(Recording& recording) {
  Standing standing(recording);
  find_entry_uses(recording, standing);
  recording.idempotent = !standing.any(&Known::goes_on);
  const auto after = places_after(recording, static_cast<Index>(recording.effects.size()));
  for (Index i = 0; i < after.size(); ++i)
    if (after[i].valid != recording.places[i].valid ||
        after[i].pending != recording.places[i].pending)
      recording.idempotent = false;
  if (recording.idempotent) find_carried(recording, standing);
}

}  // namespace refrain::trace
