#pragma once
// What is behind a Context: the region trees, the analysis, the plans and the scope of one program, or
// of one task with children.
//
// A nested context sees its parent task's arguments as fields that are valid in the parent's instances
// and that nobody uses yet (grant.hpp). What its children change elsewhere is copied back there whenever
// the parent waits for them, and when it ends.
//
// Owner: the thread that runs the program or the parent's body. The files beside this one each hold
// one part: context_impl.cpp (making and ending), launch.cpp (the way of a launch), planning.cpp (first
// sight of one), asking.cpp (the mapper), launch_record.cpp (one in flight), partitions*.cpp,
// data_calls.cpp (regions, fills, copies), access.cpp, nested.cpp, reduce.cpp (futures of groups), and
// waiting.cpp (fences, futures, failures).

#include <cxxabi.h>

#include <exception>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/analysis.hpp"
#include "analysis/field_state.hpp"
#include "data/forest.hpp"
#include "data/region_tree.hpp"
#include "graph/executor.hpp"
#include "graph/scope.hpp"
#include "launch/argument_info.hpp"
#include "launch/future_pool.hpp"
#include "launch/future_state.hpp"
#include "launch/launch_plan.hpp"
#include "launch/launch_record.hpp"
#include "launch/signature.hpp"
#include "refrain/context.hpp"
#include "refrain/error.hpp"
#include "runtime/attachments.hpp"
#include "runtime/grant.hpp"
#include "runtime/runtime_impl.hpp"
#include "tracing/tracing.hpp"

namespace refrain::runtime {

using Where = std::source_location;

class ContextImpl final : public detail::Waiter {
 public:
  /// The program's context.
  explicit ContextImpl(RuntimeImpl& runtime);
  /// A nested one, for a running task.
  ContextImpl(ContextImpl& parent, LaunchRecord& record, TaskPayload& payload);
  ~ContextImpl();
  ContextImpl(const ContextImpl&) = delete;

  [[nodiscard]] Context& facade() { return facade_; }
  [[nodiscard]] RuntimeImpl& runtime() { return runtime_; }
  [[nodiscard]] exec::Scope& scope() { return scope_; }
  /// Holds this context, and null when it is gone: for objects of the program that end something here.
  [[nodiscard]] std::shared_ptr<ContextImpl*> alive();

  // --- launch.cpp ---
  AnyFuture launch(const LaunchRequest& request) {
    if (scope_.runs_in_order()) [[unlikely]]
      fail_captured();
    if (tracing_ != nullptr && tracing_->replay_next(request)) return {};
    return launch_in_full(request);
  }

  // --- tracing.cpp ---
  void begin_trace(const Trace& trace, Where where);
  void end_trace(const Trace& trace, Where where);
  void print_recordings(std::ostream& out) const;
  void leave_trace(const Trace& trace);
  void require_replay(const Trace& trace, Where where);

  // --- data_calls.cpp ---
  AnyRegion make_region(const data::IndexSpaceRef& points, std::span<const AnyField> fields,
                        Where where);
  void destroy(const AnyRegion& region, Where where);
  /// Without telling of a failure, which the next fence does.
  exec::FailureRef destroy_quietly(const AnyRegion& region, Where where);
  void destroy(const AnyPartition& partition, Where where);
  void fill(const AnyRegion& region, const AnyField& field,
            std::shared_ptr<analysis::FillValue> value, Where where);
  void copy(const AnyRegion& source, const AnyField& source_field, const AnyRegion& target,
            const AnyField& target_field, Where where);

  // --- partitions.cpp ---
  /// The tree of this context in which partitions of `region` are kept, and the region's node there.
  struct Place {
    data::RegionTree* tree;
    std::uint32_t node;
  };
  Place place_of(const AnyRegion& region, const char* what);
  /// Throws unless the handle is alive. What an enclosing context has destroyed meanwhile stays usable:
  /// this context's task was launched before that.
  template <class Handle>
  void check_usable(const Handle& handle, const char* what) const {
    if (handle.tree == nullptr || handle.tree->in(forest_) || !handle.tree->knows(handle))
      data::check_alive(handle, what);
  }
  /// Of each colour, in their order.
  struct Pieces {
    data::IndexSpaceRef colours;
    std::vector<data::IndexSpaceRef> spaces;
  };
  /// UsageError unless they can be a partition there.
  void check_pieces(const Place& parent, const Pieces& pieces) const;
  /// They were checked.
  static AnyPartition make_partition(const Place& parent, Pieces pieces, const char* kind);

  // --- access.cpp ---
  std::uint64_t begin_access(const AnyRegion& region, const AnyField& field, Privilege privilege,
                             PhysicalArgument& physical, Where where, const char* call = "access");
  void end_access(std::uint64_t ticket);
  void attach(const AnyRegion& region, const AnyField& field, void* memory,
              const AttachLayout& layout, Where where);
  void detach(const AnyRegion& region, const AnyField& field, Where where);

  // --- waiting.cpp, nested.cpp, reduce.cpp ---
  void fence(Where where);
  void wait_for(detail::FutureState& state, std::size_t rank_or_all) override;
  [[nodiscard]] bool may_wait_for(const detail::FutureState& state) const override;
  void has_waited_for(detail::FutureState& state, std::size_t rank_or_all) override;
  [[nodiscard]] const ContextImpl* context_in_use() const override { return this; }
  AnyFuture reduce(const AnyFuture& values, const ReductionOp& op, Where where);

  // --- the end ---
  /// Waits for everything, brings the grants home, and ends the regions made here. Throws the first
  /// failure that nobody has seen; without one, UsageError when a trace is left open.
  void finish();
  /// The same after an error, of any kind: throws nothing, brings nothing up to date, and ends what was in flight.
  void abandon() noexcept;

  /// Throws when the call comes from another thread, or the context has broken down; in checked mode also when it
  /// comes from another task's body. Costs a comparison.
  void check_caller(const char* call, Where where) const {
    if (caller_ != this_thread()) [[unlikely]]
      check_caller_in_full(call, where);
  }
  /// By this thread, and now: the context has not broken down.
  [[nodiscard]] bool is_usable() const { return thread_ == this_thread() && !broken_; }

  /// Makes a call of the program's. What it throws that is no Error has left the analysis in the middle, mostly
  /// because memory ran out. Then the context has broken down: it launches nothing more, and what waits for it fails.
  /// `who()`: what the message calls the call.
  template <class Call, class Who>
  decltype(auto) make_call(Call&& call, Who&& who) {
    try {
      return call();
    } catch (const Error&) { throw; } catch (const abi::__forced_unwind&) {
      throw;
    } catch (...) { break_down(who); }
  }
  /// The same for the call `name` at `where`, whose caller is checked.
  template <class Call>
  decltype(auto) make_call(const char* name, const Where& where, Call&& call) {
    check_caller(name, where);
    return make_call(call, [&] { return std::string(name) + " at " + to_string(where); });
  }

  /// Checked mode: is the parent's accessor on this requirement usable now?
  [[nodiscard]] bool is_lent(std::size_t requirement) const;

  /// Breaks when the analysis has broken an invariant. Slow; for tests.
  void check_invariants();

  [[nodiscard]] std::uint64_t launches() const { return launches_; }
  [[nodiscard]] std::uint64_t tasks() const { return tasks_; }
  /// Spent in launches, without waiting for room or memory; counted where launches are timed.
  [[nodiscard]] std::uint64_t analysis_ns() const { return analysis_ns_; }
  /// Plans that are remembered, with a mapping.
  [[nodiscard]] std::size_t plans() const { return plans_.size(); }
  [[nodiscard]] std::size_t regions_alive() const { return forest_.alive(); }
  [[nodiscard]] std::size_t instances_alive() const { return analysis_.store().alive(); }
  [[nodiscard]] TraceCounters trace_counters() const {
    return tracing_ != nullptr ? tracing_->counters() : TraceCounters{};
  }
  [[nodiscard]] AutotraceCounters autotrace_counters() const {
    return tracing_ != nullptr ? tracing_->autotrace_counters() : AutotraceCounters{};
  }
  [[nodiscard]] bool is_program() const { return parent_ == nullptr; }
  [[nodiscard]] const analysis::AnalysisCounters& analysis_counters() const {
    return analysis_.counters();
  }

 private:
  // launch.cpp
  template <class Put>
  bool give_key(const LaunchRequest& request, Put put) const;
  std::span<const std::uint64_t> make_key(const LaunchRequest& request);
  [[nodiscard]] bool has_key(const LaunchRequest& request,
                             std::span<const std::uint64_t> key) const;
  AnyFuture launch_in_full(const LaunchRequest& request);
  AnyFuture analyse(const LaunchRequest& request);
  LaunchPlan& plan_of(const LaunchRequest& request, std::span<const std::uint64_t> key);
  AnyFuture trace_launch(const LaunchRequest& request);
  /// Traces are looked for from the first launch on, in a task after a few, unless that is switched off.
  bool start_tracing();
  void note_launch(LaunchPlan& plan) {
    note_launch(plan.token, plan.info.name, static_cast<std::uint32_t>(plan.points.size()));
    plan.last_used = calls_;
  }
  void note_launch(std::uint64_t token, std::string_view task, std::uint32_t points) {
    note_call(token, task);
    ++launches_;
    tasks_ += points;
  }
  exec::NodeRef producer_of(const detail::FutureState& state, std::size_t rank);
  static std::vector<std::uint64_t> call_key(Signature::Call call,
                                             std::initializer_list<const AnyRegion*> regions,
                                             std::initializer_list<const AnyField*> fields,
                                             Where where);
  void make_room();
  /// Before a plan that was found is issued.
  void wake(LaunchPlan& plan) {
    if (plan.awake != tidied_) [[unlikely]]
      wake_all(plan);
  }
  void wake_all(LaunchPlan& plan);
  void tidy(analysis::FieldState& field);
  AnyFuture issue(LaunchPlan& plan, const LaunchRequest& request);
  void explain(LaunchPlan& plan);
  void issue_point(LaunchPlan& plan, LaunchRecord& record, std::uint32_t& next,
                   bool inline_if_ready);
  bool data_in_place(std::span<const PlannedArgument> arguments);
  void place_data(LaunchPlan& plan, const LaunchRecord& record, std::uint32_t rank);
  void choose_instance(LaunchPlan& plan, PlannedArgument& argument, const analysis::Origin& origin);
  void issue_folds(LaunchPlan& plan, std::uint64_t call, TaskPayload& payload,
                   analysis::Edges& edges);
  void depend_on(analysis::Edges& edges, const detail::FutureState& state);
  /// A future that a call of this context may name: of its own, or one that is there.
  void check_usable(const detail::FutureState* future, const std::string& who) const;

  // launch_record.cpp
  AnyFuture make_result(const LaunchPlan& plan, const LaunchRequest& request);
  LaunchRecord& take_record(LaunchPlan& plan, const LaunchRequest& request);
  void fill_record(LaunchRecord& record, const LaunchRequest& request);
  static void reclaim(exec::Node& node);
  static void release(LaunchRecord& record);

  // planning.cpp
  std::unique_ptr<LaunchPlan> make_plan(const LaunchRequest& request);
  /// Without `mappings`, what points to them, and what the mapper says of the points; not signed.
  std::unique_ptr<LaunchPlan> make_unmapped(const LaunchRequest& request);
  void plan_points(LaunchPlan& plan, const LaunchRequest& request);
  void plan_arguments(LaunchPlan& plan, const LaunchRequest& request);
  void check_independence(const LaunchPlan& plan, const LaunchRequest& request);
  void sign(LaunchPlan& plan, const LaunchRequest& request);

  // asking.cpp
  void plan_mapping(LaunchPlan& plan, const LaunchRequest& request);
  void take_answer(LaunchPlan& plan, const LaunchRequest& request, std::size_t rank,
                   const MappingOutput& answer);
  static std::uint32_t remember_mapping(LaunchPlan& plan, const ArgumentMapping& answer);
  LaunchPlan& asked_plan(const LaunchRequest& request, std::span<const std::uint64_t> key);
  LaunchPlan& unmapped_plan(const LaunchRequest& request, std::span<const std::uint64_t> key);

  // access.cpp
  exec::NodeRef hold(const AnyRegion& region, analysis::FieldState& field,
                     analysis::Footprint& footprint, analysis::Instance& instance,
                     Privilege privilege, exec::NodeKind kind, const analysis::Origin& origin,
                     exec::FailureRef& failure);
  std::unique_ptr<LaunchPlan> access_plan(const AnyRegion& region, const AnyField& field,
                                          Privilege privilege, const data::IndexSpaceRef& points,
                                          Where where);
  /// The end of what hold() began.
  void let_go(const exec::NodeRef& held);
  exec::FailureRef end_attachment(analysis::FieldState& field, analysis::Instance& instance,
                                  Where where);
  exec::FailureRef end_attachments(data::RegionTree& tree, Where where);
  /// Whether memory is attached to one of its fields.
  [[nodiscard]] bool is_attached(data::RegionTree& tree) const;
  /// Where system memory is for accesses, copies and fills of the program itself.
  [[nodiscard]] std::span<const MemoryId> program_memories() const;

  // data_calls.cpp
  /// The state of a field as this context sees it: of a tree of its own, or of a grant (which must
  /// contain the points and allow the privilege).
  analysis::FieldState& field_state(const AnyRegion& region, const AnyField& field,
                                    Privilege privilege, const ReductionOp* op,
                                    const std::string& who);
  void forget(data::RegionTree& tree, const std::vector<data::NodeRange>& dropped);

  // nested.cpp
  Grant make_grant(const LaunchPlan& plan, TaskPayload& payload, std::size_t requirement);
  analysis::Instance& borrow_home(Grant& grant, const PhysicalArgument& argument);
  analysis::FieldState& granted_field(const data::RegionTree& root, std::uint32_t field,
                                      const AnyRegion& region, Privilege privilege,
                                      const ReductionOp* op, const std::string& who);
  /// A launch with this result (or none) uses the parent's arguments.
  void lend(const LaunchPlan& plan, const detail::FutureState* result);
  /// Something else does that the parent waits for with a fence alone.
  void lend(const analysis::FieldState& field, Privilege privilege);
  void bring_home(Grant& grant);
  void bring_all_home();
  void await_home(const Grant& grant);
  /// The failure of an operation that should have written what the parent's arguments hold; or none.
  [[nodiscard]] exec::FailureRef poison_at_home() const;

  // reduce.cpp
  void note_reduction(const AnyFuture& values, const AnyFuture& result);

  // waiting.cpp
  void forget_failures();

  // context_impl.cpp
  void end_attachments();
  void end_regions();
  /// A name and source line that last as long as the context.
  const exec::NodeInfo& info_for(const char* name, Where where);
  /// Every call that the analysis sees begins with this. `name`: as CallLog::Call.
  void note_call(std::uint64_t token, std::string_view name, bool traceable = true) {
    check_not_planning();
    ++calls_;
    if (runtime_.call_log() != nullptr) [[unlikely]]
      tell({token, name, traceable});
  }
  [[gnu::noinline]] void tell(CallLog::Call call);
  /// The same for one that is about to be analysed, ...
  void note_analysed_call(const Signature& signature) {
    const std::uint64_t token = signature.token();
    note_call(token, signature.call_name());
    if (tracing_ != nullptr) tracing_->analysing(token);
  }
  /// ... and for one that cannot be traced.
  void note_untraceable_call(const Signature& signature) {
    note_call(signature.token(), signature.call_name(), false);
  }
  /// The state of every field that this context has: of its own trees, and of its grants.
  template <class F>
  void for_each_field(F f) {
    for (data::RegionTree* tree : forest_.trees())
      if (!tree->is_view()) analysis::TreeState::of(*tree).for_each(f);
    for (const Grant& grant : grants_) f(*grant.state);
  }
  /// A mapper and a projection function leave the context alone while they are asked about a launch.
  void check_not_planning() const {
    if (planning_) [[unlikely]]
      fail_planning();
    if (scope_.runs_in_order()) [[unlikely]]
      fail_captured();
  }
  [[noreturn]] static void fail_planning();
  [[noreturn]] static void fail_captured();
  [[noreturn]] static void fail_caller(const char* call, Where where);
  [[gnu::noinline]] void check_caller_in_full(const char* call, Where where) const;
  [[noreturn]] void break_down(const std::function<std::string()>& who);
  /// While they are asked.
  class Planning {
   public:
    explicit Planning(ContextImpl& context) : planning_(context.planning_) {
      context.check_not_planning();
      planning_ = true;
    }
    ~Planning() { planning_ = false; }
    Planning(const Planning&) = delete;

   private:
    bool& planning_;
  };

  friend class Tracing;

  /// What the program holds open, or waits to: for messages.
  struct Held {
    std::uint64_t seq;
    AnyRegion region;
    const analysis::FieldState* field;
    Privilege privilege;
  };
  [[nodiscard]] std::string about_held(std::uint64_t seq) const;

  struct OpenAccess {
    std::uint64_t ticket = 0;
    exec::NodeRef node;
    std::unique_ptr<LaunchPlan> plan;  ///< for messages
    detail::ArgumentInfo argument;
  };

  /// Names the calling thread while it lives.
  static const void* this_thread() { return __builtin_thread_pointer(); }

  RuntimeImpl& runtime_;
  const void* const thread_ = this_thread();  ///< which calls
  /// The same, or null where every call is looked at: in checked mode, and when the context has broken down.
  const void* caller_ = runtime_.options().check ? nullptr : thread_;
  std::exception_ptr broken_;  ///< by what
  ContextImpl* parent_ = nullptr;
  std::uint64_t id_ = 0;   ///< in logs
  std::string task_name_;  ///< nested: whose
  Context facade_;
  exec::Scope scope_;
  const std::uint64_t identity_ = scope_.identity();  ///< whose futures are whose
  std::shared_ptr<ContextImpl*> alive_;               ///< made when first asked for
  analysis::Analysis analysis_;
  data::Forest forest_;
  PlanCache plans_;
  /// For a mapper that is asked at every launch.
  struct Asking {
    PlanCache unmapped;  ///< plans without a mapping
    std::uint64_t last_number = 0;
    std::vector<MappingOutput> answers;  ///< scratch
    std::vector<std::uint64_t> key;      ///< scratch
  };
  std::unique_ptr<Asking> asking_;  ///< made when first needed
  bool planning_ = false;           ///< a launch is being planned
  std::vector<Grant> grants_;       ///< by requirement of the parent's launch
  /// The futures that a node reduces: who waits for it has waited for them.
  std::unordered_map<std::uint64_t, AnyFuture> reductions_;
  std::unordered_map<const data::RegionTree*,
                     std::vector<std::pair<data::RegionTree*, std::uint32_t>>>
      views_;  ///< of outer regions: own trees for partitions made here
  std::uint64_t calls_ = 0, launches_ = 0, tasks_ = 0, analysis_ns_ = 0;
  std::uint64_t tidied_ = 0;  ///< how often a field's footprints have been (FieldState::tidy)
  std::uint64_t next_ticket_ = 1;
  std::vector<Held> held_;
  std::vector<std::unique_ptr<OpenAccess>> accesses_;
  std::unordered_map<const analysis::Instance*, Attachments::Entry> attached_;
  std::vector<std::uint64_t> key_;  ///< scratch
  std::vector<std::unique_ptr<LaunchRecord>> records_;
  LaunchRecord* free_records_ = nullptr;
  static constexpr std::size_t kFailures = 1024, kReductions = 4096;
  std::size_t failures_limit_ = kFailures;
  std::unique_ptr<Tracing> tracing_;  ///< made with the first trace
  detail::FuturePool futures_;
  std::map<std::tuple<const char*, const char*, std::uint32_t>, exec::NodeInfo> infos_;
};

}  // namespace refrain::runtime
