#pragma once
// Two listeners of the analysis. A GraphLog is told of every operation and every edge, complete ones too, in launch
// order: --refrain:graph draws it, and tests compare it with the naive analysis. A StateLog is told of every change of
// state while a trace is recorded, so that the changes can be repeated without the analysis (trace/recorder.hpp).
//
// Called on the thread of the context (of a nested one: on the thread that runs the parent), so a log that several
// contexts share must lock.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "analysis/use_state.hpp"
#include "data/index_space.hpp"
#include "graph/node.hpp"
#include "refrain/machine.hpp"

namespace refrain::analysis {

struct ExchangePayload;
struct FillValue;
struct FoldPayload;
struct MessagePayload;
struct Origin;
struct TakePayload;
struct EquivalenceSet;
class FieldState;

/// One node of the task graph.
struct LoggedOperation {
  std::uint64_t scope = 0;  ///< the context; 0 is the program's
  std::uint64_t seq = 0;    ///< names the operation within the scope, ascending
  exec::NodeKind kind = exec::NodeKind::task;
  /// Number of the call that caused it: how many launch, reduce, fill, copy, access, attach, detach and
  /// destroy calls this context had made before (a partition by a field's values makes an access).
  std::uint64_t call = 0;
  std::size_t rank = 0;  ///< point of a group launch, in the order of its domain
  /// Of copies, fills and folds: the requirement they serve (copy(): 0 is its source).
  int argument = -1;
  /// Of copies, fills and folds: the field and memory they write, and the memory they read; of accesses and detach:
  /// the data that the program holds.
  std::string field;
  MemoryId source = 0, target = 0;
  data::IndexSpaceRef points;
  const exec::NodeInfo* info = nullptr;
};

class GraphLog {
 public:
  virtual ~GraphLog() = default;
  virtual void operation(const LoggedOperation& operation) = 0;
  virtual void edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to) = 0;
};

class StateLog {
 public:
  virtual ~StateLog() = default;
  /// A use, by an operation that is about to be told of. Called before the change. No equivalence sets: an
  /// argument without points, which refers to the instance all the same.
  virtual void change(StateChange change, std::span<EquivalenceSet* const> sets, Instance& instance,
                      const exec::Node& operation) = 0;
  /// fill(): the value becomes pending at the equivalence set.
  virtual void pend(FieldState& field, EquivalenceSet& set,
                    const std::shared_ptr<const FillValue>& value) = 0;
  /// An instance was made for an argument. `shortage`: in a memory that was not the first asked for, since
  /// there was no room then.
  virtual void made(Instance& instance, bool shortage) = 0;
  /// The field's region is about to end, and all instances with it.
  virtual void ends(FieldState& field) = 0;
  /// An instance is about to end, though its region does not.
  virtual void gives_up(Instance& instance) = 0;
  /// Before a call changes who has which data of the field on all shards, or goes by it: `after` is what
  /// FieldState::on_shards becomes.
  virtual void shared(FieldState& field, const std::shared_ptr<const void>& after) = 0;
  /// The next operation that is told of is a message, or an exchange; it awaits contributions; it gives the reducer's away.
  virtual void message(MessagePayload payload) = 0;
  virtual void exchange(ExchangePayload payload) = 0;
  virtual void take(TakePayload payload) = 0;
  virtual void give(const FoldPayload& payload, const exec::NodeRef& reducer) = 0;
  /// The call that an operation is for.
  virtual void origin(const exec::Node& operation, const Origin& origin) = 0;
  /// An operation is about to be published.
  virtual void operation(const exec::Node& operation,
                         std::span<const exec::NodeRef> predecessors) = 0;
  /// Something has happened that a replay could not repeat. `what` completes a sentence: "memory was attached".
  virtual void untraceable(const char* what) = 0;
};

}  // namespace refrain::analysis
