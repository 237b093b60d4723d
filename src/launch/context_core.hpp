#pragma once
// The parts of a context that launches, recordings and replays work on: its scope, its analysis, its region trees, and
// the count of its calls. Context calls are built on it (runtime/context_impl.hpp), and so are its traces
// (tracing/tracing.hpp); it knows neither.
//
// Owner: the thread that runs the program or the parent task's body.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/analysis.hpp"
#include "analysis/field_state.hpp"
#include "data/region_tree.hpp"
#include "graph/scope.hpp"
#include "launch/call_identity.hpp"
#include "launch/call_log.hpp"
#include "launch/future_state.hpp"
#include "launch/grants.hpp"
#include "launch/launch_record.hpp"
#include "launch/replicated.hpp"
#include "launch/runtime_core.hpp"

namespace refrain::runtime {

/// UsageError, with `who` before it, unless the field has a type: the run-time API may be given nothing.
void check_field(const AnyField& field, const std::string& who);

/// What replays keep from the analysis' state for as long as nobody looks at it.
class DeferredState {
 public:
  /// Brings the analysis' state up to date.
  virtual void settle() = 0;
  /// Brings who has which data on all shards up to date, and leaves the rest.
  virtual void settle_on_shards() = 0;
  /// Before something that no trace may hold. `what`: the end of a sentence.
  virtual void untraceable(const char* what) = 0;
  /// The operation that was replayed with this sequence number, or a reference that is complete.
  virtual exec::NodeRef resolve(const exec::NodeRef& producer) = 0;
  /// Why the present call is analysed, for --refrain:explain.
  [[nodiscard]] virtual std::string why_analysed() = 0;
  /// Whether the program has marked the present call as part of a trace.
  [[nodiscard]] virtual bool is_marked() const = 0;

 protected:
  ~DeferredState() = default;
};

/// The context of a task's body, made when the body first asks for it.
class NestedContext : public detail::Waiter {
 public:
  virtual ~NestedContext() = default;
  [[nodiscard]] virtual Context& facade() = 0;
  [[nodiscard]] virtual bool is_lent(std::size_t requirement) const = 0;
  /// As ContextImpl::finish and abandon.
  virtual void finish() = 0;
  virtual void abandon() noexcept = 0;
};
using MakeNested = std::unique_ptr<NestedContext> (*)(ContextCore& parent, LaunchRecord& record,
                                                      TaskPayload& payload);

struct ContextCore : exec::ScopeUser {
  /// `parent`: null for the program's context; `task_name`: of the task whose body runs.
  ContextCore(RuntimeCore& runtime, ContextCore* parent, std::string task_name,
              MakeNested make_nested);
  ~ContextCore() override;
  ContextCore(const ContextCore&) = delete;
  void executed(const exec::Executed& ran) final;
  void reclaim(exec::Node& node) final;  ///< (launch_record.cpp)
  void failed_here(const exec::Failure& failure) noexcept final;

  // --- calls -------------------------------------------------------------------------------------------

  /// Every call that changes what the analysis knows begins with this. The arguments are those of Listener::Call.
  void note_call(std::uint64_t token, std::string_view name,
                 Listener::Traces traces = Listener::Traces::hold) {
    count_call(token, name, traces);
    if (call_log != nullptr) [[unlikely]]
      call_log->add(token);
  }
  /// A region or a partition is made, which may be in a trace or out of it: the traces do not look at it.
  void note_making(const CallIdentity& call) {
    note_call(call.token(), call.name(), Listener::Traces::ignore);
  }
  void note_launch(LaunchPlan& plan) {
    note_launch(plan.token, plan.info.name, plan.own_points());
    plan.last_used = calls;
  }
  void note_launch(std::uint64_t token, std::string_view task, std::uint32_t points) {
    count_call(token, task, Listener::Traces::hold);
    ++launches;
    tasks += points;
  }
  /// A mapper and a projection function leave the context alone while they are asked about a launch.
  void check_not_planning() const {
    if (planning) [[unlikely]]
      fail_planning();
    if (scope.runs_in_order) [[unlikely]]
      fail_captured();
  }
  [[noreturn]] static void fail_planning();
  /// The launching thread runs a body that uses the context of its launcher.
  [[noreturn]] static void fail_captured(const char* call = "");

  /// Waits for room in the window.
  void make_room();

  // --- names and states --------------------------------------------------------------------------------

  /// The state of a field of a tree of this context, or of a grant that contains the region's points and allows the
  /// access. UsageError begins with `who`.
  analysis::FieldState& field_state(const AnyRegion& region, const AnyField& field,
                                    Privilege privilege, const ReductionOp* op,
                                    const std::string& who);
  /// Calls f(state) for every field of the context's own trees and of its grants.
  template <class F>
  void for_each_field(F f) {
    for (data::RegionTree* tree : forest.trees())
      if (!tree->is_view()) analysis::TreeState::of(*tree).for_each(f);
    for (const Grant& grant : grants.all) f(*grant.state);
  }
  /// The operation that makes the value of a point, for edges to it.
  exec::NodeRef producer_of(const detail::FutureState& state, std::size_t rank);
  /// The consumer of a future comes after the operations that make its values.
  void depend_on(analysis::Edges& edges, const detail::FutureState& state);
  /// UsageError unless a call of this context may name the future: one of its own, or one that is there.
  void check_usable(const detail::FutureState* future, const std::string& who) const;
  /// UsageError unless the handle is alive. A handle that an enclosing context has destroyed meanwhile stays usable:
  /// the task of this context was launched before.
  template <class Handle>
  void check_usable(const Handle& handle, const char* what) const {
    if (handle.tree == nullptr || handle.tree->in(forest) || !handle.tree->knows(handle))
      data::check_alive(handle, what);
  }

  RuntimeCore& runtime;
  ContextCore* const parent;
  const std::uint64_t id;  ///< in logs
  const std::string task_name;
  const MakeNested make_nested;
  exec::Scope scope;
  const std::uint64_t identity = scope.identity();  ///< by which futures name their context
  analysis::Analysis analysis;
  data::Forest forest;
  Grants grants;
  DeferredState* deferred = nullptr;  ///< the context's tracing, which sets it
  /// Null: the context is on one shard alone, as those of tasks always are.
  std::unique_ptr<Replicated> replicated;
  /// Null: nobody checks that all shards make the same calls.
  CallLog* call_log = nullptr;
  LaunchRecords records{*this};
  std::uint64_t calls = 0, launches = 0, tasks = 0;
  /// In launches, without waits for room or memory; counted where they are timed.
  std::uint64_t analysis_ns = 0;

  bool planning = false;  ///< a mapper or a projection function is asked about a launch

 private:
  void count_call(std::uint64_t token, std::string_view name, Listener::Traces traces) {
    check_not_planning();
    ++calls;
    if (runtime.listener(Events::calls) != nullptr) [[unlikely]]
      tell({token, name, traces});
  }
  [[gnu::noinline]] void tell(Listener::Call call);
};

/// While a mapper or a projection function is asked about a launch.
class Planning {
 public:
  explicit Planning(ContextCore& core) : planning_(core.planning) {
    core.check_not_planning();
    planning_ = true;
  }
  ~Planning() { planning_ = false; }
  Planning(const Planning&) = delete;

 private:
  bool& planning_;
};

/// Mapper::every_launch, which may throw.
inline bool is_mapper_asked(ContextCore& context) {
  const Planning now(context);
  return context.runtime.mapper().every_launch();
}

}  // namespace refrain::runtime
