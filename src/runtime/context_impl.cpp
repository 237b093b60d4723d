// The life of a context, from its making to the end of what was made in it; its waits for everything and for futures,
// after which failures that no data carries any more are forgotten.

#include "runtime/context_impl.hpp"

#include <new>

#include "base/text.hpp"
#include "refrain/error.hpp"

namespace refrain::runtime {

ContextImpl::ContextImpl(RuntimeImpl& of)
    : ContextCore(of, nullptr, std::string(), make_nested), facade_(*this) {
  scope.about_held = [this](std::uint64_t seq) { return about_held(seq); };
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

// A body that has captured the context of whoever launched it races with that one.
void ContextImpl::fail_caller(const char* call, Where where) {
  const bool in_a_body = Waiter::current() != nullptr;
  if (in_a_body) fail_captured((std::string(call) + " at " + to_string(where) + ": ").c_str());
  throw UsageError(std::string(call) + " at " + to_string(where) +
                   ": the context belongs to another thread: all calls on it come from the thread "
                   "that runs its program or its task's body, and none from a thread that this one "
                   "has started");
}

void ContextImpl::check_caller_in_full(const char* call, const Where& where) const {
  if (thread_ != this_thread()) fail_caller(call, where);
  if (broken_) std::rethrow_exception(broken_);
  if (!runtime.options().check) return;
  const Waiter* caller = Waiter::current();
  if (caller == nullptr || caller->context_in_use() != this) fail_caller(call, where);
}

void ContextImpl::check_invariants() {
  for_each_field([](const analysis::FieldState& field) { field.check_invariants(); });
}

// --- waiting -----------------------------------------------------------------------------------------

void ContextImpl::fence(Where where) {
  runtime.executor().interleave();
  scope.drain(&info_for("fence", where));
  bring_all_home();
  forget_failures();
  if (const exec::FailureRef failure = scope.take_failure()) failure->rethrow();
}

bool ContextImpl::may_wait_for(const detail::FutureState& state) const {
  return state.context() == identity;
}

void ContextImpl::wait_for(detail::FutureState& state, std::size_t rank_or_all) {
  const std::size_t first = rank_or_all == all ? 0 : rank_or_all;
  const std::size_t last = rank_or_all == all ? state.points() : rank_or_all + 1;
  // For the node too, not for the point alone: a point that is settled may not have been counted yet, and
  // then the whole is not ready. What is replayed has no node; its number names it in reports.
  for (std::size_t rank = first; rank < last; ++rank) {
    const exec::NodeRef producer = state.producer(rank);
    runtime.executor().wait(
        scope, [&] { return exec::is_complete(producer) && state.ready(rank); }, producer, nullptr);
  }
  const auto is_ready = [&] { return rank_or_all == all ? state.ready() : state.ready(first); };
  if (!is_ready()) runtime.executor().wait(scope, is_ready, {}, nullptr);
  forget_failures();
}

// --- the end -----------------------------------------------------------------------------------------

void ContextImpl::end_regions() {
  accesses_.clear();
  attached_.clear();
  for (const Grant& grant : grants.all()) analysis.end_field(*grant.state);
  for (data::RegionTree* tree : forest.trees()) {
    if (tree->is_view()) continue;
    analysis::TreeState::of(*tree).for_each(
        [&](analysis::FieldState& field) { analysis.end_field(field); });
    forest.destroy(*tree);
  }
}

// Memory still attached gets its values, as if the program had detached it. What cannot be had because a
// task failed is not told here: the end of the context tells the first failure that nobody knows.
void ContextImpl::end_attachments() {
  for (data::RegionTree* tree : forest.trees()) {
    if (tree->is_view()) continue;
    try {
      end_attachments(*tree, Where{});
    } catch (const Error&) {}
  }
}

void ContextImpl::finish() {
  if (broken_) std::rethrow_exception(broken_);
  const std::string left_open = traces.left_open();
  traces.close();
  while (!accesses_.empty()) end_access(accesses_.back()->ticket);
  end_attachments();
  scope.drain(nullptr);
  bring_all_home();
  exec::FailureRef failure(scope.take_failure());
  if (!failure) failure = poison_at_home();
  end_regions();
  if (failure) failure->rethrow();
  if (!left_open.empty()) throw UsageError(left_open);
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
  while (!accesses_.empty()) end_access(accesses_.back()->ticket);
  attempt([this] { scope.drain(nullptr); });
  attached_.clear();
  analysis.store().abandon();
}

namespace {

/// The error of a call that `cause`, which is no Error, has ended in the middle.
std::exception_ptr broken_by(const std::exception_ptr& cause, const std::string& call) {
  const std::string end =
      "; what this context has launched comes to its end, and nothing more is launched";
  try {
    std::rethrow_exception(cause);
  } catch (const std::bad_alloc&) {
    return std::make_exception_ptr(
        OutOfMemory(call + ": memory ran out (" + text_of(cause) + ")" + end));
  } catch (...) {
    return std::make_exception_ptr(
        Error(call + " was ended in the middle by " + type_and_text_of(cause) + end));
  }
}

}  // namespace

void ContextImpl::break_down(const std::function<std::string()>& who) {
  broken_ = std::current_exception();
  caller_ = nullptr;
  traces.abandon();
  scope.give_up_unpublished(broken_);
  try {
    broken_ = broken_by(broken_, who());
  } catch (...) {}  // no memory even for the message
  std::rethrow_exception(broken_);
}

}  // namespace refrain::runtime
