#pragma once
// What is behind a Context: the calls of one program, or of one task with children.
//
// A nested context sees its parent task's arguments as fields that are valid in the parent's instances and that nobody
// uses yet (launch/grants.hpp). What its children change elsewhere is copied back when the parent waits for them, and
// when it ends.
//
// Owner: the thread that runs the program or the parent's body. One kind of call per file: launch.cpp, regions.cpp
// (regions, fills, copies), partitions*.cpp, access.cpp (accesses, attached memory), reduce.cpp (futures of groups),
// nested.cpp (tasks' contexts), context_impl.cpp (beginning and end, fences and waits).

#include <cxxabi.h>

#include <exception>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "launch/context_core.hpp"
#include "launch/planner.hpp"
#include "refrain/context.hpp"
#include "refrain/error.hpp"
#include "runtime/attachments.hpp"
#include "runtime/runtime_impl.hpp"
#include "tracing/tracing.hpp"

namespace refrain::runtime {

class ContextImpl final : public NestedContext, public ContextCore {
 public:
  /// The program's context.
  explicit ContextImpl(RuntimeImpl& runtime);
  /// A nested one, for a running task.
  ContextImpl(ContextCore& parent, LaunchRecord& record, TaskPayload& payload);
  ~ContextImpl() override;

  [[nodiscard]] Context& facade() override { return facade_; }
  [[nodiscard]] RuntimeImpl& owner() { return static_cast<RuntimeImpl&>(runtime); }
  /// Holds this context, and null when it is gone: for objects of the program that end something here.
  [[nodiscard]] std::shared_ptr<ContextImpl*> alive();

  // --- launch.cpp ---
  AnyFuture launch(const LaunchRequest& request) {
    if (scope.runs_in_order) [[unlikely]]
      fail_captured();
    if (traces.replay_next(request)) return {};
    return launch_in_full(request);
  }

  // --- regions.cpp ---
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
  /// Of each colour, in their order.
  struct Pieces {
    data::IndexSpaceRef colours;
    std::vector<data::IndexSpaceRef> spaces;
  };
  /// UsageError unless they can be a partition there.
  void check_pieces(const Place& place, const Pieces& pieces) const;

  // --- access.cpp ---
  std::uint64_t begin_access(const AnyRegion& region, const AnyField& field, Privilege privilege,
                             PhysicalArgument& physical, Where where, const char* call = "access");
  void end_access(std::uint64_t ticket);
  void attach(const AnyRegion& region, const AnyField& field, void* memory,
              const AttachLayout& layout, Where where);
  void detach(const AnyRegion& region, const AnyField& field, Where where);

  // --- context_impl.cpp, nested.cpp, reduce.cpp ---
  void fence(Where where);
  void wait_for(detail::FutureState& state, std::size_t rank_or_all) override;
  [[nodiscard]] bool may_wait_for(const detail::FutureState& state) const override;
  void has_waited_for(detail::FutureState& state, std::size_t rank_or_all) override;
  [[nodiscard]] const ContextCore* context_in_use() const override { return this; }
  AnyFuture reduce(const AnyFuture& values, const ReductionOp& op, Where where);

  // --- the end ---
  /// Waits for everything, brings the grants home, and ends the regions made here. Throws the first
  /// failure that nobody has seen; without one, UsageError when a trace is left open.
  void finish() override;
  /// The same after an error, of any kind: throws nothing, brings nothing up to date, and ends what was in flight.
  void abandon() noexcept override;

  /// Throws when the call comes from another thread, or the context has broken down; in checked mode also when it
  /// comes from another task's body. Costs a comparison.
  void check_caller(const char* call, const Where& where) const {
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
  [[nodiscard]] bool is_lent(std::size_t requirement) const override;

  /// Breaks when the analysis has broken an invariant. Slow; for tests.
  void check_invariants();

  /// Plans that are remembered, with a mapping.
  [[nodiscard]] std::size_t plans() const { return planner_.size(); }
  [[nodiscard]] std::size_t instances_alive() { return analysis.store().alive(); }
  [[nodiscard]] bool is_program() const { return parent == nullptr; }

 private:
  // launch.cpp
  AnyFuture launch_in_full(const LaunchRequest& request);
  AnyFuture analyse(const LaunchRequest& request);
  AnyFuture trace_launch(const LaunchRequest& request);

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

  // regions.cpp
  void forget_dropped(data::RegionTree& tree);

  // nested.cpp
  static std::unique_ptr<NestedContext> make_nested(ContextCore& parent, LaunchRecord& record,
                                                    TaskPayload& payload) {
    return std::make_unique<ContextImpl>(parent, record, payload);
  }
  Grant make_grant(const LaunchPlan& plan, TaskPayload& payload, std::size_t requirement);
  analysis::Instance& borrow_home(Grant& grant, const PhysicalArgument& argument);
  void bring_home(Grant& grant);
  void bring_all_home();
  void await_home(const Grant& grant);
  /// The failure of an operation that should have written what the parent's arguments hold; or none.
  [[nodiscard]] exec::FailureRef poison_at_home() const;

  // reduce.cpp
  void issue_reduction(const AnyFuture& values, const AnyFuture& result, const ReductionOp& op,
                       Where where);
  void note_reduction(const AnyFuture& values, const AnyFuture& result);

  // context_impl.cpp
  void end_attachments();
  void end_regions();
  /// A call that cannot be traced is about to be analysed.
  void note_untraceable_call(const CallIdentity& call) {
    note_call(call.token(), call.name(), Listener::Traces::end);
  }
  [[noreturn]] static void fail_caller(const char* call, Where where);
  [[gnu::noinline]] void check_caller_in_full(const char* call, const Where& where) const;
  [[noreturn]] void break_down(const std::function<std::string()>& who);
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

  const void* const thread_ = this_thread();  ///< which calls
  /// The same, or null where every call is looked at: in checked mode, and when the context has broken down.
  const void* caller_ = runtime.options().check ? nullptr : thread_;
  std::exception_ptr broken_;  ///< by what
  Context facade_;
  std::shared_ptr<ContextImpl*> alive_;  ///< made when first asked for
  Planner planner_{*this};
  /// The futures that a node reduces: who waits for it has waited for them.
  std::unordered_map<std::uint64_t, AnyFuture> reductions_;
  std::unordered_map<const data::RegionTree*,
                     std::vector<std::pair<data::RegionTree*, std::uint32_t>>>
      views_;  ///< of outer regions: own trees for partitions made here
  std::uint64_t next_ticket_ = 1;
  std::vector<Held> held_;
  std::vector<std::unique_ptr<OpenAccess>> accesses_;
  std::unordered_map<const analysis::Instance*, Attachments::Entry> attached_;
  static constexpr std::size_t kReductions = 4096;

 public:
  Tracing traces{*this};  ///< last: ends before the plans that recordings name
};

}  // namespace refrain::runtime
