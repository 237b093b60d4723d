#pragma once
// An error on its way along the data edges of the task graph. A node that throws makes one; every node
// that would have read what it should have written carries the same one instead of running its body.
//
// Immutable after creation and reference counted (any thread). A pointer kept beyond the moment at
// which it was read from a node needs a reference of its own: FailureRef.
//
// Order. When several failures reach a node, the one whose thrower was launched first stays; one of another
// scope (which comes with a future that was there already) before those of the node's own. Which failures
// reach a node is decided by the graph alone, so the one that stays is the same in every run.

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
  /// What threw.
  struct Origin {
    std::uint64_t scope;  ///< Scope::identity
    std::uint64_t seq;    ///< within its scope
    friend auto operator<=>(const Origin&, const Origin&) = default;
  };
  /// What messages call an operation. Not asked where memory is short.
  using Who = std::function<std::string()>;
  /// The failure of an operation whose run threw `error`.
  static FailureRef thrown_by(const Origin& origin, const std::exception_ptr& error,
                              const Who& who) noexcept;

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

  static void* operator new(std::size_t size) { return allocate_surely(size, kAlign); }
  static void operator delete(void* memory, std::size_t size) { free_surely(memory, size, kAlign); }

 private:
  Failure(const Origin& origin, std::exception_ptr error)
      // NOLINTNEXTLINE(bugprone-throw-keyword-missing): it is kept.
      : origin_(origin), error_(std::move(error)) {}
  static constexpr std::size_t kAlign = alignof(std::max_align_t);
  const Origin origin_;
  std::exception_ptr error_;
  mutable std::atomic<bool> told_{false};
};

/// Makes the failure of a node whose run is throwing `error` on this thread. Valid until the node has come
/// back; for longer, a FailureRef. `who` is what the text calls it: if not given, operation_name.
const Failure& fail(Node& node, const std::exception_ptr& error,
                    const Failure::Who& who = nullptr) noexcept;

/// Whether `a` is the one to tell of two failures that reach an operation of this scope.
bool comes_before(const Failure& a, const Failure& b, std::uint64_t scope);
/// The one to tell of two, either of which may be null.
inline const Failure* first_of(const Failure* a, const Failure* b, std::uint64_t scope) {
  return a == nullptr || (b != nullptr && comes_before(*b, *a, scope)) ? b : a;
}

/// Gives `failure` to a node that is not yet running, unless it carries one of an earlier launch.
/// Several completing threads may do this at once to one node; failures are rare, so they take turns
/// behind one lock.
void pass_failure(const Failure& failure, Node& to);

/// The failures of a scope's nodes that have come back. Owner of the scope only.
class FailureLog {
 public:
  /// `node` has come back: notes its failure and takes it off the node.
  void reclaimed(Node& node);
  /// This complete operation of the scope has the failure. May be said twice.
  void note(const Failure::Origin& operation, FailureRef failure) {
    const bool threw = failure->origin() == operation;
    entries_.try_emplace(operation.seq, Entry{std::move(failure), threw});
  }
  /// The failure that a complete operation's data carries, null if it did not fail. Consulted by add_edge; costs one load
  /// while nothing ever failed.
  [[nodiscard]] const Failure* of(const NodeRef& ref) const;
  /// The earliest of those that threw themselves which was not taken and not told yet; null if there is none.
  FailureRef take();
  /// Forgets the failure of every operation for which `unreachable(seq)`: nobody will add an edge from it any more. One
  /// that is to be taken stays until it has been told.
  template <class Predicate>
  void prune(Predicate unreachable) {
    std::erase_if(entries_, [&](const auto& entry) {
      const auto& [seq, is] = entry;
      return unreachable(seq) && (!is.to_be_taken || is.failure->told());
    });
  }
  /// How many are remembered.
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    FailureRef failure;
    bool to_be_taken;
  };
  /// By number, of every failed operation.
  std::map<std::uint64_t, Entry, std::less<>, SureAllocator<std::pair<const std::uint64_t, Entry>>>
      entries_;
};

}  // namespace refrain::exec
