#pragma once
// Naive references for tests of index spaces: sets written out point by point.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "data/index_space.hpp"

namespace refrain::data {

using PointSet = std::set<BoxPoint>;  // ordered as points are: the order of the domain

inline PointSet points_of(const Box& box) {
  PointSet points;
  for (Coord x = box.lo[0]; x <= box.hi[0]; ++x)
    for (Coord y = box.lo[1]; y <= box.hi[1]; ++y)
      for (Coord z = box.lo[2]; z <= box.hi[2]; ++z) points.insert({x, y, z});
  return points;
}

inline PointSet points_of(const BoxList& boxes) {
  PointSet points;
  for (const Box& box : boxes) points.merge(points_of(box));
  return points;
}

inline PointSet points_of(const IndexSpaceRef& space) {
  return points_of(BoxList(space->boxes().begin(), space->boxes().end()));
}

inline IndexSpaceRef space_of(int dim, const PointSet& points) {
  return IndexSpace::from_points(dim, std::vector<BoxPoint>(points.begin(), points.end()));
}

inline PointSet common(const PointSet& a, const PointSet& b) {
  PointSet out;
  std::ranges::set_intersection(a, b, std::inserter(out, out.end()));
  return out;
}
inline PointSet either(PointSet a, const PointSet& b) {
  a.insert(b.begin(), b.end());
  return a;
}
inline PointSet without(const PointSet& a, const PointSet& b) {
  PointSet out;
  std::ranges::set_difference(a, b, std::inserter(out, out.end()));
  return out;
}

/// Random sets that share coordinates often, so that slabs meet, merge and split.
class RandomSets {
 public:
  explicit RandomSets(unsigned seed) : random_(seed) {}

  Coord number(Coord lo, Coord hi) { return std::uniform_int_distribution<Coord>(lo, hi)(random_); }
  /// Coordinates within [-range, range].
  BoxPoint point(int dim, Coord range) {
    BoxPoint p;
    for (int d = 0; d < dim; ++d) p[d] = number(-range, range);
    return p;
  }
  Box box(int dim, Coord range) {
    Box b{point(dim, range), BoxPoint{}};
    for (int d = 0; d < dim; ++d) b.hi[d] = std::min(range, b.lo[d] + number(-1, range));
    return b;
  }
  BoxList boxes(int dim, Coord range) {
    BoxList list;
    for (Coord n = number(0, 8); n > 0; --n) list.push_back(box(dim, range));
    for (Coord n = number(0, 8); n > 0; --n) {
      const BoxPoint p = point(dim, range);
      list.push_back({p, p});
    }
    return list;
  }
  IndexSpaceRef space(int dim, Coord range) {
    return number(0, 3) == 0 ? IndexSpace::dense(dim, box(dim, range))
                             : IndexSpace::from_boxes(dim, boxes(dim, range));
  }

 private:
  std::mt19937 random_;
};

/// Small ranges for many dimensions, so that the references stay quick.
inline Coord test_range(int dim) { return dim == 1 ? 25 : dim == 2 ? 6 : 3; }

/// Calls body(random, dim, range) for seeds 0, 1, 2, ...; a failure names its seed.
template <class Body>
void for_seeds(unsigned count, Body&& body) {
  for (unsigned seed = 0; seed < count && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomSets random(seed);
    const int dim = 1 + static_cast<int>(seed % 3);
    body(random, dim, test_range(dim));
  }
}

// The definition of canonical lists (data/box_list.hpp), linear.
inline bool canonical_from(int d, int dim, BoxSpan list) {
  std::size_t previous = 0;
  for (std::size_t first = 0; first < list.size();) {
    const Coord lo = list[first].lo[d], hi = list[first].hi[d];
    std::size_t last = first;
    while (last < list.size() && list[last].lo[d] == lo && list[last].hi[d] == hi) ++last;
    if (hi < lo || (first > 0 && lo <= list[first - 1].hi[d])) return false;
    if (d == dim - 1 ? last - first != 1
                     : !canonical_from(d + 1, dim, list.subspan(first, last - first)))
      return false;
    if (first > 0 && lo == list[first - 1].hi[d] + 1 && last - first == first - previous) {
      bool equal = true;
      for (std::size_t i = 0; i < last - first; ++i)
        for (int k = d + 1; k < dim; ++k)
          equal &= list[first + i].lo[k] == list[previous + i].lo[k] &&
                   list[first + i].hi[k] == list[previous + i].hi[k];
      if (equal) return false;
    }
    previous = first;
    first = last;
  }
  return true;
}

inline bool is_canonical_list(int dim, BoxSpan list) {
  for (const Box& box : list)
    for (int d = dim; d < 3; ++d)
      if (box.lo[d] != 0 || box.hi[d] != 0) return false;
  return canonical_from(0, dim, list);
}

}  // namespace refrain::data
