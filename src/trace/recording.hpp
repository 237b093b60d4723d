#pragma once
// A recorded trace: the calls that were made, the operations that the analysis found for them, with the
// edges between them, and everything it did to its state on the way. With that, what the analysis would do
// when the same calls are made again in the same state is known beforehand (dynamic tracing paper, IV.B).
//
// *The same state* is the precondition: of every piece that the trace touches, the same instances are valid
// and a fill is pending or not, as then. It is an equality. The paper asks only that what was valid then is
// valid now; but where more is valid now the analysis may take its copies from somewhere else.
//
// Every prefix of a recording, cut between two calls, is a recording of those calls: operations, edges and
// effects are in launch order, and each is caused by a call and by what came before it.
//
// A recording names pieces and instances by address. It is *stale*, and never looked at again, when a region
// tree it used is gone, a field was cut into other pieces, or another choice of instances might be made. Where
// regions are made and destroyed in it, each replay has instances of its own (trace/own_instances.hpp).
//
// Owner: the context's thread. Immutable once made, but for what its names of instances stand for.

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "analysis/logs.hpp"
#include "analysis/movement.hpp"
#include "data/region_tree.hpp"
#include "graph/node.hpp"
#include "trace/recording_graph.hpp"

namespace refrain::trace {

/// The position of an operation, a step or a place in its recording.
using Index = std::uint32_t;
constexpr Index kNone = ~Index{0};

/// Mostly one.
using Instances = boost::container::small_vector<analysis::Instance*, 1>;

/// A piece that the trace touches, and how it has to be found: the precondition.
struct Place {
  analysis::FieldState* field = nullptr;
  analysis::Piece* piece = nullptr;
  Instances valid;       ///< exactly these, by number
  bool pending = false;  ///< a fill is pending

  [[nodiscard]] bool holds() const;
  friend bool operator==(const Place&, const Place&) = default;
};

/// One change of the analysis' state.
struct Effect {
  analysis::StateChange change = analysis::StateChange::read;
  Index by = 0;     ///< a use or a look: the operation; pend, end, gone: the step
  Index place = 0;  ///< look, gone: none
  analysis::Instance* instance = nullptr;  ///< pend, end: none
  friend bool operator==(const Effect&, const Effect&) = default;
};

/// Where the value comes from that a fill operation writes.
struct FillSource {
  bool entry =
      false;  ///< pending at `index`, a place, when the trace began; or filled by `index`, a step
  Index index = 0;
  friend bool operator==(const FillSource&, const FillSource&) = default;
};

struct Fill {
  const analysis::Instance* target = nullptr;
  data::IndexSpaceRef points;
  std::size_t value_size = 0;
  FillSource source;
};

struct Fold {
  analysis::FoldPayload payload;  ///< but for the accumulator
  Index reducer = 0;
};

struct Operation {
  exec::NodeKind kind = exec::NodeKind::task;
  const exec::NodeInfo* info = nullptr;
  Index step = 0;
  std::size_t rank = 0;  ///< as analysis::Origin
  int argument = -1;
  std::variant<std::monostate, analysis::CopyPayload, Fill, Fold>
      work;  ///< of tasks and reductions of their values the runtime knows it
};

/// What a log is told of a copy, a fill or a fold.
void describe_work(const Operation& operation, analysis::LoggedOperation& logged);

/// An operation that uses an instance at a place before the trace has written it: it comes after those who
/// used it before the trace. `standing`: the trace never writes it, so this holds for every replay that
/// follows as well.
struct EntryUse {
  Index operation = 0;
  Index place = 0;
  analysis::Instance* instance = nullptr;
  analysis::StateChange change = analysis::StateChange::read;
  bool standing = false;
  /// Nothing but reads came before it in the trace, or folds of its own group: so in the replay that follows,
  /// it meets what this one has left. `after_reads`: there were reads, and it only writes.
  bool meets = false, after_reads = false;
  friend bool operator==(const EntryUse&, const EntryUse&) = default;
};

/// An instance that each replay has of its own.
struct OwnInstance {
  std::unique_ptr<analysis::Instance>
      name;                  ///< stands for it; its live_index is the number in `own`
  Index made = kNone;        ///< by this step; kNone: found there
  Index ended = kNone;       ///< by this step
  std::vector<Index> users;  ///< of the trace's operations, who may use it when it ends
};

/// A task's argument in such an instance.
struct OwnArgument {
  Index operation = 0;
  std::uint32_t argument = 0;
  Index own = 0;
};

/// One call of the program.
struct Step {
  Index operations = 0, effects = 0;  ///< how many there are up to its end
};

/// A field whose pieces and instances the recording names.
struct FieldUsed {
  analysis::FieldState* field = nullptr;
  std::uint32_t shape_epoch = 0, instance_epoch = 0;
  bool own = false;  ///< each replay has its own instances here: instance_epoch says nothing ...
  std::uint32_t found = 0;  ///< ... but so many must be found, alike and in the same order
  friend bool operator==(const FieldUsed&, const FieldUsed&) = default;
};

struct Recording {
  std::vector<Step> steps;
  std::vector<Operation> operations;
  std::vector<RecordedEdge> edges;  ///< by target
  std::vector<Effect> effects;
  std::vector<Place> places;
  std::vector<EntryUse> entry_uses;  ///< by operation
  std::vector<FieldUsed> fields;
  struct Tree {
    data::RegionTree* tree;
    std::uint64_t uid;
    friend bool operator==(const Tree&, const Tree&) = default;
  };
  std::vector<Tree> trees;
  std::vector<RecordedEdge> carried;       ///< into the next replay; idempotent recordings only
  std::vector<OwnInstance> own;            ///< in the order of their making
  std::vector<OwnArgument> own_arguments;  ///< by operation and argument
  /// After it, its precondition holds, no group of relaxed folds goes on from it into the next replay, and
  /// no instance of its own is left.
  bool idempotent = false;

  /// The operator of a relaxed fold; null of all other operations.
  [[nodiscard]] analysis::FoldFunction fold_of(Index operation) const {
    const auto* fold = std::get_if<Fold>(&operations[operation].work);
    return fold != nullptr ? fold->payload.relaxed : nullptr;
  }
  /// The name of an instance that each replay has of its own; null: it is the same for all.
  [[nodiscard]] const OwnInstance* own_of(const analysis::Instance* instance) const {
    const bool named = instance != nullptr && instance->storage == analysis::Storage::none;
    return named ? &own[instance->live_index] : nullptr;
  }
  /// Of a task's argument.
  [[nodiscard]] analysis::Instance* own_argument(Index operation, std::uint32_t argument) const;
  /// Whether each replay has instances of its own in one of its fields.
  [[nodiscard]] bool has_own() const { return std::ranges::any_of(fields, &FieldUsed::own); }
  /// Whether what it names is still there, cut and chosen as then.
  [[nodiscard]] bool stale() const;
  /// Whether its precondition holds. Not of a stale one. Then its names of found instances stand for these.
  [[nodiscard]] bool holds() const;
  /// Whether a field has the instances that are to be found there.
  [[nodiscard]] bool finds(const FieldUsed& used) const;
  /// Bytes it takes.
  [[nodiscard]] std::size_t bytes() const;
};

}  // namespace refrain::trace
