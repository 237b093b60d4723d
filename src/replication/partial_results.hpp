#pragma once
// What is known so far of the reduction of a group's values: results of whole subtrees of the fixed tree over its points
// (launch/future_state.hpp), so that the bits of the result depend on the number of points alone, wherever they ran.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/failure.hpp"
#include "launch/future_state.hpp"
#include "refrain/reduction.hpp"
#include "replication/wire.hpp"

namespace refrain::replication {

/// The result of the points first .. last - 1, which are a subtree.
struct PartialResult {
  std::uint64_t first = 0, last = 0;
  std::vector<std::byte> value;
};

/// Those of one shard and of shards below it in the tree of ranks. One thread.
class PartialResults {
 public:
  PartialResults(const ReductionOp& op, std::size_t points) : op_(op), points_(points) {}

  /// Values of a future, at these ranks of the launch. All are ready.
  void add(const refrain::detail::FutureState& values, const std::vector<std::size_t>& ranks);
  /// Those of another shard.
  void add(PartialResults other);
  /// What another shard has written; nothing says nothing. WrongMessage for what cannot be of the same reduction.
  void read(Reader from, KnownFailures& failures);
  /// Something else has failed.
  void fail(exec::FailureRef failure) { failure_ = exec::first_of(failure_, failure); }
  /// Puts together what are neighbours. Then what there is may be written, or taken.
  void combine();
  void write(Writer& to, KnownFailures& failures) const;
  /// The first failure of any value, or null.
  [[nodiscard]] const exec::FailureRef& failure() const { return failure_; }
  /// Whether the values of all points have come, or there are none.
  [[nodiscard]] bool is_complete() const;
  /// Where there is no failure: the result, or, where not all have come, the neutral value.
  void take(std::byte* into) const;

 private:
  /// Appends what there is of a subtree to `into`. True: it is its result.
  bool combine(std::uint64_t first, std::uint64_t last, std::vector<PartialResult>& into);

  const ReductionOp& op_;
  const std::uint64_t points_;
  exec::FailureRef failure_;
  std::vector<PartialResult> parts_;  ///< by `first`, once combined
  std::size_t next_ = 0;              ///< of them, in combine()
};

}  // namespace refrain::replication
