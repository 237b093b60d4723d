#pragma once
// A search tree over boxes, each with an owner (a piece number): which boxes meet a given one?
//
// Built once: boxes are ordered along a space-filling path by splitting the longest extent at the
// median, and every node of an implicit binary tree keeps the bounds of its leaves. A query visits
// O(log n + hits) nodes for boxes that overlap few others. Immutable after construction, so any number
// of threads may query. Memory: 56 bytes per box and 96 per leaf of `leaf_size` boxes.

#include <cstdint>
#include <span>
#include <vector>

#include "data/index_space.hpp"

namespace refrain::data {

class BoxTree {
 public:
  struct Item {
    Box box;
    std::uint32_t owner;
  };

  explicit BoxTree(std::vector<Item> items);
  /// All boxes of all pieces; the owner is the position of the piece.
  static BoxTree of_pieces(std::span<const IndexSpaceRef> pieces);

  /// Calls f(item) for the items whose box meets `box` until it returns false; false if it did.
  template <class F>
  bool query(const Box& box, F&& f) const {
    return items_.empty() || query(1, 0, items_.size(), box, f);
  }
  [[nodiscard]] std::span<const Item> items() const { return items_; }

 private:
  static constexpr std::size_t leaf_size = 4;

  void build(std::size_t node, std::size_t first, std::size_t last);

  // Node n holds items [first, last); its children 2n and 2n + 1 hold the halves.
  template <class F>
  bool query(std::size_t node, std::size_t first, std::size_t last, const Box& box, F& f) const {
    if (!meet(bounds_[node], box)) return true;
    if (last - first <= leaf_size) {
      for (std::size_t i = first; i < last; ++i)
        if (meet(items_[i].box, box) && !f(items_[i])) return false;
      return true;
    }
    const std::size_t middle = first + (last - first) / 2;
    return query(2 * node, first, middle, box, f) && query(2 * node + 1, middle, last, box, f);
  }

  std::vector<Item> items_;
  std::vector<Box> bounds_;
};

}  // namespace refrain::data
