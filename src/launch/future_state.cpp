#include "launch/future_state.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <string>

#include "base/assert.hpp"
#include "exec/fiber.hpp"
#include "refrain/error.hpp"

namespace refrain::detail {

namespace {

std::mutex& failures_mutex() {
  static std::mutex mutex;
  return mutex;
}

constexpr std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

}  // namespace

/// Where things lie in the block of a state.
struct FutureState::Shape {
  std::size_t stride, values_offset, bytes, alignment;
  std::uint8_t size_class = 0;

  Shape(const ResultType& type, std::size_t points)
      : stride(round_up(type.size, type.alignment)),
        values_offset(
            round_up(sizeof(FutureState) + points * (sizeof(exec::NodeRef) + 1), type.alignment)),
        bytes(values_offset + points * stride),
        alignment(std::max(type.alignment, alignof(FutureState))) {}
};

FutureState::FutureState(FutureBlocks& blocks, const ResultType& type, std::uint64_t context,
                         std::size_t points, const data::IndexSpaceRef& domain, const Shape& shape)
    : blocks_(blocks),
      type_(type),
      points_(points),
      context_(context),
      stride_(shape.stride),
      values_offset_(shape.values_offset),
      domain_(domain),
      unfinished_(points),
      size_class_(shape.size_class) {
  std::uninitialized_value_construct_n(producers(), points);
  std::uninitialized_value_construct_n(standings(), points);
}

FutureState::~FutureState() {
  if (type_.destroy == nullptr) return;
  for (std::size_t rank = 0; rank < points_; ++rank)
    if (standings()[rank].load(std::memory_order_relaxed) & has_value) type_.destroy(storage(rank));
}

FutureState* FutureState::make(FuturePool& pool, const ResultType& type, std::uint64_t context,
                               std::size_t points, const data::IndexSpaceRef& domain) {
  Shape shape(type, points);
  FutureBlocks& blocks = pool.blocks();
  void* block = blocks.take(shape.bytes, shape.alignment, shape.size_class);
  return ::new (block) FutureState(blocks, type, context, points, domain, shape);
}

FutureState* FutureState::make(FuturePool& pool, const ResultType& type, std::uint64_t context) {
  return make(pool, type, context, 1, {});
}

FutureState* FutureState::make_group(FuturePool& pool, const ResultType& type,
                                     std::uint64_t context, const data::IndexSpaceRef& domain) {
  return make(pool, type, context, domain->volume(), domain);
}

void FutureState::end() noexcept {
  FutureBlocks& blocks = blocks_;
  const std::uint8_t size_class = size_class_;
  const std::size_t alignment = std::max(type_.alignment, alignof(FutureState));
  this->~FutureState();
  blocks.give_back(this, size_class, alignment);
}

void FutureState::fail(std::size_t rank, const exec::Failure& failure) noexcept {
  {
    const std::lock_guard lock(failures_mutex());
    // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): its memory is sure.
    if (!failures_) failures_.reset(new Failures);
    failures_->emplace_back(rank, exec::FailureRef(&failure));
  }
  settle(rank, failed);
}

exec::FailureRef FutureState::failure(std::size_t rank) const {
  if ((standings()[rank].load(std::memory_order_acquire) & failed) == 0) return {};
  const std::lock_guard lock(failures_mutex());
  return std::ranges::find(*failures_, rank, &FailedPoint::first)->second;
}

exec::FailureRef FutureState::failure() const {
  const std::lock_guard lock(failures_mutex());
  if (!failures_) return {};
  return std::ranges::min_element(*failures_, {}, &FailedPoint::first)->second;
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

}  // namespace

Waiter* Waiter::current() noexcept { return static_cast<Waiter*>(exec::body_local()); }

Waiter* Waiter::set_current(Waiter* waiter) noexcept {
  return static_cast<Waiter*>(exec::set_body_local(waiter));
}

void fail_empty() {
  throw UsageError(
      "an empty future is asked for its value: it was never assigned the result of a launch");
}

void retain(FutureState* state) noexcept { state->retain(); }
void release(FutureState* state) noexcept { state->release(); }

const void* await(FutureState& state) {
  wait(state, Waiter::all);
  if (const exec::FailureRef failure = state.failure()) failure->rethrow();
  return state.points() > 0 ? state.value(0) : nullptr;
}

const void* await_point(FutureState& state, std::size_t rank) {
  if (rank >= state.points())
    throw UsageError("value " + std::to_string(rank) + " of a group launch of " +
                     std::to_string(state.points()) + " points was asked for");
  wait(state, rank);
  if (const exec::FailureRef failure = state.failure(rank)) failure->rethrow();
  return state.value(rank);
}

const void* await_point(FutureState& state, const Point<3>& point, int dim) {
  const auto asked = [&] {
    if (dim < 1 || dim > 3) return "the value of a point of " + std::to_string(dim) + " dimensions";
    return "the value of point " + data::to_string(point, dim);
  };
  const data::IndexSpaceRef& domain = state.domain();
  if (!domain) throw UsageError(asked() + " was asked for: it is no group launch's");
  if (dim != domain->dim())
    throw UsageError(asked() + " was asked for: the launch domain, " + data::to_string(*domain) +
                     ", has " + std::to_string(domain->dim()) +
                     (domain->dim() == 1 ? " dimension" : " dimensions"));
  const std::optional<std::size_t> rank = domain->rank(point);
  if (!rank)
    throw UsageError(asked() + " was asked for, which is not in the launch domain, " +
                     data::to_string(*domain));
  return await_point(state, *rank);
}

const void* ready_value(const FutureState& state) noexcept { return state.value(0); }
bool is_ready(const FutureState& state) noexcept { return state.ready(); }
std::size_t point_count(const FutureState& state) noexcept { return state.points(); }

}  // namespace refrain::detail
