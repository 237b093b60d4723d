#pragma once
// Finds objects by the boxes they consist of. A few boxes stand in a list, more in an R-tree (Boost.Geometry), which
// costs O(log n + hits). Owner: the owner of the index; an object must outlive its entries.

#include <memory>
#include <utility>
#include <vector>

#include "data/box.hpp"

namespace refrain::analysis {

class BoxIndexBase {
 protected:
  struct Item {
    data::Box box;
    void* owner;
    friend bool operator==(const Item&, const Item&) = default;
  };

  BoxIndexBase();
  ~BoxIndexBase();
  void assign(std::vector<Item> all);
  void insert(const data::Box& box, void* owner);
  void erase(const data::Box& box, void* owner);
  void find(const data::Box& box, std::vector<void*>& found) const;

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

  /// Replaces all entries: quicker than one by one.
  void assign(std::vector<Item> all) { BoxIndexBase::assign(std::move(all)); }
  void insert(const data::Box& box, T& owner) { BoxIndexBase::insert(box, &owner); }
  /// `box` must be what insert was given.
  void erase(const data::Box& box, T& owner) { BoxIndexBase::erase(box, &owner); }
  /// Calls f(T&) for each box entered that meets `box`. It may change the index.
  template <class F>
  void find(const data::Box& box, F&& f) const {
    std::vector<void*> found;
    BoxIndexBase::find(box, found);
    for (void* owner : found) f(*static_cast<T*>(owner));
  }
};

}  // namespace refrain::analysis
