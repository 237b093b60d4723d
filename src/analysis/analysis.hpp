#pragma once
// The dependence and coherence analysis of one context. It turns point tasks, fills and copies, in program order, into
// nodes of the task graph, with exactly the edges that the naive analysis gives (docs/analysis.md).
//
// Rules (dynamic tracing paper, IV.A), per equivalence set of a field and instance:
//   R1  a read of a valid instance needs no data movement;
//   R2  a read of an invalid instance first makes it valid: by the pending fill if there is one,
//       otherwise by a copy from the nearest valid instance; other instances stay valid;
//   W   a write leaves the written instance as the only valid one, and no fill pending.
// Order within one instance follows from its use state (analysis/use_state.hpp). Different instances of the same points
// are ordered only by copies. A reduction goes to an accumulator of the task; an operation of its own, a fold, brings
// it home and acts as a read-write. So folds happen in launch order, as soon as their turn has come, except relaxed
// ones, which commute.
//
// Owner: the context's thread. Cost of a point task whose regions were used before: a walk over the
// equivalence sets of each argument; no set algebra, no allocation.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "analysis/field_state.hpp"
#include "analysis/instance.hpp"
#include "analysis/logs.hpp"
#include "analysis/message.hpp"
#include "analysis/movement.hpp"
#include "graph/executor.hpp"
#include "graph/scope.hpp"
#include "refrain/counters.hpp"
#include "refrain/privilege.hpp"
#include "refrain/reduction.hpp"

namespace refrain::analysis {

/// The point task, or call of the program, that the analysis is working for: for the log and for messages.
struct Origin {
  std::uint64_t call = 0;
  std::size_t rank = 0;
  int argument = -1;
  const exec::NodeInfo* info = nullptr;
  exec::NodeKind kind = exec::NodeKind::task;
  /// The program runs on several shards, which call its failures by call, rank and argument.
  bool on_shards = false;
};

/// What a failure of the operation is known by.
inline exec::Failure::Origin failure_origin(const exec::Node& node, const Origin& origin) {
  const std::uint64_t scope = node.scope->identity();
  if (!origin.on_shards) return {scope, node.seq};
  return {scope, origin.call, static_cast<std::uint32_t>(origin.rank),
          static_cast<std::uint32_t>(origin.argument + 1)};
}

/// "task 'scale' launched at main.cpp:12, argument 1: ", for the beginning of a message.
std::string describe(const Origin& origin);

/// Collects the predecessors of one node, each once as far as repetitions are close together. Own code in place of
/// Boost's small_vector: that one checks its capacity for the first edge, which is mostly the only one.
class Edges {
 public:
  Edges(exec::Node& to, GraphLog* log, std::uint64_t scope) : to_(to), log_(log), scope_(scope) {}
  Edges(const Edges&) = delete;
  void add(const exec::NodeRef& from) {
    if (from.seq == to_.seq) return;  // two arguments of one task that meet without conflict
    if (size_ > 0) [[unlikely]]
      return add_further(from);
    data_[size_++] = from;
  }
  /// add(), for the order rules.
  [[nodiscard]] auto adder() {
    return [this](const exec::NodeRef& from) { add(from); };
  }
  [[nodiscard]] exec::Node& to() const { return to_; }
  [[nodiscard]] std::span<const exec::NodeRef> all() const { return {data_, size_}; }
  /// Tells the log, if there is one.
  void log() const {
    if (log_ == nullptr) [[likely]]
      return;
    for (const exec::NodeRef& from : all()) log_->edge(scope_, from.seq, to_.seq);
  }

 private:
  static constexpr std::size_t kLookBack = 8, kInline = 8;
  /// Not initialised: most of it is never used.
  union Few {
    Few() {}
    exec::NodeRef edges[kInline];
  };
  void add_further(const exec::NodeRef& from) {
    for (std::size_t i = size_ > kLookBack ? size_ - kLookBack : 0; i < size_; ++i)
      if (data_[i].seq == from.seq) return;
    if (size_ == capacity_) grow();
    data_[size_++] = from;
  }
  [[gnu::noinline]] void grow();

  exec::Node& to_;
  GraphLog* log_;
  std::uint64_t scope_;
  exec::NodeRef* data_ = few_.edges;
  std::size_t size_ = 0, capacity_ = kInline;
  std::unique_ptr<exec::NodeRef[]> more_;  ///< instead of few_
  Few few_;
};

/// Counted by the owner.
struct AnalysisCounters : OperationCounters {
  std::uint64_t waited_ns = 0;  ///< for memory
  struct Link {
    std::uint64_t copies = 0, bytes = 0;
  };
  /// Per pair of memories, from * memories + to. Of a machine with many memories, as only a simulation has, none.
  std::vector<Link> links;
  static std::size_t links_of(const Machine& machine) {
    const std::size_t memories = machine.memories().size();
    return memories <= kMostMemories ? memories * memories : 0;
  }

  void operator+=(const AnalysisCounters& more);
  void count_copy(std::size_t link, std::uint64_t bytes) {
    ++copies;
    copied_bytes += bytes;
    if (link >= links.size()) [[unlikely]]
      return;
    ++links[link].copies;
    links[link].bytes += bytes;
  }

 private:
  static constexpr std::size_t kMostMemories = 1024;
};

/// The operation that made the last instance. A launch makes many, which share its name.
class Maker {
 public:
  const std::shared_ptr<const std::string>& name(const exec::NodeInfo& info, exec::NodeKind kind);

 private:
  exec::NodeInfo info_;
  exec::NodeKind kind_{};
  std::shared_ptr<const std::string> name_;
};

class Analysis {
 public:
  Analysis(exec::Executor& executor, exec::Scope& scope, Memories& memories, std::uint64_t scope_id,
           GraphLog* log);

  /// Where an instance is wanted: an ArgumentMapping.
  struct Wanted {
    std::span<const MemoryId> memories;
    Layout layout{};
    WhenFull when_full = WhenFull::evict;
  };
  /// The instance for a field over `points` in the first of the memories that has room: an attached one, or the first
  /// made that contains the points, or a new one (Extent::whole: of the field's extent). With WhenFull::next nothing gives
  /// way where a later memory has one already. Throws OutOfMemory. An instance that was used since begin_point() does not
  /// give way to it.
  Instance& instance_for(FieldState& field, const data::IndexSpaceRef& points, const Wanted& wanted,
                         const Origin& origin);

  /// The points are used from here on: instances of the whole field that have no room for them are replaced by larger
  /// ones. Before instances are chosen for them. Throws OutOfMemory.
  void widen(FieldState& field, const data::IndexSpaceRef& points, const Origin& origin) {
    UsedExtent* const used = field.used();
    if (used == nullptr) return;
    used->widen(points);
    if (used->has_grown()) [[unlikely]]
      grow(field, origin);
  }

  /// A new instance, for an operation of this name; null where the memory has no room for it.
  Instance* make_instance(FieldState& field, const data::IndexSpaceRef& space, MemoryId memory,
                          const Layout& layout, const exec::NodeInfo* info, exec::NodeKind kind);

  /// A new point task begins: the instances that it uses from here on are not evicted.
  void begin_point() { ++point_; }
  /// Notes the instances that replayed point tasks have used: `points` tasks, and for each instance the number, from 1,
  /// of the last task that used it.
  void note_uses(std::span<const std::pair<Instance*, std::uint64_t>> uses, std::uint64_t points) {
    for (const auto& [used, point] : uses)
      if (Instance* instance = present(used)) instance->last_use = point_ + point;
    point_ += points;
  }
  /// Notes that the present point task uses the instance.
  void touch(Instance& instance) { instance.last_use = point_; }

  /// Notes a reader of an instance at an equivalence set, and an operation with an argument in an instance that has no
  /// points. Complete readers are forgotten when the list is full.
  void note_reader(Use& use, exec::NodeRef node) const;
  static void note_empty_user(Instance& instance, const exec::NodeRef& node);

  /// Whether the instance holds the latest values of the whole footprint (rule R1).
  static bool is_valid(const Footprint& footprint, Instance& instance) {
    for (EquivalenceSet* set : walk(footprint, instance))
      if (!set->at(&instance).valid) [[unlikely]]
        return false;
    return true;
  }
  /// Rules R1 and R2 for all equivalence sets of the footprint: issues the fills and copies that are missing.
  void make_valid(FieldState& field, Footprint& footprint, Instance& instance,
                  const Origin& origin);

  /// Throws UsageError unless every equivalence set of the footprint has values: valid somewhere, or filled.
  static void check_values(FieldState& field, const Footprint& footprint, const Origin& origin);

  /// The edges and the state change of one region argument of node `edges.to()`. A fold is a write.
  void use(Edges& edges, Footprint& footprint, Instance& instance, Privilege privilege);
  /// The same of a fold that commutes with relaxed folds beside it.
  void use_relaxed(Edges& edges, Footprint& footprint, Instance& instance, FoldFunction fold);

  /// What a report or an error calls an operation: its name and a source line, which last as long as this.
  const exec::NodeInfo& info_for(const char* name, const Where& where);

  [[nodiscard]] Edges edges_to(exec::Node& node) { return {node, log_, scope_id_}; }
  /// A log wants every edge, those from complete operations too; without one these may be forgotten.
  [[nodiscard]] bool has_log() const { return log_ != nullptr || state_log_ != nullptr; }
  /// From here on `log` is told of every change of state; null: no log.
  void set_state_log(StateLog* log) { state_log_ = log; }
  /// Whether all that happens is told to a StateLog: it is recorded.
  [[nodiscard]] bool is_recorded() const { return state_log_ != nullptr; }
  /// A call changes FieldState::on_shards, or goes by it.
  void share(FieldState& field, std::shared_ptr<const void> after) {
    if (state_log_ != nullptr) state_log_->shared(field, after);
    field.on_shards = std::move(after);
  }
  /// Before an operation is published by which shards send each other something: what it works on, if it is recorded.
  void note(const MessagePayload& message) {
    if (state_log_ != nullptr) state_log_->message(message);
  }
  void note(const ExchangePayload& exchange) {
    if (state_log_ != nullptr) state_log_->exchange(exchange);
  }
  void note(const TakePayload& take) {
    if (state_log_ != nullptr) state_log_->take(take);
  }
  void note_give(const FoldPayload& given, const exec::NodeRef& reducer) {
    if (state_log_ != nullptr) state_log_->give(given, reducer);
  }
  /// Tells the logs, if there are any, of an operation: of one that moves or holds data, what it works on.
  void log_operation(const exec::Node& node, const Origin& origin,
                     const FieldState* field = nullptr, MemoryId source = 0, MemoryId target = 0,
                     const data::IndexSpaceRef& points = {});
  /// Publishes the node with the edges collected.
  void publish(const Edges& edges, bool inline_if_ready = false) {
    edges.log();
    const std::span<const exec::NodeRef> all = edges.all();
    if (state_log_ != nullptr) [[unlikely]]
      state_log_->operation(edges.to(), all);
    counters_.edges += all.size();
    if (inline_if_ready) [[unlikely]]
      executor_.publish_inline(edges.to(), all);
    else executor_.publish(edges.to(), all);
  }

  /// The fold of one argument of a reducing task, with the fills and copies that it needs. Called before
  /// the reducer is published: its run function must find the fold's payload. `relaxed`: its operator if it
  /// commutes with relaxed folds beside it, null if it has to keep its place in the order. `gated`: the reducer takes a
  /// slot of the gate.
  FoldPayload& issue_fold(const exec::NodeRef& reducer, FieldState& field, Footprint& footprint,
                          Instance& target, const ReductionOp* relaxed, const Origin& origin,
                          bool gated = true);
  /// The fold of what other shards contribute, which is there after `taken`. Payload: its points, its message and section,
  /// and its reducer.
  void issue_fold(const exec::NodeRef& taken, FoldPayload payload, Instance& target,
                  const ReductionOp* relaxed, const Origin& origin);

  /// Adds a relaxed fold to its group, which is begun when there is none. A group that has grown forgets complete
  /// folds.
  void join_group(Use& use, FoldFunction fold, const exec::NodeRef& self) const;

  /// fill(): everything in the footprint becomes pending.
  void fill(FieldState& field, Footprint& footprint, const std::shared_ptr<const FillValue>& value);

  /// Nothing is valid any more: the field has no values until it is written.
  static void invalidate(FieldState& field, Footprint& footprint);

  /// Forgets complete readers, on which no later operation can depend, so that more equivalence sets have the same
  /// state.
  void forget_complete(FieldState& field) const {
    if (!has_log()) field.forget_complete_readers();
  }

  /// Operations that use an instance and are not in the state: those of replays.
  using Users = std::function<std::vector<exec::NodeRef>(Instance&)>;
  /// The field's tree is being destroyed: gives back all instances, and leaves the field as new.
  void end_field(FieldState& field, const Users& users = {});
  void release_instance(Instance& instance);

  [[nodiscard]] const AnalysisCounters& counters() const { return counters_; }
  AnalysisCounters& counters() { return counters_; }
  InstanceStore& store() { return store_; }

  /// An operation that copies one field to another at the target's points.
  void copy_field(FieldState& from, Footprint& source, Instance& source_instance, FieldState& to,
                  Footprint& target, Instance& target_instance, Origin origin);

 private:
  /// SetRuns::walk. Mostly it does not take the field, which is then no line of the cache that a launch has to read.
  static std::span<EquivalenceSet* const> walk(const Footprint& footprint,
                                               const Instance& instance) {
    if (!footprint.many) [[likely]]
      return footprint.all();
    return instance.field->runs().walk(footprint);
  }
  /// Makes the target valid, by a copy of the source; null: by the pending fill.
  void issue_move(FieldState& field, EquivalenceSet& set, Use* source, Use& target,
                  const Origin& origin);
  const exec::NodeInfo& info_for(const char* name, const Origin& origin);
  void publish_copy(const Edges& edges);
  exec::Node& make_fold(FoldPayload payload, const Origin& origin);
  void publish_fold(exec::Node& fold, const exec::NodeRef& after, Footprint& footprint,
                    Instance& target, const ReductionOp* relaxed, const Origin& origin);
  Use* nearest_valid(const FieldState& field, EquivalenceSet& set, MemoryId target) const;
  template <class Payload>
  exec::Node& make_node(exec::NodeKind kind, void (*run)(exec::Node&, exec::Execution&),
                        const exec::NodeInfo* info, Payload payload);
  static void forget_complete(FoldGroup<exec::NodeRef>& group);
  /// What may give way to a new instance; nothing: it has to fit beside what there is.
  using MayGiveWay = std::optional<WhenFull>;
  Instance* try_memory(FieldState& field, const data::IndexSpaceRef& points, MemoryId memory,
                       const Layout& layout, const Origin& origin, MayGiveWay may_give_way,
                       bool& shortage);
  void retire(Instance& instance, std::vector<exec::NodeRef> users);
  bool evict_one(MemoryId memory, const Origin& origin, WhenFull when_full);
  [[nodiscard]] Instance* least_recently_used_copy(MemoryId memory) const;
  void grow(FieldState& field, const Origin& origin);
  template <class Refuge>
  bool move_out(Instance& victim, const Origin& origin, Refuge refuge);
  [[noreturn]] void fail_out_of_memory(FieldState& field, const data::IndexSpaceRef& points,
                                       std::span<const MemoryId> memories, const Layout& layout,
                                       const Origin& origin);

  exec::Executor& executor_;
  exec::Scope& scope_;
  const Machine& machine_;
  std::uint64_t scope_id_;
  GraphLog* log_;
  StateLog* state_log_ = nullptr;
  InstanceStore store_;
  /// By name and source line; so no more than the program has lines that launch.
  std::map<std::tuple<const char*, const char*, std::uint32_t>, exec::NodeInfo> infos_;
  Maker maker_;
  AnalysisCounters counters_;
  std::uint64_t point_ = 0;
};

}  // namespace refrain::analysis
