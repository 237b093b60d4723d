#include "launch/future_state.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>

#include "base/assert.hpp"
#include "exec/fiber.hpp"
#include "refrain/error.hpp"

namespace refrain::detail {

// --- memory ------------------------------------------------------------------------------------------

namespace {

struct AllPools {
  std::mutex mutex;
  std::set<const FutureBlocks*> pools;
};

AllPools& all_pools() {
  static auto* pools = new AllPools;  // never destroyed: static futures may end later
  return *pools;
}

}  // namespace

FutureBlocks::FutureBlocks() {
  AllPools& all = all_pools();
  const std::lock_guard lock(all.mutex);
  all.pools.insert(this);
}

FutureBlocks::~FutureBlocks() {
  {
    AllPools& all = all_pools();
    const std::lock_guard lock(all.mutex);
    all.pools.erase(this);
  }
  collect();
  for (Block* list : free_)
    while (list != nullptr) {
      Block* next = list->next;
      ::operator delete(list, std::align_val_t(block_alignment));
      list = next;
    }
}

std::size_t FutureBlocks::live_in_process() {
  AllPools& all = all_pools();
  const std::lock_guard lock(all.mutex);
  std::int64_t live = 0;
  for (const FutureBlocks* pool : all.pools) {
    const std::int64_t balance = pool->balance_.load(std::memory_order_relaxed);
    // Open: the bias plus the returns. Closed: the returns minus all that were made.
    live += balance > 0 ? pool->made_.load(std::memory_order_relaxed) - (balance - bias) : -balance;
  }
  return static_cast<std::size_t>(live);
}

void* FutureBlocks::take(std::size_t bytes, std::size_t alignment, std::uint8_t& size_class) {
  const auto made = [this](void* block) {
    made_.store(made_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return block;
  };
  if (bytes > largest || alignment > block_alignment) {
    size_class = unpooled;
    return made(::operator new(bytes, std::align_val_t(alignment)));
  }
  const std::size_t k = bytes <= smallest ? 0 : std::bit_width((bytes - 1) / smallest);
  size_class = static_cast<std::uint8_t>(k);
  if (free_[k] == nullptr) collect();
  Block* block = free_[k];
  if (block == nullptr)
    return made(::operator new(smallest << k, std::align_val_t(block_alignment)));
  free_[k] = block->next;
  return made(block);
}

void FutureBlocks::give_back(void* memory, std::uint8_t size_class,
                             std::size_t alignment) noexcept {
  if (size_class == unpooled) {
    ::operator delete(memory, std::align_val_t(alignment));
  } else {
    auto* block = ::new (memory) Block{returned_.load(std::memory_order_relaxed), size_class};
    // release: partner of the acquire in collect; the block is done with.
    while (!returned_.compare_exchange_weak(block->next, block, std::memory_order_release,
                                            std::memory_order_relaxed)) {}
  }
  came_back(1);
}

void FutureBlocks::collect() {
  Block* block = returned_.exchange(nullptr, std::memory_order_acquire);
  while (block != nullptr) {
    Block* next = block->next;
    block->next = free_[block->size_class];
    free_[block->size_class] = block;
    block = next;
  }
}

void FutureBlocks::came_back(std::int64_t count) noexcept {
  // acq_rel: the last one, which ends the pool, sees what all others did with it.
  if (balance_.fetch_add(count, std::memory_order_acq_rel) + count == 0) delete this;
}

// --- states ------------------------------------------------------------------------------------------

namespace {

std::mutex& failures_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// `to`: a power of two.
constexpr std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) & ~(to - 1); }

/// Of the block of a state.
std::size_t alignment_of(const ResultType& type) {
  return std::max(type.alignment, alignof(FutureState));
}

}  // namespace

FutureState::FutureState(FutureBlocks& blocks, const ResultType& type, std::uint64_t context,
                         std::size_t points, const runtime::LaunchPoints& of_group,
                         std::size_t values_offset, std::uint8_t size_class)
    : blocks_(blocks),
      type_(type),
      points_(points),
      context_(context),
      values_offset_(values_offset),
      of_group_(of_group),
      unfinished_(points),
      size_class_(size_class) {
  std::uninitialized_value_construct_n(producers(), points);
  std::uninitialized_value_construct_n(standings(), points);
}

FutureState::~FutureState() {
  if (type_.destroy == nullptr) return;
  for (std::size_t rank = 0; rank < points_; ++rank)
    if (standings()[rank].load(std::memory_order_relaxed) & has_value) type_.destroy(storage(rank));
}

FutureState* FutureState::make(FuturePool& pool, const ResultType& type, std::uint64_t context,
                               std::size_t points, const runtime::LaunchPoints& of_group) {
  FutureBlocks& blocks = pool.blocks();
  const std::size_t values_offset =
      round_up(sizeof(FutureState) + points * (sizeof(exec::NodeRef) + 1), type.alignment);
  std::uint8_t size_class = 0;
  void* block = blocks.take(values_offset + points * stride(type), alignment_of(type), size_class);
  return ::new (block)
      FutureState(blocks, type, context, points, of_group, values_offset, size_class);
}

void FutureState::end() noexcept {
  FutureBlocks& blocks = blocks_;
  const std::uint8_t size_class = size_class_;
  const std::size_t alignment = alignment_of(type_);
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

[[noreturn]] void fail_elsewhere(const std::string& what) {
  throw UsageError(what + " was asked for, which another process makes");
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
  if (state.points() > 0) return state.value(0);
  if (!state.group()) fail_elsewhere("the value");
  return nullptr;
}

// The one place that makes an own rank of a launch rank.
const void* await_point(FutureState& state, std::size_t launch_rank) {
  const auto asked = [&] { return "value " + std::to_string(launch_rank) + " of a group launch"; };
  if (launch_rank >= point_count(state))
    throw UsageError(asked() + " of " + std::to_string(point_count(state)) +
                     " points was asked for");
  const std::optional<std::size_t> rank =
      state.group() ? state.of_group().own_rank(launch_rank) : launch_rank;
  if (!rank || *rank >= state.points()) fail_elsewhere(asked());
  wait(state, *rank);
  if (const exec::FailureRef failure = state.failure(*rank)) failure->rethrow();
  return state.value(*rank);
}

const void* await_point(FutureState& state, const Point<3>& point, int dim) {
  const auto asked = [&] {
    if (dim < 1 || dim > 3) return "the value of a point of " + std::to_string(dim) + " dimensions";
    return "the value of point " + data::to_string(point, dim);
  };
  const data::IndexSpaceRef& domain = state.of_group().domain;
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
std::size_t point_count(const FutureState& state) noexcept {
  return state.group() ? state.of_group().domain->volume() : 1;
}

}  // namespace refrain::detail
