#pragma once
// A box around the points of a field that were used so far: what instances of the whole field (Extent::whole) have room for
// where this process is one of several, and uses but its own points.
//
// Owner: the context's thread.

#include <cstdint>

#include "data/index_space.hpp"

namespace refrain::analysis {

class UsedExtent {
 public:
  /// No point of the space was used.
  explicit UsedExtent(const data::IndexSpaceRef& space)
      : space_(space), points_(data::IndexSpace::empty_space(space->dim())) {}

  [[nodiscard]] const data::IndexSpaceRef& points() const { return points_; }
  /// The points are used from here on. What grows often grows by as much as there is, so that a row after the other does
  /// not cost the square of their number.
  void widen(const data::IndexSpaceRef& points);
  /// Whether there may be instances that are smaller; until all_grown().
  [[nodiscard]] bool has_grown() const { return has_grown_; }
  void all_grown() { has_grown_ = false; }

 private:
  const data::IndexSpaceRef space_;
  data::IndexSpaceRef points_;  ///< all of the space within a box
  std::uint32_t widened_ = 0;   ///< how often
  bool has_grown_ = false;
};

}  // namespace refrain::analysis
