#pragma once
// Co-location: arguments whose collections overlap lie in the same kind of memory, so that their data need not be
// copied. Algorithm 2 of the paper, and the graph C of its Algorithm 1. Owner: one thread.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "map_search/space.hpp"

namespace refrain::map_search {

/// The edges between overlapping arguments that are not pruned yet.
class OverlapGraph {
 public:
  /// Without edges: each argument stands alone.
  explicit OverlapGraph(std::size_t arguments) : neighbours_(arguments) {}
  explicit OverlapGraph(const Space& space);

  /// O[(t, c)] without (t, c) itself, ascending.
  [[nodiscard]] const std::vector<std::uint32_t>& overlapping(std::uint32_t argument) const {
    return neighbours_[argument];
  }
  [[nodiscard]] bool overlap(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] std::size_t edges() const { return edges_.size() - pruned_; }
  /// Removes the lightest edges until `pruned` of all that there were are gone; of equally light ones, the space's first.
  void prune(std::size_t pruned);

 private:
  void connect();

  std::vector<Overlap> edges_;  ///< the lightest first
  std::size_t pruned_ = 0;      ///< so many of these
  std::vector<std::vector<std::uint32_t>> neighbours_;
};

/// Algorithm 2. `mapping` has the task of `argument` on a processor kind and `argument` itself in a memory that this
/// kind addresses. Moves the arguments that overlap with it to the same memory; tasks that cannot address an argument
/// that was moved, to the same processor kind; and so on, until nothing changes. Sets are gone through from the smallest
/// number on, and a memory that is to be selected is the first that the processor addresses in the machine's order.
///
/// The paper looks at each argument of a moved task once, when its turn comes. A task that is moved for the sake of a
/// later argument may then keep an earlier one in a memory that it no longer addresses, although the result is said to
/// satisfy constraint 1. Such tasks are looked at again here. Where the paper's result satisfies the constraint, this
/// is the paper's result.
///
/// The result may need a variant that does not exist.
[[nodiscard]] Mapping co_located(const Space& space, const OverlapGraph& overlaps, Mapping mapping,
                                 std::uint32_t argument);

}  // namespace refrain::map_search
