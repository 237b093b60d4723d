#pragma once
// Finds owners by the boxes that they consist of: which of them meet a given box?
//
// A few boxes stand in a list, more in an R-tree (Boost.Geometry): O(log n + hits) then. Built at once it is packed,
// which takes about 80 ns a box. The index keeps pointers; owners must outlive their entries. Threads: the owner
// changes it; any number may search meanwhile nobody does.

#include <boost/container/small_vector.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "data/box_list.hpp"

namespace refrain::data {

class BoxIndexBase {
 protected:
  struct Item {
    Box box;
    const void* owner;
    friend bool operator==(const Item&, const Item&) = default;
  };
  using Found = boost::container::small_vector<const void*, 8>;

  BoxIndexBase();
  ~BoxIndexBase();
  void assign(std::vector<Item> all);
  void insert(const Box& box, const void* owner);
  void erase(const Box& box, const void* owner);
  void find(const Box& box, Found& found) const;

 private:
  struct Tree;
  static constexpr std::size_t few = 16;

  std::vector<Item> list_;      ///< everything, while there is little
  std::unique_ptr<Tree> tree_;  ///< everything, once there has been more
};

template <class T>
class BoxIndex : private BoxIndexBase {
 public:
  using BoxIndexBase::Item;  ///< a box and the T it belongs to

  BoxIndex() = default;
  explicit BoxIndex(std::vector<Item> all) { assign(std::move(all)); }

  /// These, and nothing else: quicker than one by one.
  void assign(std::vector<Item> all) { BoxIndexBase::assign(std::move(all)); }
  void insert(const Box& box, T& owner) { BoxIndexBase::insert(box, &owner); }
  /// `box` must be what insert was given.
  void erase(const Box& box, T& owner) { BoxIndexBase::erase(box, &owner); }
  /// Calls f(T&) for each box entered that meets `box`, in no particular order. It may change the index.
  template <class F>
  void find(const Box& box, F&& f) const {
    Found found;
    BoxIndexBase::find(box, found);
    for (const void* owner : found) f(*static_cast<T*>(const_cast<void*>(owner)));
  }
};

/// A box, and whose it is, by number.
struct NumberedBox {
  Box box;
  std::uint32_t number = 0;
};

/// The boxes of sets, by the position of their set. `sets`: references to index spaces, or pointers.
template <class Sets>
std::vector<NumberedBox> numbered_boxes(const Sets& sets) {
  std::vector<NumberedBox> boxes;
  boxes.reserve(sets.size());
  for (std::uint32_t number = 0; const auto& set : sets) {
    for (const Box& box : set->boxes()) boxes.push_back({box, number});
    ++number;
  }
  return boxes;
}

/// The index of a list that is made once: its entries are what is found. It must outlive the index and stay as it is.
BoxIndex<const NumberedBox> index_of(const std::vector<NumberedBox>& boxes);

}  // namespace refrain::data
