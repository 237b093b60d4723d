#pragma once
// Sets in two dimensions, side by side: their boxes in an order in which a line can sweep over them.

#include <cstdint>
#include <map>
#include <memory_resource>
#include <vector>

#include "data/box_list.hpp"

namespace refrain::data {

/// The positions of boxes in the order of their lower ends, dimension 0 first. Cost: that of
/// sort_by_coordinate, twice.
[[nodiscard]] std::vector<std::uint32_t> order_in_plane(BoxSpan boxes);

/// Whether no two boxes meet. Cost: that of order_in_plane, and a few comparisons a box where they stand in rows; else that
/// of a Sweep.
[[nodiscard]] bool are_disjoint_in_plane(BoxSpan boxes);

/// A line along dimension 1 that sweeps over boxes in that order. It knows for each of its points how far boxes reach in
/// dimension 0. A box costs a step for each stretch of the line that it meets, and a search where it is far from
/// the last one: in rows and columns of boxes, a constant.
class Sweep {
 public:
  /// From the lower end of `bounds`, which contains all boxes.
  explicit Sweep(const Box& bounds)
      : at_(line_.try_emplace(bounds.lo[1], Stretch{bounds.hi[1], bounds.lo[0] - 1}).first) {}
  Sweep(const Sweep&) = delete;

  /// The line comes to the next box. Calls free(box) for what has no boxes between it and those before. False: it meets
  /// one of them.
  template <class Free>
  bool pass(const Box& box, Free&& free);
  /// The line comes to the end of `bounds`: what has no boxes up to there.
  template <class Free>
  void end(const Box& bounds, Free&& free) const {
    for (const auto& [lo, stretch] : line_) tell_free(lo, stretch, bounds.hi[0], free);
  }

 private:
  /// Up to its last point boxes reach to one place.
  struct Stretch {
    Coord hi, reached;
  };
  using Line = std::pmr::map<Coord, Stretch>;  ///< by the first point

  void find(Coord x);
  template <class Free>
  static void tell_free(Coord lo, const Stretch& stretch, Coord up_to, Free&& free) {
    if (stretch.reached < up_to) free(Box{{stretch.reached + 1, lo, 0}, {up_to, stretch.hi, 0}});
  }

  std::pmr::monotonic_buffer_resource memory_;  // a box makes two stretches at most
  Line line_{&memory_};
  Line::iterator at_;  ///< where the last box was
};

template <class Free>
bool Sweep::pass(const Box& box, Free&& free) {
  const Coord lo = box.lo[1], hi = box.hi[1];
  find(lo);
  if (at_->first < lo) {  // what is before the box stays as it is
    Stretch& before = at_->second;
    const Stretch rest{before.hi, before.reached};
    before.hi = lo - 1;
    at_ = line_.emplace_hint(std::next(at_), lo, rest);
  }
  const auto first = at_;
  for (auto each = first;;) {
    if (each->second.hi > hi) {
      const Stretch behind{each->second.hi, each->second.reached};
      each->second.hi = hi;
      line_.emplace_hint(std::next(each), hi + 1, behind);
    }
    if (each->second.reached >= box.lo[0]) return false;
    tell_free(each->first, each->second, box.lo[0] - 1, free);
    const bool is_last = each->second.hi == hi;
    each = each == first ? std::next(each) : line_.erase(each);
    if (is_last) break;
  }
  first->second = {hi, box.hi[0]};
  return true;
}

}  // namespace refrain::data
