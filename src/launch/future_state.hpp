#pragma once
// What futures refer to (refrain/future.hpp): room for the value of a launch, or for one value per point of a
// group launch, and how far they have come.
//
// One block of memory holds the state, and per own point (launch/launch_points.hpp) who makes the value, how it stands,
// and the value. Everything is by own rank; programs ask by launch rank.
//
// Threads. The context that launches makes the state and says who produces (before anything can read
// that). The thread that runs a point constructs the value in storage(rank), says constructed(rank), and
// when the whole operation is done settles the point, before its node completes: finish(rank), or
// fail(rank, failure), with or without a value. Once per point. Any thread that holds a reference reads.
// What a producer wrote is visible to whoever found the point (or the whole) ready. References are counted;
// the last one to go destroys the values that were constructed, exactly once. A producer holds a reference
// until it has settled its point.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "base/sure_memory.hpp"
#include "graph/failure.hpp"
#include "graph/node.hpp"
#include "launch/launch_points.hpp"
#include "refrain/dynamic.hpp"
#include "refrain/future.hpp"
#include "refrain/reduction.hpp"

namespace refrain::runtime {
struct ContextCore;
}

namespace refrain::detail {

/// Memory for future states: blocks in size classes that one owner hands out and any thread gives back.
///
/// The owner (the thread of one context) takes blocks from lists of its own; threads that drop the last
/// reference to a state push the block onto one return list, which the owner empties as a whole when a
/// list of its own has run out. So the steady state allocates nothing and takes no lock. A pool holds as
/// much as was ever in use at one time; blocks above `largest` are not kept.
///
/// States may outlive the context that made them. The blocks live until they are closed and all blocks are
/// back: `balance_` counts returns above a bias, and closing takes the bias and the number of blocks
/// made away, so whoever brings it to zero is the last.
class FutureBlocks {
 public:
  static FutureBlocks* make() { return new FutureBlocks; }
  /// Owner: takes no more blocks. The object ends when all are back.
  void close() noexcept { came_back(-bias - made_.load(std::memory_order_relaxed)); }

  /// Owner. At least `bytes` bytes with that alignment.
  void* take(std::size_t bytes, std::size_t alignment, std::uint8_t& size_class);
  /// Any thread. What take gave, with the size class that it told.
  void give_back(void* block, std::uint8_t size_class, std::size_t alignment) noexcept;

  /// Any thread: blocks handed out and not back, in all pools of the process. Exact when nothing runs.
  static std::size_t live_in_process();

 private:
  static constexpr std::size_t smallest = 128;  ///< bytes; class k is smallest << k
  static constexpr std::size_t classes = 14;
  static constexpr std::size_t largest = smallest << (classes - 1);
  static constexpr std::size_t block_alignment = 64;
  static constexpr std::uint8_t unpooled = 0xff;
  static constexpr std::int64_t bias = std::int64_t{1} << 62;

  struct Block {
    Block* next;
    std::uint8_t size_class;
  };

  FutureBlocks();
  ~FutureBlocks();
  void collect();
  void came_back(std::int64_t count) noexcept;

  // --- the owner's (made_ is read by others) ---
  std::array<Block*, classes> free_{};
  std::atomic<std::int64_t> made_{0};

  // --- written by every thread ---
  alignas(64) std::atomic<Block*> returned_{nullptr};
  std::atomic<std::int64_t> balance_{bias};
};

/// A context's own blocks, made when it needs the first; closed when it ends.
class FuturePool {
 public:
  FuturePool() = default;
  ~FuturePool() {
    if (blocks_ != nullptr) blocks_->close();
  }
  FuturePool(const FuturePool&) = delete;
  FutureBlocks& blocks() {
    if (blocks_ == nullptr) blocks_ = FutureBlocks::make();
    return *blocks_;
  }

 private:
  FutureBlocks* blocks_ = nullptr;
};

class FutureState {
 public:
  /// Owner of the pool. With one reference, the caller's; `context` names the context that launches. The value of a
  /// single launch: of `points` own points, 1 or 0.
  static FutureState* make(FuturePool& pool, const ResultType& type, std::uint64_t context,
                           std::size_t points = 1, const runtime::LaunchPoints& of_group = {});
  /// A group has one value per own point, also when it has a single point or none.
  static FutureState* make_group(FuturePool& pool, const ResultType& type, std::uint64_t context,
                                 const runtime::LaunchPoints& points) {
    return make(pool, type, context, points.own->volume(), points);
  }
  FutureState(const FutureState&) = delete;

  [[nodiscard]] const ResultType& type() const { return type_; }
  /// Own points.
  [[nodiscard]] std::size_t points() const { return points_; }
  [[nodiscard]] bool group() const { return static_cast<bool>(of_group_.domain); }
  /// The points of a group launch; null otherwise.
  [[nodiscard]] const runtime::LaunchPoints& of_group() const { return of_group_; }
  [[nodiscard]] std::uint64_t context() const { return context_; }

  // --- the launching context ---
  /// The operation that makes the value of a point. Depend on it (add_edge) or wait for it only while
  /// the point is not ready: a context that has ended takes its nodes along.
  void set_producer(std::size_t rank, const exec::NodeRef& node) { producers()[rank] = node; }
  [[nodiscard]] const exec::NodeRef& producer(std::size_t rank) const { return producers()[rank]; }

  // --- the producer of a point ---
  /// Where to construct the value; null when the type has size 0.
  [[nodiscard]] void* storage(std::size_t rank) {
    return type_.size == 0 ? nullptr : values() + rank * stride(type_);
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
  [[nodiscard]] const void* value(std::size_t rank) const {
    return values() + rank * stride(type_);
  }
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

  FutureState(FutureBlocks& blocks, const ResultType& type, std::uint64_t context,
              std::size_t points, const runtime::LaunchPoints& of_group, std::size_t values_offset,
              std::uint8_t size_class);
  ~FutureState();
  /// From one value to the next; alignments are powers of two.
  static constexpr std::size_t stride(const ResultType& type) {
    return (type.size + type.alignment - 1) & ~(type.alignment - 1);
  }
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
  const std::size_t values_offset_;
  const runtime::LaunchPoints of_group_;
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

namespace refrain::runtime {

/// One value from those of a group: an operation that comes after the tasks which make them. Made by the context's thread;
/// run by any, once.
struct FutureReduction {
  AnyFuture values;
  AnyFuture result;
  const ReductionOp* op = nullptr;

  /// Settles the result. `fail(error)` makes the failure of the operation when the operator throws.
  template <class Fail>
  void run(const exec::Failure* failure, Fail fail) {
    detail::FutureState& made = *result.state();
    if (failure != nullptr) return made.fail(0, *failure);
    try {
      fold();
      made.finish(0);
    } catch (...) {  // the operator is the program's
      made.fail(0, fail(std::current_exception()));
    }
  }

 private:
  void fold();
};

}  // namespace refrain::runtime
