#pragma once
// What is behind a Context: the calls of one program, or of one task with children.
//
// A nested context sees its parent task's arguments as fields that are valid in the parent's instances and that nobody
// uses yet (launch/grants.hpp). What its children change elsewhere is copied back when the parent waits for them, and
// when it ends.
//
// Owner: the thread that runs the program or the parent's body. One kind of call per file, with the functions of the
// public Context: launch.cpp (launches, one value from those of a group), regions.cpp (regions, fills, copies),
// partitions.cpp, access.cpp (accesses, attached memory), context_impl.cpp (beginning and end, traces, fences and
// waits). nested.cpp is what contexts of tasks have more.

#include <cxxabi.h>
#include <fmt/format.h>

#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "launch/context_core.hpp"
#include "launch/planner.hpp"
#include "launch/program_call.hpp"
#include "refrain/context.hpp"
#include "refrain/error.hpp"
#include "runtime/runtime_impl.hpp"
#include "tracing/tracing.hpp"

namespace refrain::runtime {

/// Throws a UsageError "WHO: TEXT".
template <class... Values>
[[noreturn]] void fail(const std::string& who, fmt::format_string<Values...> text,
                       Values&&... values) {
  throw UsageError(who + ": " + fmt::format(text, std::forward<Values>(values)...));
}

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

  std::uint64_t fenced = 0;  ///< calls before the last fence

  // --- launch.cpp ---
  AnyFuture launch(const LaunchRequest& request) {
    if (scope.runs_in_order) [[unlikely]]
      fail_captured();
    if (traces.replay_next(request)) return {};
    return launch_in_full(request);
  }

  /// Whether launches are looked at one by one, as check_caller does: by check_launch.
  [[nodiscard]] bool looks_at_launches() const { return caller_ != this_thread(); }
  /// On several shards its values have to be the same.
  [[gnu::noinline]] void check_launch(const LaunchRequest& request) const;
  /// Tells when a call has ended, if somebody wants to know.
  struct CallEnd {
    Listener* told;
    ~CallEnd() {
      if (told != nullptr) told->program_call_ended();
    }
  };
  void note_name(std::string_view name) {
    if (call_log != nullptr) call_log->add(hash_bytes(name.data(), name.size()));
  }

  // --- launch.cpp, regions.cpp, partitions.cpp ---
  /// Without telling of a failure, which the next fence does.
  exec::FailureRef destroy(const AnyRegion& region, Where where);
  void destroy_later(const AnyRegion& region, Where where);
  /// The region in this slot is known to have no use on any shard: ends it. What went wrong before is told by the next
  /// fence.
  void end_later(std::uint32_t slot);
  /// The tree of this context in which partitions of the region, which is alive, are kept, and the region's node there.
  std::pair<data::RegionTree*, std::uint32_t> place_of(const AnyRegion& region);
  /// Who waits for the result has waited for the values.
  void note_reduction(const AnyFuture& values, const AnyFuture& result);

  // --- access.cpp ---
  /// Returns a ticket for end_access.
  std::uint64_t begin_access(const AnyRegion& region, const AnyField& field, Privilege privilege,
                             PhysicalArgument& physical, Where where, const char* call = "access");
  void end_access(std::uint64_t ticket);
  /// On several shards, before it: what the program has written has to be the same on all of them.
  void note_written(std::uint64_t ticket) const;
  using PieceSpaces = std::vector<data::IndexSpaceRef>;
  /// Memory of the program's that holds values of a field: those of a region's points, or of the pieces of a partition
  /// that are this shard's.
  struct Attachment {
    struct Part {
      std::uint32_t rank;  ///< of the piece's colour
      data::PlacedValues values;
      Attachments::Entry entry;
      analysis::Instance* instance = nullptr;  ///< from begin_attachment() on
    };
    analysis::FieldState* field;
    data::IndexSpaceRef points;  ///< on all shards
    std::string made_by;
    std::optional<PieceSpaces> by_pieces{};      ///< of a partition, which may have ended
    std::shared_ptr<ReplicatedPieces> pieces{};  ///< the same, on several shards
    std::vector<Part> parts{};
  };
  /// One that may be made, without its parts. It changes nothing.
  Attachment new_attachment(const AnyRegion& region, const AnyField& field,
                            const data::IndexSpaceRef& points, const std::string& who);
  /// Adds the memory of a region, or of one piece, which is the attachment's from now on; the field is as it was.
  void add_part(Attachment& attachment, const AnyRegion& region, std::uint32_t rank,
                const PlacedMemory& memory, Where where);
  void begin_attachment(Attachment attachment);
  /// Brings the latest values into the attached memory, waits for all its users, and lets it go. Returns what
  /// made the values unavailable: it is the caller's to tell.
  exec::FailureRef end_attachment(std::list<Attachment>::iterator ended, Where where);
  /// The attachment of the points, or by these pieces; UsageError, beginning with `who`, if there is none. `what`: the
  /// region or partition.
  std::list<Attachment>::iterator attachment_of(const analysis::FieldState& field,
                                                const data::IndexSpaceRef& points,
                                                const std::optional<PieceSpaces>& by_pieces,
                                                const std::string& what, const std::string& who);
  /// A call that cannot be traced is about to be analysed. `what`: why, the end of a sentence.
  void note_untraceable_call(const CallIdentity& call, const char* what) {
    traces.untraceable_call(what);
    note_call(call.token(), call.name(), Listener::Traces::end);
  }

  // --- waiting ---
  /// Nothing is in flight: the first failure that nobody was told of, on any shard; null if there is none.
  exec::FailureRef first_failure(const exec::NodeInfo& info) {
    exec::FailureRef own = scope.failures().take();
    if (replicated == nullptr) return own;
    exec::FailureRef first = replicated->agree(own, info);
    // Another shard's comes first: this one is told later.
    if (own != nullptr && own->origin() != first->origin())
      scope.failures().put_back(std::move(own));
    return first;
  }
  /// Where the program runs on several shards: a value that is on one of them is sent to all, as a part of this call.
  void send_to_all(detail::FutureState& value, const Where& where, std::uint64_t call);
  /// As Replicated::gather, for the call that has been counted last.
  AnyFuture gather(detail::FutureState& values, const exec::NodeInfo& info) {
    if (!values.group() && &values.all() == &values) send_to_all(values, info.where, calls - 1);
    return replicated->gather(values, info);
  }
  /// Where the program runs on several shards: all of them access the points themselves.
  void access_everywhere(analysis::FieldState& field, const data::IndexSpaceRef& points,
                         Privilege privilege, const analysis::Origin& origin) {
    if (replicated != nullptr) replicated->access(field, points, privilege, origin);
  }
  /// Brings what children have changed elsewhere back to where the parent has it. All of them are complete.
  void bring_all_home();
  void wait_for(detail::FutureState& state, std::size_t rank_or_all) override;
  void wait_here(detail::FutureState& state, std::size_t rank_or_all);
  [[nodiscard]] detail::FutureState& whole_of(detail::FutureState& state,
                                              const Where& where) override;
  [[nodiscard]] bool may_wait_for(const detail::FutureState& state) const override {
    return state.context() == identity;
  }
  [[nodiscard]] bool is_known_ready(const detail::FutureState& state) const override {
    return replicated != nullptr && state.context() == identity && state.call < fenced;
  }
  void was_asked(const detail::FutureState& /*state*/, bool ready, const Where& where) override {
    if (call_log == nullptr) return;
    call_log->begin("ready", where);
    call_log->add(ready ? 1 : 0);
  }
  void has_waited_for(detail::FutureState& state, std::size_t rank_or_all) override;
  [[nodiscard]] const ContextCore* context_in_use() const override { return this; }

  // --- several shards ---
  /// From now on this shard makes its part of each call.
  void replicate();
  /// A fence: the first one of a dry run ends what is run whole, for all shards.
  void end_set_up();

  // --- the end ---
  /// Waits for everything, brings the grants home, and ends the regions made here. Throws the first
  /// failure that nobody has seen; without one, UsageError when a trace is left open.
  void finish() override;
  /// On several shards, before abandon(): the program ends with an error on each of them.
  void end_early(const std::string& error) noexcept;
  /// As finish() after an error, of any kind: throws nothing, brings nothing up to date, and ends what was in flight.
  void abandon() noexcept override;

  /// A call begins: throws when it comes from another thread, or the context has broken down; in checked mode also when
  /// it comes from another task's body. On several shards the call is noted. Costs a comparison.
  void check_caller(CallName call, const Where& where) const {
    if (caller_ != this_thread()) [[unlikely]]
      check_caller_in_full(call, where);
  }
  /// The same for a call that any shard may make.
  void check_thread(const char* call, const Where& where) const;

  /// Makes a call of the program's. What it throws that is no Error has left the analysis in the middle, mostly
  /// because memory ran out. Then the context has broken down: it launches nothing more, and what waits for it fails.
  /// `who()`: what the message calls the call.
  template <class Call, class Who>
  decltype(auto) make_call(Call&& call, Who&& who) {
    try {
      return call();
    } catch (const Error& error) {
      if (replicated != nullptr) check_shared(error);
      throw;
    } catch (const abi::__forced_unwind&) { throw; } catch (...) {
      break_down(who);
    }
  }
  /// The same for the call `name` at `where`, whose caller is checked. It may take "NAME at WHERE", for messages.
  template <class Call>
  decltype(auto) make_call(CallName name, const Where& where, Call&& call) {
    check_caller(name, where);
    const CallEnd end{program_listener()};
    const auto who = [&] { return std::string(name.text()) + " at " + to_string(where); };
    if constexpr (std::is_invocable_v<Call, std::string>)
      return make_call([&]() -> decltype(auto) { return call(who()); }, who);
    else return make_call(call, who);
  }
  /// Ends an object of the program, perhaps while an exception is on its way. On another thread nothing is done: the end
  /// of the context does it. An error is told by the next call.
  template <class Call>
  void end_quietly(Call&& call) noexcept {
    if (thread_ != this_thread() || broken_) return;
    try {
      make_call(call, [] { return std::string("the end of an object"); });
    } catch (...) {}
  }

  /// Checked mode: is the parent's accessor on this requirement usable now?
  [[nodiscard]] bool is_lent(std::size_t requirement) const override {
    return grants.all[requirement].loan.open();
  }

  /// Who is told of the program's calls; null: nobody, or this is a task's context.
  [[nodiscard]] Listener* program_listener() const {
    return parent == nullptr ? runtime.listener(Events::program) : nullptr;
  }
  void tell(const ProgramCall& call) const {
    tell([&]() -> const ProgramCall& { return call; });
  }
  /// The same of a call that takes nanoseconds: what `call()` returns is made only for somebody who listens.
  template <std::invocable Call>
  void tell(const Call& call) const {
    if (Listener* told = program_listener()) [[unlikely]]
      told->program_call(call());
  }

  /// Plans that are remembered.
  [[nodiscard]] std::size_t plans() const { return planner_.size(); }
  /// Where system memory is for accesses, copies and fills of the program itself.
  [[nodiscard]] std::span<const MemoryId> program_memories() const {
    return runtime.machine().memories(MemoryKind::system);
  }

 private:
  // launch.cpp
  AnyFuture launch_in_full(const LaunchRequest& request);
  AnyFuture analyse(const LaunchRequest& request);
  [[gnu::noinline]] AnyFuture analyse_timed(const LaunchRequest& request);

  // regions.cpp
  void check_destroyable(const AnyRegion& region, const std::string& who) const;

  // access.cpp
  /// What the program holds, or waits to: an access, or attached memory that is given back.
  struct Held {
    exec::NodeRef node;
    LaunchPlan plan;  ///< for messages: what is held, as an argument of a task
    detail::ArgumentInfo argument;
    analysis::Instance* instance = nullptr;
  };
  [[nodiscard]] std::list<Held>::const_iterator held(std::uint64_t seq) const;
  [[nodiscard]] std::string about_held(std::uint64_t seq) const override;
  exec::FailureRef hold(const AnyRegion& region, analysis::FieldState& field,
                        analysis::Instance& instance, const data::IndexSpaceRef& points,
                        Privilege privilege, const analysis::Origin& origin);
  exec::FailureRef end_attachments(const data::RegionTree& tree, Where where);
  [[nodiscard]] bool is_attached_to(const data::RegionTree& tree) const;

  // nested.cpp
  static std::unique_ptr<NestedContext> make_nested(ContextCore& parent, LaunchRecord& record,
                                                    TaskPayload& payload) {
    return std::make_unique<ContextImpl>(parent, record, payload);
  }
  Grant make_grant(LaunchPlan& plan, TaskPayload& payload, std::size_t requirement);
  void bring_home(Grant& grant);
  void await_home(const Grant& grant);
  /// The failure of an operation that should have written what the parent's arguments hold; or none.
  [[nodiscard]] exec::FailureRef poison_at_home() const;

  // context_impl.cpp
  /// From the first to the one behind the last.
  static std::pair<std::size_t, std::size_t> ranks(const detail::FutureState& state,
                                                   std::size_t rank_or_all) {
    if (rank_or_all == all) return {0, state.points()};
    return {rank_or_all, rank_or_all + 1};
  }
  [[gnu::noinline]] void check_caller_in_full(CallName call, const Where& where) const;
  /// On several shards: ends the run where others may not have this error of a call, which is on its way.
  void check_shared(const Error& error) const;
  [[noreturn]] void break_down(const std::function<std::string()>& who);

  /// Names the calling thread while it lives.
  static const void* this_thread() { return __builtin_thread_pointer(); }

  const void* const thread_ = this_thread();  ///< which calls
  /// The same, or null where every call is looked at: in checked mode, and when the context has broken down.
  const void* caller_ =
      runtime.options().check || program_listener() != nullptr ? nullptr : thread_;
  std::exception_ptr broken_;  ///< by what
  Context facade_{*this};
  std::shared_ptr<ContextImpl*> alive_;  ///< made when first asked for
  Planner planner_{*this};
  /// The futures that a node reduces: who waits for it has waited for them.
  std::unordered_map<std::uint64_t, AnyFuture> reductions_;
  /// Of regions of enclosing contexts (tree and node): own trees for the partitions that are made here.
  std::map<std::pair<const data::RegionTree*, std::uint32_t>, data::RegionTree*> views_;
  /// Regions that other shards may have a use for, by their slots, and who has given them up.
  std::map<std::uint32_t, std::pair<AnyRegion, Where>> ending_;
  std::list<Held> held_;
  static constexpr std::size_t kReductions = 4096;

 public:
  std::list<Attachment> attached;  ///< in the order in which it was attached
  Tracing traces{*this};           ///< last: ends before the plans that recordings name
};

}  // namespace refrain::runtime
