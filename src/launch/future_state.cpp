#include "launch/future_state.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "base/assert.hpp"
#include "exec/fiber.hpp"
#include "refrain/error.hpp"

namespace refrain::detail {

// --- states ------------------------------------------------------------------------------------------

FutureState::FutureState(const ResultType& type, std::uint64_t context, std::size_t points,
                         const runtime::LaunchPoints& of_group, std::size_t values_offset)
    : type_(type),
      points_(points),
      context_(context),
      values_offset_(values_offset),
      of_group_(of_group),
      unfinished_(points) {
  std::uninitialized_value_construct_n(slots(), points);
  live.fetch_add(1, std::memory_order_relaxed);
}

FutureState::~FutureState() {
  if (type_.destroy != nullptr)
    for (std::size_t rank = 0; rank < points_; ++rank)
      if (slots()[rank].has_value) type_.destroy(storage(rank));
  std::destroy_n(slots(), points_);
  if (FutureState* const all = whole) all->release();
  live.fetch_sub(1, std::memory_order_relaxed);
}

FutureState* FutureState::make(const ResultType& type, std::uint64_t context, std::size_t points,
                               const runtime::LaunchPoints& of_group) {
  const std::size_t end_of_slots = sizeof(FutureState) + points * sizeof(Slot);
  const std::size_t values_offset = (end_of_slots + type.alignment - 1) & ~(type.alignment - 1);
  void* block = ::operator new(values_offset + points * stride(type), alignment(type));
  return ::new (block) FutureState(type, context, points, of_group, values_offset);
}

void FutureState::end() noexcept {
  const std::align_val_t aligned = alignment(type_);
  this->~FutureState();
  ::operator delete(this, aligned);
}

exec::FailureRef FutureState::failure() const {
  for (std::size_t rank = 0; rank < points_; ++rank)
    if (slots()[rank].failure) return slots()[rank].failure;
  return {};
}

exec::FailureRef FutureState::first_failure() const {
  exec::FailureRef first;
  if (exec::Failure::any())
    for (std::size_t rank = 0; rank < points_; ++rank)
      first = exec::first_of(first, slots()[rank].failure);
  return first;
}

// --- waiting ---------------------------------------------------------------------------------------

namespace {

void wait(FutureState& state, std::size_t rank_or_all) {
  const auto ready = [&] {
    return rank_or_all == Waiter::all ? state.ready() : state.ready(rank_or_all);
  };
  Waiter* waiter = Waiter::current();
  if (!ready()) {
    if (waiter == nullptr)
      throw UsageError(
          "a thread on which neither the program nor a task runs waits for a future: the thread "
          "that launched it waits, and others may be given the value then");
    if (!waiter->may_wait_for(state))
      throw UsageError(
          "a task waits for a future that it neither launched nor was given as an argument: pass "
          "it to the launch in place of a value");
    waiter->wait_for(state, rank_or_all);
    REFRAIN_ASSERT(ready(), "a wait for a future ends when the future is ready");
  }
  if (waiter != nullptr) waiter->has_waited_for(state, rank_or_all);
}

/// What a program asks for, it gets on every shard. When it has ended nothing is sent any more.
FutureState& whole_of(FutureState& state, const Where& where) {
  if (!state.is_kept()) return state.all();
  Waiter* const waiter = Waiter::current();
  if (waiter == nullptr) fail_kept();
  return waiter->whole_of(state, where);
}

[[noreturn]] void fail_elsewhere(const std::string& what) {
  throw UsageError(what + " was asked for, which another process makes");
}

}  // namespace

// A task's body has what was sent before: none of its calls sends anything.
FutureState& Waiter::whole_of(FutureState& state, const Where& /*where*/) {
  if (state.group()) fail_kept();
  return state;
}

Waiter* Waiter::current() noexcept { return static_cast<Waiter*>(exec::body_local()); }

Waiter* Waiter::set_current(Waiter* waiter) noexcept {
  return static_cast<Waiter*>(exec::set_body_local(waiter));
}

void fail_kept() {
  throw UsageError(
      "a future is asked for a value that one process alone has, since its program has not asked "
      "for it: ask for it in the program, while that runs");
}

void fail_empty() {
  throw UsageError(
      "an empty future is asked for its value: it was never assigned the result of a launch");
}

void retain(FutureState* state) noexcept { state->retain(); }
void release(FutureState* state) noexcept { state->release(); }

const void* await(FutureState& asked, const Where& where) {
  FutureState& state = whole_of(asked, where);
  wait(state, Waiter::all);
  if (const exec::FailureRef failure = state.failure()) failure->rethrow();
  if (state.points() > 0) return state.value(0);
  if (!state.group()) fail_elsewhere("the value");
  return nullptr;
}

// The one place that makes an own rank of a launch rank.
const void* await_point(FutureState& asked_of, std::size_t launch_rank, const Where& where) {
  FutureState& state = whole_of(asked_of, where);
  const auto asked = [&] { return fmt::format("value {} of a group launch", launch_rank); };
  if (launch_rank >= point_count(state))
    throw UsageError(fmt::format("{} of {} points was asked for", asked(), point_count(state)));
  const std::optional<std::size_t> rank =
      state.group() ? state.of_group().own_rank(launch_rank) : launch_rank;
  if (!rank || *rank >= state.points()) fail_elsewhere(asked());
  wait(state, *rank);
  if (const exec::FailureRef& failure = state.failure(*rank)) failure->rethrow();
  return state.value(*rank);
}

const void* await_point(FutureState& state, const Point<3>& point, int dim, const Where& where) {
  const auto error = [&](const std::string& why) {
    const std::string asked = dim >= 1 && dim <= 3 ? "point " + data::to_string(point, dim)
                                                   : fmt::format("a point of {} dimensions", dim);
    return UsageError(fmt::format("the value of {} was asked for{}", asked, why));
  };
  const data::IndexSpaceRef& domain = state.of_group().domain;
  if (!domain) throw error(": it is no group launch's");
  if (dim != domain->dim())
    throw error(fmt::format(": the launch domain, {}, has {} dimension{}", data::to_string(*domain),
                            domain->dim(), domain->dim() == 1 ? "" : "s"));
  const std::optional<std::size_t> rank = domain->rank(point);
  if (!rank) throw error(", which is not in the launch domain, " + data::to_string(*domain));
  return await_point(state, *rank, where);
}

const void* ready_value(const FutureState& state) noexcept { return state.value(0); }
const exec::FailureRef& ready_failure(const FutureState& state) noexcept {
  return state.failure(0);
}
bool is_ready(const FutureState& state, const Where& where) {
  auto& asked = const_cast<FutureState&>(state);
  if (!state.group()) whole_of(asked, where);
  Waiter* const waiter = Waiter::current();
  if (waiter != nullptr && waiter->is_known_ready(state)) wait(asked, Waiter::all);
  const bool ready = state.ready();
  if (waiter != nullptr) waiter->was_asked(state, ready, where);
  return ready;
}
std::size_t point_count(const FutureState& state) noexcept {
  return state.group() ? state.of_group().domain->volume() : 1;
}

}  // namespace refrain::detail
