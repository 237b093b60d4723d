#include "trace/join.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/order_rules.hpp"
#include "base/assert.hpp"
#include "trace/outcome.hpp"

namespace refrain::trace {

namespace {

/// Who has used each instance at each place, of the operations so far, by number.
class Users {
 public:
  explicit Users(const Recording& recording)
      : recording_(recording), places_(recording.places.size()) {}

  /// Calls add(operation, kind) for those that the effect's operation comes after, and adds it to them.
  template <class Add>
  void apply(const Effect& effect, Add add) {
    analysis::Use& use = at(effect);
    const analysis::FoldFunction fold = recording_.fold_of(effect.by);
    analysis::before(use, change_of(effect.kind), fold,
                     [&](const exec::NodeRef& earlier, exec::EdgeKind kind) {
                       add(static_cast<Index>(earlier.seq), kind);
                     });
    const exec::NodeRef self = name(effect.by);
    if (effect.kind == Effect::Kind::read) {
      use.readers.push_back(self);
    } else if (effect.kind == Effect::Kind::fold) {
      analysis::group_of(use, fold).folds.push_back(self);
    } else {
      use.readers.clear();
      use.group.reset();
      use.writer = self;
    }
  }

 private:
  /// Outside of any scope.
  static exec::NodeRef name(Index operation) {
    static exec::Node nobody;
    return {&nobody, operation};
  }
  analysis::Use& at(const Effect& effect) {
    auto& uses = places_[effect.place];
    for (analysis::Use& use : uses)
      if (use.instance == effect.instance) return use;
    analysis::Use& use = uses.emplace_back();
    use.instance = effect.instance;
    return use;
  }

  const Recording& recording_;
  std::vector<boost::container::small_vector<analysis::Use, 1>> places_;
};

/// By target; one edge for two operations, of the stronger kind.
void merge(std::vector<RecordedEdge>& edges) {
  const auto order = [](const RecordedEdge& a, const RecordedEdge& b) {
    return std::tuple(a.to, a.from, b.kind) < std::tuple(b.to, b.from, a.kind);
  };
  std::ranges::sort(edges, order);
  const auto same = [](const RecordedEdge& a, const RecordedEdge& b) {
    return a.from == b.from && a.to == b.to;
  };
  const auto repeated = std::ranges::unique(edges, same);
  edges.erase(repeated.begin(), repeated.end());
}

class Joiner {
 public:
  void add(const Prefix& part) {
    const Recording& recording = *part.recording;
    REFRAIN_ASSERT(!recording.has_own(), "only what names instances itself is joined");
    const std::vector<LeftValid> before =
        places_after(*made_, static_cast<Index>(made_->effects.size()));
    step_ = static_cast<Index>(made_->steps.size());
    operation_ = static_cast<Index>(made_->operations.size());
    const Step end = recording.steps[part.steps - 1];
    add_places(recording, before);
    for (Index i = 0; i < part.steps; ++i) add(recording.steps[i]);
    for (Index i = 0; i < end.operations; ++i) add(recording.operations[i], before);
    for (Index i = 0; i < end.effects; ++i) add(recording.effects[i]);
    for (const RecordedEdge& edge : recording.edges)
      if (edge.to < end.operations)
        made_->edges.push_back({edge.from + operation_, edge.to + operation_, edge.kind});
    add_what_it_names(recording);
    ends_.push_back(static_cast<Index>(made_->operations.size()));
  }

  std::unique_ptr<Recording> finish() {
    add_edges_between();
    find_chain_edges(*made_);
    return std::move(made_);
  }

 private:
  void add_places(const Recording& recording, const std::vector<LeftValid>& before) {
    places_.clear();
    for (const Place& place : recording.places) {
      const auto [at, is_new] =
          place_of_.try_emplace(place.piece, static_cast<Index>(made_->places.size()));
      places_.push_back(at->second);
      if (is_new) {
        made_->places.push_back(place);
        continue;
      }
      const LeftValid& left = before[at->second];
      REFRAIN_ASSERT(left.valid == place.valid && left.pending == place.pending,
                     "recordings are joined that have followed each other");
    }
  }

  void add(const Step& step) {
    const Step last = step_ == 0 ? Step{} : made_->steps[step_ - 1];
    made_->steps.push_back({last.operations + step.operations, last.effects + step.effects});
  }

  void add(const Operation& recorded, const std::vector<LeftValid>& before) {
    Operation& operation = made_->operations.emplace_back(recorded);
    operation.step += step_;
    if (auto* fold = std::get_if<Fold>(&operation.work)) fold->reducer += operation_;
    if (auto* fill = std::get_if<Fill>(&operation.work)) place(fill->source, before);
  }

  /// What is pending when the part begins may have been filled by a part before.
  void place(FillSource& source, const std::vector<LeftValid>& before) const {
    if (!source.entry) {
      source.index += step_;
      return;
    }
    source.index = places_[source.index];
    if (source.index >= before.size()) return;
    if (const Index step = before[source.index].fill; step != kNone) source = {false, step};
  }

  void add(Effect effect) {
    if (effect.kind != Effect::Kind::look) effect.place = places_[effect.place];
    effect.by += effect.kind == Effect::Kind::pend ? step_ : operation_;
    made_->effects.push_back(effect);
  }

  void add_what_it_names(const Recording& recording) {
    for (const FieldUsed& used : recording.fields)
      if (std::ranges::find(made_->fields, used) == made_->fields.end())
        made_->fields.push_back(used);
    for (const Recording::Tree& used : recording.trees)
      if (std::ranges::find(made_->trees, used) == made_->trees.end()) made_->trees.push_back(used);
  }

  void add_edges_between() {
    Users users(*made_);
    auto end = ends_.begin();
    Index begin = 0;
    for (const Effect& effect : made_->effects) {
      if (!concerns_operation(effect)) continue;
      while (effect.by >= *end) begin = *end++;
      users.apply(effect, [&](Index earlier, exec::EdgeKind kind) {
        if (earlier < begin) made_->edges.push_back({earlier, effect.by, kind});
      });
    }
    merge(made_->edges);
  }

  std::unique_ptr<Recording> made_ = std::make_unique<Recording>();
  std::unordered_map<const analysis::Piece*, Index> place_of_;
  std::vector<Index> ends_;  ///< operations up to the end of each part
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
