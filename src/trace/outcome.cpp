#include "trace/outcome.hpp"

#include <algorithm>
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
  bool written = false;
};

/// What the trace has done to each instance at each place.
class Standing {
 public:
  explicit Standing(const Recording& recording) : places_(recording.places.size()) {}

  [[nodiscard]] std::span<const Known> at(Index place) const { return places_[place]; }
  Known& at(Index place, analysis::Instance* instance) {
    for (Known& known : places_[place])
      if (known.use.instance == instance) return known;
    Known& known = places_[place].emplace_back();
    known.use.instance = instance;
    return known;
  }

 private:
  std::vector<std::vector<Known>> places_;
};

/// Names operations outside of any scope.
exec::NodeRef name(std::uint64_t index) {
  static exec::Node nobody;
  return {&nobody, index};
}

void apply(Effect::Kind kind, Known& known, std::uint64_t operation) {
  if (kind == Effect::Kind::read) {
    auto& readers = known.use.readers;
    if (readers.empty() || readers.back() != name(operation)) readers.push_back(name(operation));
    return;
  }
  known.use.readers.clear();
  known.use.writer = name(operation);
  known.written = true;
}

analysis::StateChange change_of(Effect::Kind kind) {
  switch (kind) {
    case Effect::Kind::write: return analysis::StateChange::write;
    case Effect::Kind::read_write: return analysis::StateChange::read_write;
    case Effect::Kind::validate: return analysis::StateChange::validate;
    default: return analysis::StateChange::read;
  }
}

bool concerns_operation(const Effect& effect) {
  return effect.kind != Effect::Kind::pend && effect.kind != Effect::Kind::look;
}

void find_entry_uses(Recording& recording, Standing& standing) {
  for (const Effect& effect : recording.effects) {
    if (!concerns_operation(effect)) continue;
    Known& known = standing.at(effect.place, effect.instance);
    if (!known.written) {
      const EntryUse use{effect.by, effect.place, effect.instance, change_of(effect.kind), false};
      recording.entry_uses.push_back(use);
    }
    apply(effect.kind, known, effect.by);
  }
  for (EntryUse& use : recording.entry_uses)
    use.standing = !standing.at(use.place, use.instance).written;
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
    if (effect.kind == Effect::Kind::read) analysis::before_read(known.use, add);
    else analysis::before_write(known.use, effect.kind == Effect::Kind::read_write, add);
    apply(effect.kind, known, count + effect.by);
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

}  // namespace

Outcome outcome_of(const Recording& recording, Index effects) {
  const std::span<const Effect> past(recording.effects.data(), effects);
  Outcome outcome{{}, places_after(recording, effects), {}};
  Standing standing(recording);
  for (const Effect& effect : past) {
    if (concerns_operation(effect))
      apply(effect.kind, standing.at(effect.place, effect.instance), effect.by);
    else if (effect.kind == Effect::Kind::look)
      outcome.looks.emplace_back(effect.instance, effect.by);
  }
  for (Index place = 0; place < recording.places.size(); ++place) {
    for (const Known& known : std::as_const(standing).at(place)) {
      Left left{place, known.use.instance, index_of(known.use.writer), {}};
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
  const auto after = places_after(recording, static_cast<Index>(recording.effects.size()));
  recording.idempotent = true;
  for (Index i = 0; i < after.size(); ++i)
    if (after[i].valid != recording.places[i].valid ||
        after[i].pending != recording.places[i].pending)
      recording.idempotent = false;
  if (recording.idempotent) find_carried(recording, standing);
}

}  // namespace refrain::trace
