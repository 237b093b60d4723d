#pragma once
// The judge of the shard layer: who owns and who has each point of a field, written out point by point.

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "data/index_space.hpp"

namespace refrain::test {

class NaiveHoldings {
 public:
  using Points = std::vector<data::BoxPoint>;
  static constexpr int every = -1;  ///< owner: each shard is

  NaiveHoldings(const data::IndexSpaceRef& space, int shards) : shards_(shards) {
    bounds_ = space->bounds();
    space->for_each_point([&](const data::BoxPoint& p) { points_[p] = {every, all()}; });
  }

  /// A shard reads: from whom it gets which points.
  std::map<int, Points> read(int shard, const data::IndexSpaceRef& points) const {
    std::map<int, Points> from;
    points->for_each_point([&](const data::BoxPoint& p) {
      const Point& point = points_.at(p);
      if (!point.holders.contains(shard)) from[point.owner].push_back(p);
    });
    return from;
  }
  void note_read(int shard, const data::IndexSpaceRef& points) {
    points->for_each_point([&](const data::BoxPoint& p) { points_.at(p).holders.insert(shard); });
  }
  /// `shard`: every one if `every`.
  void write(int shard, const data::IndexSpaceRef& points) {
    points->for_each_point([&](const data::BoxPoint& p) {
      points_.at(p) = {shard, shard == every ? all() : std::set<int>{shard}};
    });
  }
  /// Who folds contributions to the point.
  [[nodiscard]] int folder(const data::BoxPoint& p) const {
    const int owner = points_.at(p).owner;
    if (owner != every) return owner;
    int d = 0;  // the longest dimension
    for (int other = 1; other < 3; ++other)
      if (bounds_.hi[other] - bounds_.lo[other] > bounds_.hi[d] - bounds_.lo[d]) d = other;
    const Coord count = bounds_.hi[d] - bounds_.lo[d] + 1;
    int home = 0;
    while (count * (home + 1) / shards_ <= p[d] - bounds_.lo[d]) ++home;
    return home;
  }
  void reduce(const data::IndexSpaceRef& points) {
    points->for_each_point([&](const data::BoxPoint& p) {
      const int owner = folder(p);
      points_.at(p) = {owner, {owner}};
    });
  }
  [[nodiscard]] int owner(const data::BoxPoint& p) const { return points_.at(p).owner; }

 private:
  struct Point {
    int owner;
    std::set<int> holders;
  };
  [[nodiscard]] std::set<int> all() const {
    std::set<int> shards;
    for (int shard = 0; shard < shards_; ++shard) shards.insert(shard);
    return shards;
  }

  int shards_;
  data::Box bounds_;
  std::map<data::BoxPoint, Point> points_;
};

}  // namespace refrain::test
