#include "data/box_index.hpp"

// A header of Boost 1.74 includes one that it has itself marked as deprecated.
#define BOOST_ALLOW_DEPRECATED_HEADERS

#include <algorithm>
#include <boost/geometry.hpp>
#include <boost/geometry/index/rtree.hpp>
#include <boost/iterator/function_output_iterator.hpp>

namespace refrain::data {

namespace bg = boost::geometry;

namespace {

using Corner = bg::model::point<Coord, 3, bg::cs::cartesian>;
using Bounds = bg::model::box<Corner>;
using Entry = std::pair<Bounds, const void*>;

// One point must have a volume, and a box in fewer dimensions than three, too: an R-tree puts together
// what adds little volume. Doubled, neighbours still do not touch.
// A box that is asked for may reach beyond all coordinates; cut off there it meets the same ones.
Bounds to_bounds(const Box& box) {
  constexpr Coord beyond = 2 * coordinate_limit;
  const auto doubled = [](Coord x) { return 2 * std::clamp(x, -beyond + 1, beyond - 1); };
  return {Corner(doubled(box.lo[0]), doubled(box.lo[1]), doubled(box.lo[2])),
          Corner(doubled(box.hi[0]) + 1, doubled(box.hi[1]) + 1, doubled(box.hi[2]) + 1)};
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

void BoxIndexBase::insert(const Box& box, const void* owner) {
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

void BoxIndexBase::erase(const Box& box, const void* owner) {
  if (tree_) tree_->entries.remove(Entry{to_bounds(box), owner});
  else std::erase(list_, Item{box, owner});
}

void BoxIndexBase::find(const Box& box, Found& found) const {
  if (tree_) {
    tree_->entries.query(bg::index::intersects(to_bounds(box)),
                         boost::make_function_output_iterator(
                             [&](const Entry& entry) { found.push_back(entry.second); }));
    return;
  }
  for (const Item& item : list_)
    if (meet(item.box, box)) found.push_back(item.owner);
}

BoxIndex<const NumberedBox> index_of(const std::vector<NumberedBox>& boxes) {
  std::vector<BoxIndex<const NumberedBox>::Item> items;
  items.reserve(boxes.size());
  for (const NumberedBox& box : boxes) items.push_back({box.box, &box});
  return BoxIndex<const NumberedBox>(std::move(items));
}

}  // namespace refrain::data
