// The life of a context, from its making to the end of what was made in it; the marks of traces; its waits for everything
// and for futures.

#include "runtime/context_impl.hpp"

#include <new>

#include "base/text.hpp"

namespace refrain::runtime {

ContextImpl::ContextImpl(RuntimeImpl& of) : ContextCore(of, nullptr, std::string(), make_nested) {
  if (of.ranks() != nullptr && !of.options().dry) replicate();
}

void ContextImpl::replicate() {
  replicated = std::make_unique<replication::Replication>(
      *this, *owner().ranks(),
      [this](std::uint64_t slot) { end_later(static_cast<std::uint32_t>(slot)); });
  caller_ = nullptr;  // each is looked at, and noted
}

// Nothing is in flight. What was planned was for all points.
void ContextImpl::end_set_up() {
  if (!runtime.options().dry || parent != nullptr || replicated != nullptr) return;
  owner().mapper().forget();
  replicate();
}

ContextImpl::~ContextImpl() {
  if (alive_) *alive_ = nullptr;
  try {
    owner().add(*this);
  } catch (const std::bad_alloc&) {}  // then it is not in the statistics
}

std::shared_ptr<ContextImpl*> ContextImpl::alive() {
  if (!alive_) alive_ = std::make_shared<ContextImpl*>(this);
  return alive_;
}

void ContextImpl::check_caller_in_full(CallName call, const Where& where) const {
  check_thread(call.text(), where);
  if (call_log != nullptr) call_log->begin(call, where);
}

void ContextImpl::check_thread(const char* call, const Where& where) const {
  const Waiter* const caller = Waiter::current();
  if (thread_ == this_thread()) {
    if (broken_) std::rethrow_exception(broken_);
    if (!runtime.options().check || (caller != nullptr && caller->context_in_use() == this)) return;
  }
  const std::string who = std::string(call) + " at " + to_string(where) + ": ";
  // A body that has captured the context of whoever launched it races with that one.
  if (caller != nullptr) fail_captured(who.c_str());
  throw UsageError(who +
                   "the context belongs to another thread: all calls on it come from the thread "
                   "that runs its program or its task's body, and none from a thread that this one "
                   "has started");
}

// It is replayed like a call.
void ContextImpl::send_to_all(detail::FutureState& value, const Where& where, std::uint64_t call) {
  const std::uint32_t from = value.at;
  if (from == detail::FutureState::kEverywhere) return;
  if (value.context() != identity) detail::fail_kept();
  const std::vector<CallExchange> exchanges = replicated->send_to_all(value, where, call);
  // Elsewhere it has no maker yet.
  const bool has_maker = !exchanges.empty() && !exchanges.front().makes.valid();
  detail::FutureState* const given = &value;
  traces.make(
      {CallKind::send_to_all, where, {std::uint64_t{from}}}, {&given, has_maker ? 1U : 0U}, {},
      [&](ReplayCursor& replay) { replay.take_exchanges(exchanges, value); },
      [&] { replicated->issue(exchanges, value, call); }, call);
}

// --- waiting -----------------------------------------------------------------------------------------

detail::FutureState& ContextImpl::whole_of(detail::FutureState& state, const Where& where) {
  if (replicated == nullptr) return Waiter::whole_of(state, where);
  return make_call("get", where, [&]() -> detail::FutureState& {
    if (call_log != nullptr) call_log->add(state.call);
    return *gather(state, analysis.info_for("get", where)).state();
  });
}

void ContextImpl::wait_for(detail::FutureState& state, std::size_t rank_or_all) {
  if (replicated != nullptr)
    return make_call([&] { wait_here(state, rank_or_all); },
                     [] { return std::string("a wait for a future"); });
  wait_here(state, rank_or_all);
}

void ContextImpl::wait_here(detail::FutureState& state, std::size_t rank_or_all) {
  const auto [first, last] = ranks(state, rank_or_all);
  // For the node too, not for the point alone: a point that is settled may not have been counted yet, and
  // then the whole is not ready. What is replayed has no node; its number names it in reports.
  for (std::size_t rank = first; rank < last; ++rank) {
    const exec::NodeRef producer = state.producer(rank);
    runtime.executor().wait(
        scope, [&] { return exec::is_complete(producer) && state.ready(rank); }, producer, nullptr);
  }
  if (rank_or_all == all && !state.ready())
    runtime.executor().wait(
        scope, [&] { return state.ready(); }, {}, nullptr);
}

// --- the end -----------------------------------------------------------------------------------------

void ContextImpl::finish() {
  if (broken_) std::rethrow_exception(broken_);
  const std::string left_open = traces.left_open();
  traces.close();
  while (!held_.empty()) end_access(held_.back().node.seq);
  // Memory still attached gets its values, as if the program had detached it. What cannot be had because a task failed
  // is not told here: the end of the context tells the first failure that nobody knows.
  for (const data::RegionTree* tree : forest.trees()) {
    try {
      end_attachments(*tree, Where{});
    } catch (const Error&) {}
  }
  scope.drain(nullptr);
  bring_all_home();
  if (replicated != nullptr) replicated->end_program("", analysis.info_for("end", Where{}));
  exec::FailureRef failure = first_failure(analysis.info_for("end", Where{}));
  if (!failure) failure = poison_at_home();
  scope.drain(nullptr);  // what the shards have agreed by
  attached.clear();
  for (const Grant& grant : grants.all) analysis.end_field(*grant.state);
  for (data::RegionTree* tree : forest.trees()) {
    if (tree->is_view()) continue;
    analysis::TreeState::of(*tree).for_each(
        [&](analysis::FieldState& field) { analysis.end_field(field); });
    forest.destroy(*tree);
  }
  if (failure) failure->rethrow();
  if (!left_open.empty()) throw UsageError(left_open);
}

// No operation of this shard is given up, and none waits for ever: the others, which end too, send what it receives.
void ContextImpl::end_early(const std::string& error) noexcept {
  while (!held_.empty()) end_access(held_.back().node.seq);
  try {
    replicated->end_program(error, analysis.info_for("end", Where{}));
  } catch (...) { replicated->end_run(std::current_exception()); }
}

// Memory may have run out anywhere before: every step holds without any.
void ContextImpl::abandon() noexcept {
  const auto attempt = [](const auto& step) {
    try {
      step();
    } catch (...) {}  // already on the way out with an error; what is left unfinished belongs to it
  };
  if (!broken_) attempt([this] { traces.close(); });
  traces.abandon();
  scope.give_up_unpublished(broken_ ? broken_ : std::make_exception_ptr(std::bad_alloc()));
  while (!held_.empty()) end_access(held_.back().node.seq);
  attempt([this] { scope.drain(nullptr); });
  attached.clear();
  analysis.store().abandon();
}

// What a call finds wrong with the program's calls, all shards find; what tasks have thrown, they have agreed on.
void ContextImpl::check_shared(const Error& error) const {
  if (dynamic_cast<const OutOfMemory*>(&error) != nullptr ||
      dynamic_cast<const Deadlock*>(&error) != nullptr)
    replicated->end_run(std::current_exception());
  if (call_log != nullptr) call_log->refused();
}

void ContextImpl::break_down(const std::function<std::string()>& who) {
  broken_ = std::current_exception();
  caller_ = nullptr;
  traces.abandon();
  scope.give_up_unpublished(broken_);
  try {
    const std::string call = who();
    const std::string end =
        "; what this context has launched comes to its end, and nothing more is launched";
    try {
      throw;
    } catch (const std::bad_alloc&) {
      throw OutOfMemory(call + ": memory ran out (" + text_of(broken_) + ")" + end);
    } catch (...) {
      throw Error(call + " was ended in the middle by " + type_and_text_of(broken_) + end);
    }
  } catch (const Error&) { broken_ = std::current_exception(); } catch (...) {
  }  // no memory even for the message
  if (replicated != nullptr) replicated->end_run(broken_);
  std::rethrow_exception(broken_);
}

}  // namespace refrain::runtime

namespace refrain {

void Context::fence(Where where) {
  impl_.make_call("fence", where, [&] {
    impl_.runtime.executor().interleave();
    impl_.scope.drain(&impl_.analysis.info_for("fence", where));
    impl_.bring_all_home();
    impl_.fenced = impl_.calls;
    impl_.tell({.kind = capture::CallKind::fence, .where = where});
    const exec::NodeInfo& info = impl_.analysis.info_for("fence", where);
    if (const exec::FailureRef failure = impl_.first_failure(info)) failure->rethrow();
    impl_.end_set_up();
  });
}

const Machine& Context::machine() const { return impl_.owner().whole_machine(); }

// A task's body is run by one shard, whichever it is.
bool Context::is_output_shard() const {
  replication::Ranks* const ranks = impl_.owner().ranks();
  return ranks == nullptr || impl_.parent != nullptr || ranks->mailbox().rank() == 0;
}

// --- traces ------------------------------------------------------------------------------------------

void Context::begin_trace(const Trace& trace, Where where) {
  impl_.make_call("begin_trace", where, [&] {
    impl_.note_name(trace.name());
    impl_.traces.begin(trace, where);
    impl_.tell([&] {
      return runtime::ProgramCall{
          .kind = capture::CallKind::begin_trace, .where = where, .trace = &trace};
    });
  });
}
void Context::end_trace(const Trace& trace, Where where) {
  impl_.make_call("end_trace", where, [&] {
    impl_.note_name(trace.name());
    impl_.traces.marks().end(trace, where);
    impl_.tell([&] {
      return runtime::ProgramCall{
          .kind = capture::CallKind::end_trace, .where = where, .trace = &trace};
    });
  });
}
void Context::leave_trace(const Trace& trace) {
  impl_.end_quietly([&] { impl_.traces.leave_trace(trace); });
}
void Context::require_replay(const Trace& trace, Where where) {
  impl_.check_thread("require_replay", where);
  impl_.traces.marks().require_replay(trace, where);
}
void Context::print_recordings(std::ostream& out, Where where) const {
  impl_.check_thread("print_recordings", where);
  impl_.traces.print(out);
}

}  // namespace refrain
