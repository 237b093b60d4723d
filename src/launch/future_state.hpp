#pragma once
// What futures refer to (refrain/future.hpp): room for the value of a launch, or for one value per point of a
// group launch, and how far they have come.
//
// One block of memory holds the state, and per point who makes the value, how it stands, and the value.
//
// Threads. The context that launches makes the state and says who produces (before anything can read
// that). The thread that runs a point constructs the value in storage(rank), says constructed(rank), and
// when the whole operation is done settles the point, before its node completes: finish(rank), or
// fail(rank, failure), with or without a value. Once per point. Any thread that holds a reference reads.
// What a producer wrote is visible to whoever found the point (or the whole) ready. References are counted;
// the last one to go destroys the values that were constructed, exactly once. A producer holds a reference
// until it has settled its point.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/sure_memory.hpp"
#include "data/index_space.hpp"
#include "graph/failure.hpp"
#include "graph/node.hpp"
#include "launch/future_pool.hpp"
#include "refrain/dynamic.hpp"
#include "refrain/future.hpp"

namespace refrain::runtime {
struct ContextCore;
}

namespace refrain::detail {

class FutureState {
 public:
  /// Owner of the pool. With one reference, the caller's; `context` names the context that launches. A
  /// group has one value per point, also when it has a single point or none.
  static FutureState* make(FuturePool& pool, const ResultType& type, std::uint64_t context);
  static FutureState* make_group(FuturePool& pool, const ResultType& type, std::uint64_t context,
                                 const data::IndexSpaceRef& domain);
  FutureState(const FutureState&) = delete;

  [[nodiscard]] const ResultType& type() const { return type_; }
  [[nodiscard]] std::size_t points() const { return points_; }
  [[nodiscard]] bool group() const { return static_cast<bool>(domain_); }
  /// The points of a group launch, by rank; null otherwise.
  [[nodiscard]] const data::IndexSpaceRef& domain() const { return domain_; }
  [[nodiscard]] std::uint64_t context() const { return context_; }

  // --- the launching context ---
  /// The operation that makes the value of a point. Depend on it (add_edge) or wait for it only while
  /// the point is not ready: a context that has ended takes its nodes along.
  void set_producer(std::size_t rank, const exec::NodeRef& node) { producers()[rank] = node; }
  [[nodiscard]] const exec::NodeRef& producer(std::size_t rank) const { return producers()[rank]; }

  // --- the producer of a point ---
  /// Where to construct the value; null when the type has size 0.
  [[nodiscard]] void* storage(std::size_t rank) {
    return type_.size == 0 ? nullptr : values() + rank * stride_;
  }
  /// There is a value, which will be destroyed. The point is not ready yet.
  void constructed(std::size_t rank) { add(rank, has_value); }
  void finish(std::size_t rank) { settle(rank, 0); }
  void fail(std::size_t rank, const exec::Failure& failure) noexcept;

  // --- readers ---
  [[nodiscard]] bool ready() const {
    // acquire: partner of the release in settle.
    return unfinished_.load(std::memory_order_acquire) == 0;
  }
  [[nodiscard]] bool ready(std::size_t rank) const {
    return (standings()[rank].load(std::memory_order_acquire) & settled) != 0;
  }
  /// The value of a point that is ready and did not fail.
  [[nodiscard]] const void* value(std::size_t rank) const { return values() + rank * stride_; }
  /// The failure of a point that is ready, or none.
  [[nodiscard]] exec::FailureRef failure(std::size_t rank) const;
  /// Of a state that is ready: the failure of the first point, by rank, that failed; or none.
  [[nodiscard]] exec::FailureRef failure() const;

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    // acq_rel: the last one sees the values that it destroys.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) end();
  }

  /// States alive in the process.
  static std::size_t live_count() { return FutureBlocks::live_in_process(); }

 private:
  /// How a point stands: bits.
  using Standing = std::uint8_t;
  static constexpr Standing has_value = 1, settled = 2, failed = 4;
  using FailedPoint = std::pair<std::size_t, exec::FailureRef>;
  struct Failures : std::vector<FailedPoint, SureAllocator<FailedPoint>> {
    static void* operator new(std::size_t size) { return allocate_surely(size, alignof(Failures)); }
    static void operator delete(void* memory, std::size_t size) {
      free_surely(memory, size, alignof(Failures));
    }
  };
  struct Shape;

  FutureState(FutureBlocks& blocks, const ResultType& type, std::uint64_t context,
              std::size_t points, const data::IndexSpaceRef& domain, const Shape& shape);
  ~FutureState();
  static FutureState* make(FuturePool& pool, const ResultType& type, std::uint64_t context,
                           std::size_t points, const data::IndexSpaceRef& domain);
  // Each point has one writer. release: partner of the acquire in ready(rank).
  void add(std::size_t rank, Standing bits) {
    const Standing before = standings()[rank].load(std::memory_order_relaxed);
    standings()[rank].store(static_cast<Standing>(before | bits), std::memory_order_release);
  }
  void settle(std::size_t rank, Standing how) {
    add(rank, static_cast<Standing>(settled | how));
    unfinished_.fetch_sub(1, std::memory_order_release);  // partner: ready()
  }
  void end() noexcept;

  // What follows the state in its block.
  [[nodiscard]] exec::NodeRef* producers() const {
    return reinterpret_cast<exec::NodeRef*>(const_cast<FutureState*>(this) + 1);
  }
  [[nodiscard]] std::atomic<Standing>* standings() const {
    return reinterpret_cast<std::atomic<Standing>*>(producers() + points_);
  }
  [[nodiscard]] std::byte* values() const {
    return reinterpret_cast<std::byte*>(const_cast<FutureState*>(this)) + values_offset_;
  }

  FutureBlocks& blocks_;
  const ResultType type_;
  const std::size_t points_;
  const std::uint64_t context_;
  const std::size_t stride_;
  const std::size_t values_offset_;
  const data::IndexSpaceRef domain_;
  std::unique_ptr<Failures> failures_;  ///< under a lock: failures are rare
  std::atomic<std::uint64_t> unfinished_;
  std::atomic<std::uint32_t> references_{1};
  const std::uint8_t size_class_;
};

/// How the present thread waits for a future that is not ready: the program or the task's body that runs on
/// it. Reading what is ready takes none.
class Waiter {
 public:
  static constexpr std::size_t all = ~std::size_t{0};

  /// On its own thread: returns when the point (`all`: every point) is ready.
  virtual void wait_for(FutureState& state, std::size_t rank_or_all) = 0;
  /// Whether it may wait for a future that is not ready.
  [[nodiscard]] virtual bool may_wait_for(const FutureState& state) const = 0;
  /// The point (`all`: every point) was asked for and is ready, with or without a wait.
  virtual void has_waited_for(FutureState& state, std::size_t rank_or_all) = 0;
  /// The context that it may call: null while it has none.
  [[nodiscard]] virtual const runtime::ContextCore* context_in_use() const = 0;

  /// The present thread's, or null.
  [[nodiscard]] static Waiter* current() noexcept;
  /// Sets it; returns the one before.
  static Waiter* set_current(Waiter* waiter) noexcept;

 protected:
  ~Waiter() = default;
};

/// Makes `waiter` the present thread's for a scope.
class CurrentWaiter {
 public:
  explicit CurrentWaiter(Waiter& waiter) noexcept : before_(Waiter::set_current(&waiter)) {}
  ~CurrentWaiter() { Waiter::set_current(before_); }
  CurrentWaiter(const CurrentWaiter&) = delete;

 private:
  Waiter* before_;
};

}  // namespace refrain::detail
