#include "trace/outcome.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/assert.hpp"

namespace refrain::trace {

namespace {

/// Sorts edges by target and source; of two between the same operations one stays.
void merge(std::vector<RecordedEdge>& edges) {
  const auto ends = [](const RecordedEdge& edge) {
    return std::uint64_t{edge.to} << 32 | edge.from;
  };
  std::ranges::sort(edges, {}, ends);
  edges.erase(std::ranges::unique(edges, {}, ends).begin(), edges.end());
}

class Joiner {
 public:
  void add(const Prefix& part) {
    const Recording& recording = *part.recording;
    REFRAIN_ASSERT(!recording.has_per_replay(), "only what names instances itself is joined");
    step_ = static_cast<Index>(made_->steps.size());
    operation_ = static_cast<Index>(made_->operations.size());
    const auto effects_before = static_cast<Index>(made_->effects.size());
    const Step end = recording.steps[part.steps - 1];
    add_places(recording);
    for (Index i = 0; i < part.steps; ++i)
      made_->steps.push_back({operation_ + recording.steps[i].operations,
                              effects_before + recording.steps[i].effects});
    for (Index i = 0; i < end.operations; ++i) add(recording.operations[i]);
    for (Index i = 0; i < end.effects; ++i) add(recording.effects[i]);
    for (const RecordedEdge& edge : recording.edges)
      if (edge.to < end.operations)
        made_->edges.push_back({edge.from + operation_, edge.to + operation_});
    add_once(made_->fields, recording.fields);
    add_once(made_->trees, recording.trees);
    for (const OnShards& each : recording.on_shards)
      if (each.step < part.steps && std::ranges::find(made_->on_shards, each.field,
                                                      &OnShards::field) == made_->on_shards.end())
        made_->on_shards.push_back({each.field, each.found, each.step + step_});
    for (const OnShardsAfter& each : recording.on_shards_after)
      if (each.step < part.steps)
        made_->on_shards_after.push_back(
            {each.step + step_, each.field, each.ended, each.after, each.used});
  }

  std::unique_ptr<Recording> finish() {
    merge(made_->edges);
    find_chain_edges(*made_);
    return std::move(made_);
  }

 private:
  void add_places(const Recording& recording) {
    places_.clear();
    for (const Place& place : recording.places) {
      const auto [at, is_new] =
          place_of_.try_emplace(place.set, static_cast<Index>(made_->places.size()));
      places_.push_back(at->second);
      if (is_new) {
        made_->places.push_back(place);
        outcome_.add_place();
        continue;
      }
      REFRAIN_ASSERT(place.is_in(outcome_.places[at->second]),
                     "recordings are joined that have followed each other");
    }
  }

  void add(const Operation& recorded) {
    Operation& operation = made_->operations.emplace_back(recorded);
    operation.step += step_;
    if (auto* fold = operation.work_as<Fold>(); fold != nullptr && fold->reducer != kNone)
      fold->reducer += operation_;
    if (auto* fill = operation.work_as<Fill>()) place(fill->source);
  }

  /// A value that is pending when the part begins may have been filled by a part before. Called before the part's
  /// effects are added.
  void place(FillSource& source) const {
    if (!source.entry) {
      source.index += step_;
      return;
    }
    source.index = places_[source.index];
    const Index step = outcome_.places[source.index].fill.step;
    if (step != kNone) source = {false, step};
  }

  /// With the edges to its operation from those of the parts before.
  void add(Effect effect) {
    if (effect.change != analysis::StateChange::empty_use) effect.place = places_[effect.place];
    effect.by += effect.change == analysis::StateChange::pend ? step_ : operation_;
    made_->effects.push_back(effect);
    outcome_.apply(effect, [&](OperationRef earlier) {
      if (earlier.number < operation_) made_->edges.push_back({earlier.number, effect.by});
    });
  }

  template <class T>
  static void add_once(std::vector<T>& all, const std::vector<T>& more) {
    for (const T& each : more)
      if (std::ranges::find(all, each) == all.end()) all.push_back(each);
  }

  std::unique_ptr<Recording> made_ = std::make_unique<Recording>();
  Outcome outcome_{*made_};
  std::unordered_map<const analysis::EquivalenceSet*, Index> place_of_;
  // Of the part that is being added: its places here, and how much comes before it.
  std::vector<Index> places_;
  Index step_ = 0, operation_ = 0;
};

}  // namespace

std::unique_ptr<Recording> join(std::span<const Prefix> parts) {
  Joiner joiner;
  for (const Prefix& part : parts) joiner.add(part);
  return joiner.finish();
}

}  // namespace refrain::trace
