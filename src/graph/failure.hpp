#pragma once
// The error of an operation. It travels with the data: points that an operation should have written and has not have its
// failure in place of values (analysis/poison.hpp), and an operation that reads such points carries the same failure
// instead of running. A future carries one likewise (launch/future_state.hpp). The graph itself knows of no failure: it
// orders operations, and an operation that has failed completes like any other.
//
// Immutable after creation and reference counted (any thread).
//
// Order. Of several failures that meet, the one whose thrower was launched first is told. Which ones meet is decided by
// the data alone, so it is the same in every run.

#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/sure_memory.hpp"
#include "graph/node.hpp"

namespace refrain::exec {

class Failure;
/// One reference to a failure, or none.
using FailureRef = boost::intrusive_ptr<const Failure>;

class Failure : public boost::intrusive_ref_counter<Failure> {
 public:
  /// What threw. Where the program runs on several shards it has a name that all of them know: the number of the call,
  /// the rank of the launch point, and the argument of its fold, from 1. Elsewhere it is named by its number in its scope,
  /// which no other name can be equal to.
  struct Origin {
    static constexpr std::uint32_t kNumberInScope = ~std::uint32_t{0};
    std::uint64_t scope;  ///< Scope::identity
    std::uint64_t seq;    ///< or of the call
    std::uint32_t rank = 0, argument = kNumberInScope;
    [[nodiscard]] bool is_known_to_shards() const { return argument != kNumberInScope; }
    friend auto operator<=>(const Origin&, const Origin&) = default;
  };
  /// What messages call an operation. Not asked where memory is short.
  using Who = std::function<std::string()>;
  /// The failure of an operation whose run threw `error`.
  static FailureRef thrown_by(const Origin& origin, const std::exception_ptr& error,
                              const Who& who) noexcept;

  /// One that came with data of another shard.
  static FailureRef of_elsewhere(const Origin& origin, std::exception_ptr error) {
    // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): its memory is sure.
    return new Failure(origin, std::move(error));
  }

  /// Whether there is any in the process. While there is none, all data has its values, and nobody has to look.
  /// relaxed: whoever reads data comes after the operation that should have written it, and so after the making of its
  /// failure, which the data holds.
  [[nodiscard]] static bool any() { return living.load(std::memory_order_relaxed) != 0; }

  [[nodiscard]] const Origin& origin() const { return origin_; }
  /// A TaskFailed: "task 'NAME' launched at FILE:LINE failed: TEXT". Where there was no memory to say so, what
  /// was thrown.
  [[nodiscard]] const std::exception_ptr& error() const { return error_; }
  /// Throws it to the program or body that waits: it has been told then.
  [[noreturn]] void rethrow() const {
    told_.store(true, std::memory_order_relaxed);
    std::rethrow_exception(error_);
  }
  [[nodiscard]] bool told() const { return told_.load(std::memory_order_relaxed); }

  ~Failure() { living.fetch_sub(1, std::memory_order_relaxed); }
  Failure(const Failure&) = delete;
  static void* operator new(std::size_t size) { return allocate_surely(size, kAlign); }
  static void operator delete(void* memory, std::size_t size) { free_surely(memory, size, kAlign); }

 private:
  Failure(const Origin& origin, std::exception_ptr error)
      // NOLINTNEXTLINE(bugprone-throw-keyword-missing): it is kept.
      : origin_(origin), error_(std::move(error)) {
    living.fetch_add(1, std::memory_order_relaxed);
  }
  static constexpr std::size_t kAlign = alignof(std::max_align_t);
  static inline std::atomic<std::uint32_t> living{0};
  const Origin origin_;
  std::exception_ptr error_;
  mutable std::atomic<bool> told_{false};
};

/// Any thread: a node fails with `error`, which its scope will tell if nobody else does. `who` is what the text calls it: if
/// not given, operation_name. The scope's user hears at once (ScopeUser::failed_here).
FailureRef fail(const Node& node, const std::exception_ptr& error,
                const Failure::Who& who = nullptr) noexcept;
/// The same under a name that all shards know. The scope's user does not hear of it.
FailureRef fail(const Node& node, const Failure::Origin& origin, const std::exception_ptr& error,
                const Failure::Who& who = nullptr) noexcept;

/// The one to tell of two, either of which may be null.
inline const FailureRef& first_of(const FailureRef& a, const FailureRef& b) {
  return a == nullptr || (b != nullptr && b->origin() < a->origin()) ? b : a;
}

/// The failures that operations of a scope have thrown and nobody has been told of. Any thread.
class FailureLog {
 public:
  void add(std::uint64_t seq, FailureRef failure) noexcept;
  /// Of an operation that has not been told of; null if it has not failed.
  [[nodiscard]] const Failure* find(std::uint64_t seq) const;
  /// Takes out the earliest; null if there is none.
  FailureRef take();
  /// One that was taken is not told now.
  void put_back(FailureRef failure) noexcept { add(0, std::move(failure)); }
  [[nodiscard]] std::size_t size() const;

 private:
  void forget_told();

  struct Entry {
    FailureRef failure;
    std::uint64_t seq;  ///< of the operation
  };
  /// Under one lock for all logs.
  std::map<Failure::Origin, Entry, std::less<>,
           SureAllocator<std::pair<const Failure::Origin, Entry>>>
      entries_;
};

}  // namespace refrain::exec
