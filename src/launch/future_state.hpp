#pragma once
// What futures refer to (refrain/future.hpp): room for the value of a launch, or for one value per point of a
// group launch, and how far they have come.
//
// One block of memory holds the state, and per own point (launch/launch_plan.hpp) who makes the value, whether it is
// there, and the value. Everything is by own rank; programs ask by launch rank.
//
// Threads. The context that launches makes the state and says who produces (before anything can read
// that). The thread that runs a point constructs the value in storage(rank), says constructed(rank), and
// when the whole operation is done settles the point, before its node completes: finish(rank), or
// fail(rank, failure), with or without a value. Once per point. Any thread that holds a reference reads.
// What a producer wrote is visible to whoever found the point (or the whole) ready. References are counted;
// the last one to go destroys the values that were constructed, exactly once. A producer holds a reference
// until it has settled its point.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#include "graph/failure.hpp"
#include "graph/node.hpp"
#include "launch/launch_plan.hpp"
#include "refrain/dynamic.hpp"
#include "refrain/future.hpp"
#include "refrain/reduction.hpp"

namespace refrain::runtime {
struct ContextCore;
}

namespace refrain::detail {

class FutureState {
 public:
  /// With one reference, the caller's; `context` names the context that launches. A single launch has 1 own point, or
  /// 0 (on several shards 1 everywhere); a group has one value per own point, also when it has a single point or none.
  static FutureState* make(const ResultType& type, std::uint64_t context, std::size_t points = 1,
                           const runtime::LaunchPoints& of_group = {});
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
  void set_producer(std::size_t rank, const exec::NodeRef& node) { slots()[rank].producer = node; }
  [[nodiscard]] const exec::NodeRef& producer(std::size_t rank) const {
    return slots()[rank].producer;
  }

  // --- the producer of a point ---
  /// Where to construct the value; null when the type has size 0.
  [[nodiscard]] void* storage(std::size_t rank) {
    return type_.size == 0 ? nullptr : values() + rank * stride(type_);
  }
  /// There is a value, which will be destroyed. The point is not ready yet.
  void constructed(std::size_t rank) { slots()[rank].has_value = true; }
  void finish(std::size_t rank) {
    // release: partner of the acquires in ready().
    slots()[rank].settled.store(true, std::memory_order_release);
    unfinished_.fetch_sub(1, std::memory_order_release);
  }
  void fail(std::size_t rank, exec::FailureRef failure) noexcept {
    slots()[rank].failure = std::move(failure);
    finish(rank);
  }

  // --- readers ---
  [[nodiscard]] bool ready() const { return unfinished_.load(std::memory_order_acquire) == 0; }
  [[nodiscard]] bool ready(std::size_t rank) const {
    return slots()[rank].settled.load(std::memory_order_acquire);
  }
  /// The value of a point that is ready and did not fail.
  [[nodiscard]] const void* value(std::size_t rank) const {
    return values() + rank * stride(type_);
  }
  /// The failure of a point that is ready, or none.
  [[nodiscard]] const exec::FailureRef& failure(std::size_t rank) const {
    return slots()[rank].failure;
  }
  /// On several shards, of one value: the shard that has it, until all have. The context's thread writes; relaxed: who
  /// else reads it was given the value, and finds it ready.
  static constexpr std::uint32_t kEverywhere = ~std::uint32_t{0};
  std::atomic<std::uint32_t> at{kEverywhere};
  /// On several shards, of a group: all its values, once somebody has asked for them. The context's thread writes;
  /// release: any thread that has the future may read it.
  std::atomic<FutureState*> whole{nullptr};
  std::uint64_t call = 0;  ///< that has made it, of its context
  [[nodiscard]] FutureState& all() {
    FutureState* const known = whole.load(std::memory_order_acquire);
    return known != nullptr ? *known : *this;
  }
  /// On several shards: one of them has the value, or each those of its own points.
  [[nodiscard]] bool is_kept() const {
    if (group()) return of_group_.replicated != nullptr && whole.load() == nullptr;
    return at.load(std::memory_order_relaxed) != kEverywhere;
  }

  /// Of a state that is ready: the failure of the first point, by rank, that failed; or none.
  [[nodiscard]] exec::FailureRef failure() const;
  /// The same: of all its failures the first, by launch order.
  [[nodiscard]] exec::FailureRef first_failure() const;

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    // acq_rel: the last one sees the values that it destroys.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) end();
  }

  /// States alive in the process. Exact when nothing runs.
  static std::size_t live_count() { return live.load(std::memory_order_relaxed); }

 private:
  /// What is known of a point. Its producer writes, then settles it.
  struct Slot {
    exec::NodeRef producer;
    exec::FailureRef failure;
    bool has_value = false;
    std::atomic<bool> settled{false};
  };

  FutureState(const ResultType& type, std::uint64_t context, std::size_t points,
              const runtime::LaunchPoints& of_group, std::size_t values_offset);
  ~FutureState();
  /// From one value to the next; alignments are powers of two.
  static constexpr std::size_t stride(const ResultType& type) {
    return (type.size + type.alignment - 1) & ~(type.alignment - 1);
  }
  /// Of the state's block.
  static constexpr std::align_val_t alignment(const ResultType& type) {
    return std::align_val_t(std::max(type.alignment, alignof(FutureState)));
  }
  void end() noexcept;

  // What follows the state in its block.
  [[nodiscard]] Slot* slots() const {
    return reinterpret_cast<Slot*>(const_cast<FutureState*>(this) + 1);
  }
  [[nodiscard]] std::byte* values() const {
    return reinterpret_cast<std::byte*>(const_cast<FutureState*>(this)) + values_offset_;
  }

  static inline std::atomic<std::size_t> live{0};
  const ResultType type_;
  const std::size_t points_;
  const std::uint64_t context_;
  const std::size_t values_offset_;
  const runtime::LaunchPoints of_group_;
  std::atomic<std::uint64_t> unfinished_;
  std::atomic<std::uint32_t> references_{1};
};

/// Another reference.
inline AnyFuture share(FutureState& state) {
  state.retain();
  return AnyFuture(&state);
}

/// How the present thread waits for a future that is not ready: the program or the task's body that runs on
/// it. Reading what is ready takes none. This class itself is the waiter of a body without a context, which may wait for
/// nothing.
class Waiter {
 public:
  static constexpr std::size_t all = ~std::size_t{0};

  /// On its own thread: the state that has all values of a future. Where the program runs on several shards, all get them.
  [[nodiscard]] virtual FutureState& whole_of(FutureState& state, const Where& where);
  /// Whether it may wait for a future that is not ready.
  [[nodiscard]] virtual bool may_wait_for(const FutureState&) const { return false; }
  /// The program is about to be told whether a future is ready: whether it is known to be on every shard, though its value
  /// may be on its way to this one.
  [[nodiscard]] virtual bool is_known_ready(const FutureState&) const { return false; }
  /// The program was told whether a future is ready.
  virtual void was_asked(const FutureState&, bool /*ready*/, const Where&) {}
  /// On its own thread: returns when the point (`all`: every point) is ready.
  virtual void wait_for(FutureState&, std::size_t /*rank_or_all*/) {}
  /// The point (`all`: every point) was asked for and is ready, with or without a wait.
  virtual void has_waited_for(FutureState&, std::size_t /*rank_or_all*/) {}
  /// The context that it may call: null while it has none.
  [[nodiscard]] virtual const runtime::ContextCore* context_in_use() const { return nullptr; }

  /// The present thread's, or null.
  [[nodiscard]] static Waiter* current() noexcept;
  /// Sets it; returns the one before.
  static Waiter* set_current(Waiter* waiter) noexcept;

 protected:
  ~Waiter() = default;
};

/// Throws UsageError: one shard alone has the value, or each has a part, and it is too late to send it. On every shard
/// where the program asks.
[[noreturn]] void fail_kept();

}  // namespace refrain::detail

namespace refrain::runtime {

/// Reductions of values go by a fixed binary tree, whose shape depends on their number alone: the subtree of the points
/// first .. last - 1 has those before and from this one on below it.
inline std::uint64_t middle_of(std::uint64_t first, std::uint64_t last) {
  return first + (last - first) / 2;
}

/// One value from those of a group: an operation that comes after the tasks which make them. Made by the context's
/// thread; run by any, once.
struct FutureReduction {
  AnyFuture values;
  AnyFuture result;
  const ReductionOp* op = nullptr;
  exec::Failure::Origin origin{};  ///< of its own failure

  /// Settles the result. `failure`: the operation has failed. `fail(error)` makes its failure when the operator throws.
  template <class Fail>
  void run(exec::FailureRef failure, Fail fail) {
    detail::FutureState& made = *result.state();
    if (failure == nullptr) failure = values.state()->first_failure();
    if (failure != nullptr) return made.fail(0, std::move(failure));
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
