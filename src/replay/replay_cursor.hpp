#pragma once
// Where a context is in the replays of a compiled trace.
//
// **Chains.** Replays are issued without the analysis. While the same recording follows itself and leaves its
// precondition behind, the replays form a chain, and the analysis' state stays as it was before the first of them.
// catch_up() ends the chain and brings the state forward.
//
// The program's calls are compared with a stretch of the present replay (follow); the rest of the replay is issued only
// when a later stretch is followed. The chain outlives the stretch, as the same trace may come again.
//
// Owner: the context's thread. Cost of a launch that is the same as in the replay before: a comparison of what it names,
// and the issue of its operations.

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "launch/context_core.hpp"
#include "replay/compiled_trace.hpp"
#include "trace/outcome.hpp"

namespace refrain::runtime {

class ReplayCursor {
 public:
  explicit ReplayCursor(ContextCore& context) : context_(context) {}
  ReplayCursor(const ReplayCursor&) = delete;

  /// The compiled traces of the context, with their counters.
  [[nodiscard]] CompiledTraces& traces() { return traces_; }

  // --- the chain -----------------------------------------------------------------------------------------

  /// Of the chain.
  [[nodiscard]] CompiledTrace& trace() const { return *trace_; }
  /// Calls of the present replay so far.
  [[nodiscard]] trace::Index step() const { return step_; }
  [[nodiscard]] bool is_whole() const { return step_ == trace_->steps(); }
  /// Whether the present replay directly follows another, and how many whole ones there were before it.
  [[nodiscard]] bool is_carried() const { return whole_replays_ > 0; }
  [[nodiscard]] std::uint64_t whole_replays() const { return whole_replays_; }
  /// The next replay of the trace begins. `carried`: it directly follows a whole one; else there is no chain.
  void start(CompiledTrace& trace, bool carried);
  /// Brings the analysis' state up to date, and ends the chain.
  void catch_up();
  /// Brings forward who has which data on all shards; the chain goes on.
  void catch_up_on_shards();
  /// The chain's uses of instances come before those of later launches: what is evicted follows launch order.
  void note_uses();
  [[nodiscard]] bool has_noted_uses() const { return noted_; }
  /// No replay goes on, and the state is left as it is.
  void abandon() noexcept;

  // --- the stretch that is followed ------------------------------------------------------------------------

  /// The next calls of the present replay are followed.
  void follow(trace::Index calls);
  void unfollow() {
    following_ = false;
    quick_ = {};
  }
  [[nodiscard]] bool is_following() const { return following_; }
  /// Calls of the stretch so far, and whether these are all.
  [[nodiscard]] trace::Index followed() const { return step_ - begin_; }
  [[nodiscard]] bool at_end() const { return step_ == end_; }
  [[nodiscard]] trace::Index begin() const { return begin_; }
  /// Whether the call is the next one of the stretch.
  [[nodiscard]] bool is_next(const TracedCall& call) const {
    return step_ < end_ && is_step(*trace_, step_, begin_, call);
  }
  /// Whether the call is the step of a trace of which calls are followed from `begin` on.
  [[nodiscard]] bool is_step(const CompiledTrace& trace, trace::Index step, trace::Index begin,
                             const TracedCall& call) const;

  // --- a call that is the next one -------------------------------------------------------------------------

  /// Replays the launch if it is the next call and is given no futures. Executor::interleave is called by the issue.
  bool replay_next(const LaunchRequest& request);
  /// The instances that the call makes, in the order of the analysis. Returns the one that there is no room for, if any.
  [[nodiscard]] const analysis::Instance* make_instances();
  /// Gives the present replay what only this call has; then issue_step().
  void take_launch(const LaunchRequest& request, AnyFuture& result);
  void take_fill(const ReplayValues::Fill& value) {
    trace_->values(*replay_).step_fills[step_] = value;
  }
  void take_reduction(std::span<detail::FutureState* const> values, FutureReduction reduction);
  /// The exchanges of the call, which is given this future.
  void take_exchanges(std::span<const CallExchange> exchanges, detail::FutureState& given);
  /// A region's end: of its fields, not of its names.
  void take_end(data::RegionTree& tree);
  /// `part_of`: the number of the call that it is a part of.
  void issue_step(std::optional<std::uint64_t> part_of = std::nullopt);

  /// The operation that was replayed with this sequence number, or a reference that is complete.
  [[nodiscard]] exec::NodeRef resolve(const exec::NodeRef& producer) const;

 private:
  void await(std::span<const trace::Entry> entries);
  void await(trace::Index operation, const exec::NodeRef& producer);
  void take_futures(std::span<detail::FutureState* const> futures, trace::Index operation);
  void prepare_fills();
  ReplayValues::Fill value_of(const trace::FillSource& source);
  void count_whole();
  [[gnu::noinline]] bool matches(const LaunchRequest& request, CompiledTrace::Quick& next);
  void log_step(std::uint64_t call);
  trace::Replayed names_of(std::uint64_t base, const ReplayValues* values = nullptr);
  void note_uses(const CompiledTrace::Uses& uses) {
    context_.analysis.note_uses(uses.instances, uses.points);
  }

  ContextCore& context_;
  CompiledTraces traces_;
  CompiledTrace* trace_ = nullptr;  ///< of the chain
  exec::Replay* replay_ = nullptr;  ///< the present one
  exec::Replays* replays_ = nullptr;
  bool following_ = false;
  bool noted_ = false, before_noted_ = false;  ///< the uses of their instances are known
  trace::Index step_ = 0, begin_ = 0, end_ = 0;
  std::size_t on_shards_ = 0;  ///< so many of the replay's changes on all shards are known
  /// Up to the stretch's end, while it is followed and no log told.
  std::span<CompiledTrace::Quick> quick_;
  /// First sequence numbers of the chain's replays, oldest first.
  std::deque<std::uint64_t> bases_;
  std::uint64_t whole_replays_ = 0;        ///< that the present one directly follows
  std::uint64_t before_base_ = 0;          ///< first sequence number of the last of these
  ReplayValues* before_values_ = nullptr;  ///< its values
  std::vector<trace::Entry> awaited_;      ///< that a log will be told of
  std::vector<trace::Entry> entries_;      ///< what every replay of the chain comes after
  std::vector<exec::NodeRef> after_;       ///< scratch of `await`
};

}  // namespace refrain::runtime
