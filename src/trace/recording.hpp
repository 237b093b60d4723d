#pragma once
// A recorded trace: its calls, the operations that the analysis found for them, the edges between these, and the
// *effects*: every change of the analysis' state on the way. When the same calls are made again in the same state, the
// analysis would do the same again, so it need not be asked (dynamic tracing paper, IV.B).
//
// *The same state* is the precondition: at every place that the trace touches, exactly the same instances are valid,
// and a fill is pending or not, as then. It is an equality. The paper asks only for the valid instances of then; but
// where more are valid now, the analysis may copy from another one.
//
// Every prefix of a recording, cut between two calls, is a recording of those calls: operations, edges and effects are
// in launch order, and each is caused by its call and the state before it.
//
// A recording names equivalence sets and instances by address. It is *stale*, and never used again, when a region tree
// it used is gone, a field was cut into other equivalence sets, or another choice of instances might be made. Regions
// that are made and destroyed in it have per-replay instances (trace/per_replay_instances.hpp).
//
// Owner: the context's thread. Immutable once made, except for the instances that placeholders are bound to.

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "analysis/extent.hpp"
#include "analysis/field_state.hpp"
#include "analysis/logs.hpp"
#include "analysis/message.hpp"
#include "analysis/movement.hpp"
#include "base/boxed.hpp"
#include "data/region_tree.hpp"
#include "graph/node.hpp"
#include "trace/optimiser.hpp"

namespace refrain::trace {

/// The position of an operation, a step or a place in its recording.
using Index = std::uint32_t;
constexpr Index kNone = ~Index{0};

/// Mostly one.
using Instances = boost::container::small_vector<analysis::Instance*, 1>;

/// Those that are valid in a SetState, by number.
template <class State>
Instances valid_in(const State& state) {
  Instances valid;
  for (const auto& use : state.uses)
    if (use.valid) valid.push_back(use.instance);
  if (valid.size() > 1) std::ranges::sort(valid, {}, &analysis::Instance::number);
  return valid;
}

/// An equivalence set that the trace touches, and the state that it must be found in: the precondition.
struct Place {
  analysis::FieldState* field;
  Instances valid;  ///< exactly these, by number
  analysis::EquivalenceSet* set;
  bool pending;  ///< a fill is pending

  /// With the set's present state.
  Place(analysis::FieldState& of, analysis::EquivalenceSet& at);
  /// Whether a SetState is as this was found. `named(instance)`: the state's name for one of `valid`.
  template <class State, class Named = std::identity>
  [[nodiscard]] bool is_in(const State& state, Named named = {}) const {
    if (pending != static_cast<bool>(state.fill)) return false;
    std::size_t found = 0;
    for (const auto& use : state.uses) {
      if (use.valid && std::ranges::find(valid, use.instance, named) == valid.end()) return false;
      found += use.valid;
    }
    return found == valid.size();
  }
  /// Whether its set is so now.
  [[nodiscard]] bool holds() const;
};

/// One change of the analysis' state.
struct Effect {
  analysis::StateChange change = analysis::StateChange::read;
  Index by = 0;     ///< a use or a look: the operation; pend, end, gone: the step
  Index place = 0;  ///< look (empty_use), gone: none
  analysis::Instance* instance = nullptr;  ///< pend, end: none
};

/// The origin of the value that a fill operation writes.
struct FillSource {
  /// Pending at `index`, a place, when the trace began; or else filled by `index`, a step.
  bool entry = false;
  Index index = 0;
};

struct Fill {
  const analysis::Instance* target = nullptr;
  data::IndexSpaceRef points;
  std::size_t value_size = 0;
  FillSource source;
};

/// What becomes of a contribution, or a part of it: it is folded, or another shard gets it.
struct Fold {
  analysis::FoldPayload payload;  ///< but for the accumulator
  Index reducer = kNone;          ///< kNone: of another shard
  bool gated = false;             ///< the reducer takes a slot of the gate

  [[nodiscard]] bool is_given() const { return payload.target == nullptr; }
};

/// What a copy, a fill, a fold, or an operation of messages works on. Of tasks and reductions of their values the runtime
/// knows it.
using Work = std::variant<analysis::CopyPayload, Fill, Fold, analysis::MessagePayload,
                          analysis::ExchangePayload, analysis::TakePayload>;
/// Puts name(instance) in the place of each instance that it names.
template <class Name>
void rename_instances(Work& work, Name name) {
  if (auto* copy = std::get_if<analysis::CopyPayload>(&work)) {
    copy->source = name(copy->source);
    copy->target = name(copy->target);
  } else if (auto* fill = std::get_if<Fill>(&work)) {
    fill->target = name(fill->target);
  } else if (auto* fold = std::get_if<Fold>(&work)) {
    if (!fold->is_given()) fold->payload.target = name(fold->payload.target);
  } else if (auto* message = std::get_if<analysis::MessagePayload>(&work)) {
    message->instance = name(message->instance);
  }
}

struct Operation {
  exec::NodeKind kind = exec::NodeKind::task;
  const exec::NodeInfo* info = nullptr;
  Index step = 0;
  std::size_t rank = 0;  ///< as analysis::Origin
  int argument = -1;
  std::uint32_t gated_folds = 0;  ///< of a reducer that takes a slot of the gate
  /// None: it is none of these. Most operations are tasks, which need no room for it.
  Boxed<Work> work;

  /// Null: it works on something else.
  template <class T>
  [[nodiscard]] T* work_as() const {
    return work ? std::get_if<T>(&*work) : nullptr;
  }
};

/// Completes the log entry of a copy, a fill, a fold or a message.
void describe_work(const Operation& operation, analysis::LoggedOperation& logged);

/// An operation that uses an instance at a place before the trace has written it: it has predecessors from before the
/// trace. `standing`: the trace never writes it, so the same predecessors stand for every replay that follows.
struct EntryUse {
  Index operation = 0;
  Index place = 0;
  analysis::Instance* instance = nullptr;
  analysis::StateChange change = analysis::StateChange::read;
  bool standing = false;
  /// It is a fold, and in the next replay it comes after the folds that this replay's first fold may have joined.
  bool after_joined = false;
  friend bool operator==(const EntryUse&, const EntryUse&) = default;
};

/// A per-replay instance.
struct PerReplayInstance {
  std::unique_ptr<analysis::Instance> placeholder;  ///< its position is the number in `own`
  Index made = kNone;                               ///< by this step; kNone: found there
  Index ended = kNone;                              ///< by this step
  std::vector<Index> users;  ///< operations of the trace that may use it when it ends
};

/// A task's argument in such an instance.
struct PerReplayArgument {
  Index operation = 0;
  std::uint32_t argument = 0;
  Index own = 0;
};

/// One call of the program.
struct Step {
  Index operations = 0, effects = 0;  ///< how many there are up to its end
};

/// A field whose equivalence sets and instances the recording names.
struct FieldUsed {
  analysis::FieldState* field = nullptr;
  std::uint32_t next_set = 0, instance_epoch = 0;
  bool own = false;         ///< each replay has its own instances here: instance_epoch says nothing
  std::uint32_t found = 0;  ///< of such a field: instances to be found, alike and in the same order
  friend bool operator==(const FieldUsed&, const FieldUsed&) = default;
};

/// A field of which the trace goes by who has which data on all shards, and how that has to be found: a precondition.
struct OnShards {
  analysis::FieldState* field = nullptr;
  std::shared_ptr<const void> found;  ///< FieldState::on_shards
  Index step = 0;                     ///< the first that goes by it

  [[nodiscard]] bool holds() const { return field->on_shards == found; }
};

/// After this step it is so.
struct OnShardsAfter {
  Index step = 0;
  analysis::FieldState* field = nullptr;
  bool ended = false;                 ///< with its region
  std::shared_ptr<const void> after;  ///< FieldState::on_shards
  /// What is used of it here, if that has changed: a region that a replay makes begins without.
  std::shared_ptr<const analysis::UsedExtent> used{};
};

struct Recording {
  std::vector<Step> steps;
  std::vector<Operation> operations;
  std::vector<RecordedEdge> edges;  ///< by target
  std::vector<Effect> effects;
  std::vector<Place> places;
  std::vector<EntryUse> entry_uses;  ///< by operation
  std::vector<FieldUsed> fields;
  std::vector<data::UsedTree> trees;
  std::vector<OnShards> on_shards;
  std::vector<OnShardsAfter> on_shards_after;  ///< by step
  /// Into the next replay, by target; idempotent recordings only.
  std::vector<RecordedEdge> carried;
  std::vector<PerReplayInstance> own;                   ///< in the order of their making
  std::vector<PerReplayArgument> per_replay_arguments;  ///< by operation and argument
  /// After it, its precondition holds, no fold group goes on from it into the next replay, and no per-replay instance
  /// is left.
  bool idempotent = false;

  /// The operator of a relaxed fold; null of all other operations.
  [[nodiscard]] analysis::FoldFunction fold_of(Index operation) const {
    const Fold* const fold = operations[operation].work_as<Fold>();
    return fold != nullptr ? fold->payload.relaxed : nullptr;
  }
  /// The per-replay instance of a placeholder; null: the instance is the same for all replays.
  [[nodiscard]] const PerReplayInstance* per_replay_of(const analysis::Instance* instance) const {
    const bool named = instance != nullptr && instance->storage == analysis::Storage::none;
    return named ? &own[instance->position] : nullptr;
  }
  /// Of a task's argument.
  [[nodiscard]] analysis::Instance* per_replay_argument(Index operation,
                                                        std::uint32_t argument) const;
  /// Whether there are per-replay instances.
  [[nodiscard]] bool has_per_replay() const { return std::ranges::any_of(fields, &FieldUsed::own); }
  /// Whether a tree, an equivalence set or a choice of instance that it names may have changed.
  [[nodiscard]] bool stale() const;
  /// Whether the precondition of a recording that is not stale holds. Binds the placeholders of found instances.
  [[nodiscard]] bool holds() const;
  /// Whether a field has the instances that are to be found there; binds their placeholders.
  [[nodiscard]] bool finds(const FieldUsed& used) const;
  /// Bytes it takes.
  [[nodiscard]] std::size_t bytes() const;
};

}  // namespace refrain::trace
