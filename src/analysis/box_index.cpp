#include "analysis/box_index.hpp"

// A header of Boost 1.74 includes one that it has itself marked as deprecated.
#define BOOST_ALLOW_DEPRECATED_HEADERS

#include <algorithm>
#include <boost/geometry.hpp>
#include <boost/geometry/index/rtree.hpp>
#include <boost/iterator/function_output_iterator.hpp>
#include <utility>

namespace refrain::analysis {

namespace bg = boost::geometry;

namespace {

using Corner = bg::model::point<Coord, 3, bg::cs::cartesian>;
using Bounds = bg::model::box<Corner>;
using Entry = std::pair<Bounds, void*>;

// One point must have a volume, and a box in fewer dimensions than three, too: an R-tree puts together
// what adds little volume. Doubled, neighbours still do not touch.
Bounds to_bounds(const data::Box& box) {
  return {Corner(2 * box.lo[0], 2 * box.lo[1], 2 * box.lo[2]),
          Corner(2 * box.hi[0] + 1, 2 * box.hi[1] + 1, 2 * box.hi[2] + 1)};
}

}  // namespace

struct BoxIndexBase::Tree {
  using Entries = bg::index::rtree<Entry, bg::index::linear<16>>;
  Entries entries;
};

BoxIndexBase::BoxIndexBase() = default;
BoxIndexBase::~BoxIndexBase() = default;

void BoxIndexBase::assign(std::vector<Item> all) {
  tree_.reset();
  list_ = std::move(all);
  if (list_.size() <= few) return;
  std::vector<Entry> entries;
  entries.reserve(list_.size());
  for (const Item& item : list_) entries.emplace_back(to_bounds(item.box), item.owner);
  tree_ = std::make_unique<Tree>(Tree{Tree::Entries(entries.begin(), entries.end())});
  list_ = {};
}

void BoxIndexBase::insert(const data::Box& box, void* owner) {
  if (tree_) {
    tree_->entries.insert({to_bounds(box), owner});
    return;
  }
  list_.push_back({box, owner});
  if (list_.size() <= few) return;
  tree_ = std::make_unique<Tree>();
  for (const Item& item : list_) tree_->entries.insert({to_bounds(item.box), item.owner});
  list_ = {};
}

void BoxIndexBase::erase(const data::Box& box, void* owner) {
  if (tree_) tree_->entries.remove(Entry{to_bounds(box), owner});
  else std::erase(list_, Item{box, owner});
}

void BoxIndexBase::find(const data::Box& box, std::vector<void*>& found) const {
  if (tree_) {
    tree_->entries.query(bg::index::intersects(to_bounds(box)),
                         boost::make_function_output_iterator(
                             [&](const Entry& entry) { found.push_back(entry.second); }));
    return;
  }
  for (const Item& item : list_)
    if (data::meet(item.box, box)) found.push_back(item.owner);
}

}  // namespace refrain::analysis
