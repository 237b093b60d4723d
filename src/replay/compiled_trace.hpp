#pragma once
// A recording that is ready to be replayed: its template, what the template's operations work on, and what each replay
// has of its own. Dynamic tracing paper, section IV; execution templates: Mashayekhi et al.
//
// Making one lays out what all replays share (payloads of tasks, records of launches), leaves out the edges that others
// imply, and compiles the rest into a template (graph/template.hpp). That takes about as long as three analyses. A
// replay then takes a slot, which has its own values, and is issued step by step (replay/replay_cursor.hpp).
//
// Owner: the context's thread. Threads that run operations read what is the same for all replays, and of their replay
// what the owner has written before it issued them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "analysis/analysis.hpp"
#include "graph/replays.hpp"
#include "launch/call_identity.hpp"
#include "launch/future_state.hpp"
#include "launch/launch_record.hpp"
#include "launch/operation_detail.hpp"
#include "replay/trace_execution.hpp"
#include "trace/outcome.hpp"
#include "trace/recorded_call.hpp"

namespace refrain::runtime {

struct ContextCore;

class CompiledTrace;

/// What a replay has of its own: its slot's, from one replay to the next.
struct ReplayValues {
  using Fill = std::shared_ptr<const analysis::FillValue>;
  /// What an operation works on that is no task: a fill operation on what it writes.
  using Work = std::variant<Fill, analysis::FoldPayload, FutureReduction,
                            std::shared_ptr<analysis::Exchange>, analysis::Message::Turn,
                            analysis::TakePayload>;
  const CompiledTrace* trace = nullptr;     ///< whose replay it is
  std::unique_ptr<LaunchRecord[]> records;  ///< of launches with values, futures or a result
  std::vector<Fill> step_fills;             ///< by step: what its fill has made pending
  std::vector<Work> work;
  std::vector<std::uint64_t> calls;                  ///< by step, on several shards: its number
  std::vector<const analysis::Instance*> instances;  ///< by Recording::own
  /// Of the tasks of these launches, and of those that reduce.
  std::unique_ptr<std::byte[]> payloads;
};

/// What the compiled traces of a context share. Each registers itself.
struct CompiledTraces {
  std::size_t bytes = 0;  ///< of those that are not retired
  std::vector<CompiledTrace*> pinned;
  TraceTotals counters;
};

class CompiledTrace {
 public:
  using Calls = std::vector<std::shared_ptr<const RecordedCall>>;

  /// `all`: outlives this.
  CompiledTrace(ContextCore& context, std::unique_ptr<const trace::Recording> recording,
                Calls calls, CompiledTraces& all);
  ~CompiledTrace();  ///< nothing of it is in flight
  CompiledTrace(const CompiledTrace&) = delete;

  [[nodiscard]] const trace::Recording& recording() const { return *recording_; }
  [[nodiscard]] const Calls& calls() const { return calls_; }
  /// The first operation of a step.
  [[nodiscard]] trace::Index first_of(trace::Index step) const {
    return step == 0 ? 0 : recording_->steps[step - 1].operations;
  }
  [[nodiscard]] trace::Index steps() const { return static_cast<trace::Index>(calls_.size()); }
  /// After all of it. Made when somebody asks: not before a chain is left.
  [[nodiscard]] const trace::Outcome& outcome();
  [[nodiscard]] exec::Replays& replays() { return *replays_; }
  /// The recording's and the template's, and the replays' own: of each replay that has begun, up to as many as the window
  /// lets be in flight. How many are in flight now is timing, and decides nothing.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// A replay begins.
  void count_replay() {
    if (counted_replays_ >= most_replays_) [[likely]]
      return;
    ++counted_replays_;
    bytes_ += bytes_of_replay();
    all_.bytes += bytes_of_replay();
  }
  /// What the first operations come to, for the statistics.
  [[nodiscard]] analysis::AnalysisCounters counts(trace::Index operations) const;
  [[nodiscard]] const analysis::AnalysisCounters& counts() const { return counts_; }
  /// Which instances the points of the first steps have used, for Analysis::note_uses.
  struct Uses {
    std::vector<std::pair<analysis::Instance*, std::uint64_t>> instances;
    std::uint64_t points = 0;
  };
  [[nodiscard]] Uses uses(trace::Index steps) const;
  [[nodiscard]] const Uses& uses();  ///< made when somebody asks

  /// While operations may run, what their launches name keeps all it has, as for launches in flight. Owner:
  /// before a replay begins, and when nothing may be running any more.
  void pin();
  static void unpin_idle(CompiledTraces& all);
  /// No replay begins any more: it is not counted from now on, nor does it keep plans.
  void retire();

  /// The replay's own values; made when its slot is used for the first time.
  ReplayValues& values(exec::Replay& replay);
  /// Where the launch of a step keeps what a replay has of its own; null: it has nothing.
  LaunchRecord* record(exec::Replay& replay, trace::Index step);
  /// The instances that a replay makes at a step, before its operations; and those that end there.
  [[nodiscard]] std::span<const trace::PerReplayInstance> made_by(trace::Index step) const;
  [[nodiscard]] std::span<const trace::PerReplayInstance* const> ended_by(trace::Index step) const;
  /// The replay, which is the present one, has this instance. Before operations are issued that use it.
  void give(exec::Replay& replay, const trace::PerReplayInstance& own,
            analysis::Instance& instance);
  /// The replay begins: it has those that it finds, as Recording::holds has found them.
  void give_found(exec::Replay& replay);
  /// Of what replays have of their own.
  ReplayValues::Work& work(exec::Replay& replay, trace::Index operation) {
    return values(replay).work[operands_[operation].number];
  }
  /// Owner, before the operations of a step are issued, on several shards: the number of its call, from which its messages
  /// get their turns.
  void number(exec::Replay& replay, trace::Index step, std::uint64_t call);
  [[nodiscard]] bool has_fills(trace::Index step) const { return launches_[step].has_fills; }
  /// What is to be done for a step that is a launch without futures, and no fills.
  struct Quick {
    RememberedLaunch last;  ///< the one before
    std::uint64_t token = 0;
    trace::Index operations = 0;  ///< up to its end; 0: no such step
    std::uint32_t points = 0;
    bool has_values = false;                 ///< by-value arguments
    std::unique_ptr<std::uint64_t[]> words;  ///< for `last`
  };
  [[nodiscard]] std::span<Quick> quick() { return quick_; }

  /// The edges that are replayed. Kept while a graph is logged.
  [[nodiscard]] const trace::RecordedEdges& edges() const { return edges_; }

 private:
  /// A step: what the tasks of its launch share.
  struct Launch {
    LaunchRecord shared;    ///< when no replay needs one of its own; no plan: the call is no launch
    std::int64_t own = -1;  ///< number of the replay's own record, or -1
    bool has_fills = false;
    std::vector<trace::Index> messages;  ///< of its operations
    /// The first operation of each message of contributions, by argument: the order in which they get their turns.
    std::vector<trace::Index> contributions;
    std::unique_ptr<std::byte[]> payloads;  ///< of its tasks, if replays can share them
  };
  /// What an operation works on.
  struct Operand {
    TaskPayload* payload = nullptr;  ///< of a task, when replays can share it; else null
    std::size_t offset = 0;          ///< of the replay's own payload in ReplayValues::payloads
    std::uint32_t rank = 0;          ///< of a task
    const void* work = nullptr;      ///< what trace::Operation::work holds
    std::size_t number = 0;          ///< of what replays have of their own, in ReplayValues::work
  };
  /// A task whose body needs nothing but its arguments and values.
  struct Plain {
    TaskFrame frame;  ///< the same in each replay, but for values and futures
    const std::function<void(const TaskFrame&)>* body = nullptr;
    std::uint32_t record = 0;  ///< with values: the launch's number among the replay's own records
    std::uint32_t rank = 0;    ///< own rank
  };
  struct Runs;

  void unpin();
  void note_contributions(trace::Index operation);
  std::vector<exec::Template::Operation> lay_out();
  void lay_out(trace::Index index, std::uint32_t rank, exec::Template::Operation& made);
  void lay_out_task(trace::Index index, std::uint32_t rank, exec::Template::Operation& made);
  void prepare_quick();
  /// By which all shards know an operation.
  [[nodiscard]] exec::Failure::Origin shared_name(const exec::Replay& replay,
                                                  trace::Index operation) const;
  [[nodiscard]] exec::Failure::Origin failure_origin(const exec::Replay& replay,
                                                     trace::Index operation) const;
  void compile(std::vector<exec::Template::Operation> operations);
  void connect_folds(ReplayValues& values) const;
  [[nodiscard]] std::vector<std::uint32_t> order_in_steps(
      const std::vector<trace::RecordedEdge>& inner, const exec::Template& compiled) const;
  const OperationDetails& describe();
  std::unique_ptr<ReplayValues> make_values() const;
  void count_bytes();
  [[nodiscard]] std::size_t bytes_of_replay() const;

  ContextCore& context_;
  std::unique_ptr<const trace::Recording> recording_;
  Calls calls_;
  std::optional<trace::Outcome> outcome_;
  std::vector<Quick> quick_;            ///< by step
  analysis::AnalysisCounters counts_;   ///< of all operations
  std::optional<Uses> uses_;            ///< of all steps
  std::unique_ptr<Launch[]> launches_;  ///< by step; without a plan where the call is no launch
  std::vector<Operand> operands_;       ///< by operation
  std::vector<Plain> plain_;            ///< by operation; unused of most kinds
  trace::RecordedEdges edges_;          ///< for a log
  std::vector<const trace::PerReplayInstance*> ended_;          ///< by step
  std::vector<trace::PerReplayArgument> per_replay_arguments_;  ///< by own instance
  /// How many records and works a replay has of its own, and how many bytes of payloads.
  std::size_t own_records_ = 0, own_works_ = 0, own_payload_bytes_ = 0;
  std::unique_ptr<const OperationDetails> details_;  ///< where somebody models the operations
  std::unique_ptr<const exec::Template> template_;
  std::unique_ptr<exec::Replays> replays_;
  std::vector<std::unique_ptr<ReplayValues>> values_;
  CompiledTraces& all_;
  std::size_t bytes_ = 0;  ///< as counted in all_; 0: retired
  std::size_t counted_replays_ = 0, most_replays_ = 0;
  bool pinned_ = false;
};

}  // namespace refrain::runtime
