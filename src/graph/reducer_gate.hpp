#pragma once
// Bounds the accumulators that are alive in a scope: a reducing task holds one from its start until it
// has been folded into the region.
//
// Rules. At most `capacity` reducers hold an accumulator, and among the reducers that are ready, the
// one enrolled first starts first: launch order, in which predecessors come first. The oldest reducer
// that has not been folded may start even when all slots are taken: the folds of younger ones may have
// to wait for its own, so making it wait could last for ever. It depends on older operations only, and
// all older reducers are folded, so it does become ready. Hence never more than capacity + 1
// accumulators, and never a deadlock.
//
// A reducer may have several folds (one per region argument); its slot is free when the last has
// completed. The owner says how many before it publishes the reducer (set_folds), and for each fold
// before it publishes that one, which reducer it belongs to (attach_fold). A fold completes even when
// its reducer failed, so the slot always comes back.
//
// Threads: enroll, set_folds and attach_fold are the scope owner's; admit and folded any thread's. One
// lock per gate. Memory: one entry per reducer in flight, allocated as their number grows. Finding one is a
// binary search while they are enrolled in the order of their numbers; those of replays, which are
// reserved beforehand, may not be when several replays are issued by turns.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/sure_memory.hpp"
#include "graph/node.hpp"

namespace refrain::exec {

class ReducerGate {
 public:
  explicit ReducerGate(int capacity) : capacity_(capacity) {}

  /// Before `reducer` is published: it has `folds` folds (at least 1; 1 when this is not called).
  static void set_folds(Node& reducer, std::uint32_t folds) { reducer.reduction = folds; }
  /// Before `fold` is published: it folds what `reducer` accumulates.
  static void attach_fold(const NodeRef& reducer, Node& fold) {
    fold.reduction = static_cast<std::uint32_t>(fold.seq - reducer.seq);
  }

  /// Publication of a reducer.
  void enroll(Node& reducer);
  /// A reducer has become ready. True: it starts now. False: a later call of folded() returns it.
  bool admit(Node& reducer);
  /// A fold has completed. The reducers that may start now, linked through `next`; null if none.
  Node* folded(const Node& fold);

  /// Accumulators held now.
  [[nodiscard]] int held() const;
  /// Entries kept: at most twice as many as reducers are enrolled and not folded.
  [[nodiscard]] std::size_t entries() const;

 private:
  enum class State : std::uint8_t { unready, ready, started, folded };
  struct Entry {
    std::uint64_t seq;
    Node* node;
    std::uint32_t folds_left;
    State state = State::unready;
  };

  Entry& find(std::uint64_t seq);
  void drop_folded();
  bool may_start(const Entry& entry) const;
  Node* start_ready();

  mutable std::mutex mutex_;
  std::vector<Entry, SureAllocator<Entry>>
      entries_;             ///< as enrolled; folded ones are dropped now and then
  std::size_t folded_ = 0;  ///< of them
  std::size_t oldest_ = 0;  ///< the first that is not folded
  int capacity_;
  int held_ = 0;
  int ready_ = 0;
};

}  // namespace refrain::exec
