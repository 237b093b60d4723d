#pragma once
// The independence check of a group launch: its points must not conflict, nor the arguments of one point. Two uses of the
// same data *conflict* when they share a point, unless both read, or both reduce with the same operator.
//
// Pure; any thread. Called when a launch is seen for the first time. Distinct pieces of a disjoint partition are
// independent without a look at their points; otherwise the check searches a tree of boxes (data/box_index.hpp) up to the
// first conflict: O(n log n) for n boxes.

#include <cstddef>
#include <optional>
#include <span>

#include "data/index_space.hpp"
#include "refrain/privilege.hpp"
#include "refrain/reduction.hpp"

namespace refrain::analysis {

/// One requirement of a launch, for all its points.
struct PointUses {
  const void* data = nullptr;  ///< names the field of the tree: equal for the same data
  Privilege privilege = Privilege::read;
  const ReductionOp* op = nullptr;  ///< of a reduction
  /// What each point uses, in the order of the launch domain; or one set that every point uses. The caller keeps it.
  /// Requirements may share it: of neighbours that write, only the first is searched for conflicts among its points.
  std::span<const data::IndexSpace* const> sets;
  /// All sets are pieces of one disjoint partition. Only looked at for writers.
  bool disjoint_pieces = false;
};

/// Two uses that conflict, by position of the launch point and of the requirement; the first of them
/// writes or reduces. The points are the same if it is one point's arguments that conflict.
struct Conflict {
  std::size_t first_point = 0, second_point = 0;
  std::size_t first_use = 0, second_use = 0;
  data::BoxPoint shared{};  ///< a point of the data that both use
  friend bool operator==(const Conflict&, const Conflict&) = default;
};

/// Whether uses with these privileges may share points.
[[nodiscard]] bool compatible(Privilege a, const ReductionOp* a_op, Privilege b,
                              const ReductionOp* b_op);

/// A conflict in a launch of `points` points (1: a single launch), or nothing. The same one in every run.
[[nodiscard]] std::optional<Conflict> find_conflict(std::size_t points,
                                                    std::span<const PointUses> uses);

}  // namespace refrain::analysis
