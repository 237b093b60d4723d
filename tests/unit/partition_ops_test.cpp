// Partition operators against their definitions, written out point by point.

#include "data/partition_ops.hpp"

#include <gtest/gtest.h>

#include <map>

#include "data/box_index.hpp"
#include "data/index_space.hpp"
#include "point_sets.hpp"
#include "refrain/error.hpp"

namespace refrain::data::partition_ops_test {
namespace {

Box to_box(const BoxPoint& p) { return {p, p}; }
Box to_box(const Box& box) { return box; }

/// Values chosen per point, and a reader of them.
template <class Value>
struct Column {
  std::map<BoxPoint, Value> values;

  Reader reader() const {
    return [this](const BoxPoint& p) { return to_box(values.at(p)); };
  }
};

Pieces random_pieces(RandomSets& random, int dim, Coord range) {
  Pieces pieces;
  for (Coord n = random.number(1, 5); n > 0; --n) pieces.push_back(random.space(dim, range));
  return pieces;
}

bool near(const BoxPoint& a, const BoxPoint& b, const BoxPoint& width) {
  for (int d = 0; d < 3; ++d)
    if (std::abs(a[d] - b[d]) > width[d]) return false;
  return true;
}

BoxPoint random_width(RandomSets& random, int dim) {
  BoxPoint width;
  for (int d = 0; d < dim; ++d) width[d] = random.number(0, 2);
  return width;
}

TEST(PartitionOps, Blocks) {
  for_seeds(1500, [](RandomSets& random, int dim, Coord range) {
    const IndexSpaceRef space = random.space(dim, range);
    BoxPoint counts, sizes;
    for (int d = 0; d < dim; ++d) counts[d] = random.number(1, 4), sizes[d] = random.number(1, 5);
    const Box& bounds = space->bounds();

    const IndexSpaceRef colours = block_colours(dim, counts);
    const Pieces even = blocks(space, counts);
    ASSERT_EQ(even.size(), colours->volume());
    for (std::size_t i = 0; i < even.size(); ++i) {
      PointSet expected;
      for (const BoxPoint& p : points_of(space)) {
        bool inside = true;
        for (int d = 0; d < dim; ++d) {
          const Coord length = bounds.hi[d] - bounds.lo[d] + 1, at = p[d] - bounds.lo[d];
          const Coord c = colours->nth(i)[d];
          inside &= c * length / counts[d] <= at && at < (c + 1) * length / counts[d];
        }
        if (inside) expected.insert(p);
      }
      ASSERT_EQ(even[i], space_of(dim, expected));
    }
    ASSERT_TRUE(is_disjoint(even));
    ASSERT_TRUE(is_complete(even, space));

    const IndexSpaceRef tiles = block_colours(dim, block_counts(space, sizes));
    const Pieces sized = blocks_of_size(space, sizes);
    ASSERT_EQ(sized.size(), tiles->volume());
    for (const BoxPoint& p : points_of(space)) {
      BoxPoint c;
      for (int d = 0; d < dim; ++d) c[d] = (p[d] - bounds.lo[d]) / sizes[d];
      ASSERT_TRUE(sized[*tiles->rank(c)]->contains(p));
    }
    ASSERT_TRUE(is_disjoint(sized));
  });
}

TEST(PartitionOps, HaloAndInterior) {
  for_seeds(1500, [](RandomSets& random, int dim, Coord range) {
    const IndexSpaceRef region = random.space(dim, range);
    const Pieces pieces = random_pieces(random, dim, range);
    const BoxPoint width = random_width(random, dim);
    const Pieces grown = halo(pieces, width, region);
    const Pieces inner = interior(pieces, width, region);
    PointSet core;
    for (const BoxPoint& p : points_of(region)) {
      bool surrounded = true;
      for (const BoxPoint& q : points_of(Box{p - width, p + width}))
        surrounded &= region->contains(q);
      if (surrounded) core.insert(p);
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      PointSet expected;
      for (const BoxPoint& p : points_of(region))
        for (const BoxPoint& q : points_of(pieces[i]))
          if (near(p, q, width)) expected.insert(p);
      ASSERT_EQ(grown[i], space_of(dim, expected));
      ASSERT_EQ(inner[i], space_of(dim, common(points_of(pieces[i]), core)));
    }
  });
}

TEST(PartitionOps, HaloAndInteriorOfTheStencil) {
  const IndexSpaceRef cells = IndexSpace::dense(Rect1{0, 99});
  const Pieces owned = blocks(cells, {4, 1, 1});
  const Pieces ghost = halo(owned, {1, 0, 0}, cells);
  const Pieces inner = interior(owned, {1, 0, 0}, cells);
  EXPECT_EQ(ghost[0], IndexSpace::dense(Rect1{0, 25}));
  EXPECT_EQ(ghost[1], IndexSpace::dense(Rect1{24, 50}));
  EXPECT_EQ(inner[0], IndexSpace::dense(Rect1{1, 24}));
  EXPECT_EQ(inner[1], owned[1]);
  EXPECT_FALSE(is_disjoint(ghost));
  EXPECT_TRUE(is_complete(ghost, cells));
  EXPECT_FALSE(is_complete(inner, cells));
}

TEST(PartitionOps, RestrictAffine) {
  for_seeds(1000, [](RandomSets& random, int dim, Coord range) {
    const IndexSpaceRef parent = random.space(dim, range);
    const int colour_dim = static_cast<int>(random.number(1, 3));
    const IndexSpaceRef colours = random.space(colour_dim, 2);
    AffineMap map;
    for (auto& row : map.matrix)
      for (Coord& m : row) m = random.number(-2, 2);
    map.offset = random.point(dim, 3);
    const Box extent = random.box(dim, 2);
    const Pieces pieces = restrict_affine(colours, map, extent, parent);
    ASSERT_EQ(pieces.size(), colours->volume());
    std::size_t i = 0;
    colours->for_each_point([&](const BoxPoint& c) {
      PointSet expected;
      for (const BoxPoint& e : points_of(extent)) {
        BoxPoint p;
        for (int d = 0; d < dim; ++d) {
          p[d] = map.offset[d] + e[d];
          for (int k = 0; k < colour_dim; ++k)
            p[d] += map.matrix[static_cast<std::size_t>(d)][static_cast<std::size_t>(k)] * c[k];
        }
        if (parent->contains(p)) expected.insert(p);
      }
      ASSERT_EQ(pieces[i++], space_of(dim, expected));
    });
  });
}

TEST(PartitionOps, ByColour) {
  for_seeds(1000, [](RandomSets& random, int dim, Coord range) {
    const IndexSpaceRef space = random.space(dim, range);
    const int colour_dim = static_cast<int>(random.number(1, 3));
    const IndexSpaceRef colours = random.space(colour_dim, 2);
    Column<BoxPoint> column;
    for (const BoxPoint& p : points_of(space)) column.values[p] = random.point(colour_dim, 2);
    const Pieces pieces = by_colour(space, column.reader(), colours);
    ASSERT_EQ(pieces.size(), colours->volume());
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      PointSet expected;
      for (const auto& [p, colour] : column.values)
        if (colour == colours->nth(i)) expected.insert(p);
      ASSERT_EQ(pieces[i], space_of(dim, expected));
    }
    ASSERT_TRUE(is_disjoint(pieces));
  });
}

TEST(PartitionOps, ImageAndPreimage) {
  for_seeds(1000, [](RandomSets& random, int dim, Coord range) {
    const int target_dim = static_cast<int>(random.number(1, 3));
    const Coord target_range = test_range(target_dim);
    const IndexSpaceRef source = random.space(dim, range);
    const IndexSpaceRef target = random.space(target_dim, target_range);
    Column<BoxPoint> column;
    for (const BoxPoint& p : points_of(source))
      column.values[p] = random.point(target_dim, target_range);

    Pieces sources = random_pieces(random, dim, range);
    for (IndexSpaceRef& piece : sources) piece = intersect(piece, source);
    const Pieces images = image(sources, column.reader(), target);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      PointSet expected;
      for (const BoxPoint& p : points_of(sources[i])) expected.insert(column.values[p]);
      ASSERT_EQ(images[i], space_of(target_dim, common(expected, points_of(target))));
    }

    // Aliased pieces and disjoint ones take different ways.
    BoxPoint counts{2, 2, 2};
    for (const Pieces& targets :
         {random_pieces(random, target_dim, target_range), blocks(target, counts)}) {
      const Pieces preimages = preimage(targets, column.reader(), source);
      ASSERT_EQ(preimages.size(), targets.size());
      for (std::size_t i = 0; i < targets.size(); ++i) {
        PointSet expected;
        for (const auto& [p, pointed] : column.values)
          if (targets[i]->contains(pointed)) expected.insert(p);
        ASSERT_EQ(preimages[i], space_of(dim, expected));
      }
    }
  });
}

// So many that they are united on the way.
TEST(PartitionOps, ImageOfManyRectsThatAreFew) {
  const IndexSpaceRef cells = IndexSpace::dense(Rect1{0, 299'999});
  const IndexSpaceRef target = IndexSpace::dense(Rect1{0, 999});
  const Pieces images = image(
      {&cells, 1},
      [](const BoxPoint& p) {
        const Coord first = p[0] % 10 * 100;
        return Box{{first, 0, 0}, {first + 9, 0, 0}};
      },
      target);
  ASSERT_EQ(images.size(), 1U);
  EXPECT_EQ(images[0]->boxes().size(), 10U);
  EXPECT_EQ(images[0]->volume(), 100U);
  EXPECT_TRUE(images[0]->contains({909, 0, 0}));
}

TEST(PartitionOps, ImageAndPreimageOfRects) {
  for_seeds(600, [](RandomSets& random, int dim, Coord range) {
    const int target_dim = static_cast<int>(random.number(1, 3));
    const Coord target_range = test_range(target_dim);
    const IndexSpaceRef source = random.space(dim, range);
    const IndexSpaceRef target = random.space(target_dim, target_range);
    Column<Box> column;
    for (const BoxPoint& p : points_of(source))
      column.values[p] = random.box(target_dim, target_range);
    Pieces sources = random_pieces(random, dim, range);
    for (IndexSpaceRef& piece : sources) piece = intersect(piece, source);
    const Pieces images = image(sources, column.reader(), target);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      PointSet expected;
      for (const BoxPoint& p : points_of(sources[i])) expected.merge(points_of(column.values[p]));
      ASSERT_EQ(images[i], space_of(target_dim, common(expected, points_of(target))));
    }
    const Pieces targets = random_pieces(random, target_dim, target_range);
    const Pieces preimages = preimage(targets, column.reader(), source);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      PointSet expected;
      for (const auto& [p, pointed] : column.values)
        if (!common(points_of(pointed), points_of(targets[i])).empty()) expected.insert(p);
      ASSERT_EQ(preimages[i], space_of(dim, expected));
    }
  });
}

TEST(PartitionOps, FamiliesColourByColour) {
  for_seeds(300, [](RandomSets& random, int dim, Coord range) {
    Pieces a = random_pieces(random, dim, range), b = random_pieces(random, dim, range);
    a.resize(std::min(a.size(), b.size()));
    b.resize(a.size());
    const Pieces u = combination(a, b, unite), n = combination(a, b, intersect),
                 m = combination(a, b, subtract);
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(u[i], unite(a[i], b[i]));
      ASSERT_EQ(n[i], intersect(a[i], b[i]));
      ASSERT_EQ(m[i], subtract(a[i], b[i]));
    }
  });
}

TEST(PartitionOps, DisjointAndComplete) {
  for_seeds(3000, [](RandomSets& random, int dim, Coord range) {
    const IndexSpaceRef parent = random.space(dim, range);
    Pieces pieces = random_pieces(random, dim, range / 2 + 1);
    for (IndexSpaceRef& piece : pieces) piece = intersect(piece, parent);
    // Half of the families are made disjoint, and half of these complete.
    IndexSpaceRef rest = parent;
    if (random.number(0, 1))
      for (IndexSpaceRef& piece : pieces) {
        piece = intersect(piece, rest);
        rest = subtract(rest, piece);
      }
    if (random.number(0, 1)) pieces.push_back(rest);
    std::size_t total = 0;
    PointSet all;
    for (const IndexSpaceRef& piece : pieces) {
      total += piece->volume();
      all = either(std::move(all), points_of(piece));
    }
    ASSERT_EQ(is_disjoint(pieces), all.size() == total);
    ASSERT_EQ(is_complete(pieces, parent), all.size() == parent->volume());
  });
}

TEST(PartitionOps, BoxIndexFindsAllThatMeet) {
  for_seeds(500, [](RandomSets& random, int dim, Coord) {
    std::vector<NumberedBox> items;
    for (Coord n = random.number(0, 60); n > 0; --n) {
      const Box box = random.box(dim, 20);
      if (!box.empty()) items.push_back({box, static_cast<std::uint32_t>(items.size())});
    }
    const auto index = index_of(items);
    for (int i = 0; i < 20; ++i) {
      const Box asked = random.box(dim, 22);
      if (asked.empty()) continue;
      std::set<std::uint32_t> found, expected;
      index.find(asked,
                 [&](const NumberedBox& item) { EXPECT_TRUE(found.insert(item.number).second); });
      for (const NumberedBox& item : items)
        if (!intersection(item.box, asked).empty()) expected.insert(item.number);
      ASSERT_EQ(found, expected);
    }
  });
}

TEST(PartitionOps, IdTellsContentsApart) {
  const IndexSpaceRef cells = IndexSpace::dense(Rect1{0, 99});
  const IndexSpaceRef colours = block_colours(1, {4, 1, 1});
  const Pieces a = blocks(cells, {4, 1, 1});
  Pieces b = a;
  EXPECT_EQ(partition_id(cells, colours, a), partition_id(cells, colours, b));
  std::swap(b[0], b[1]);
  EXPECT_NE(partition_id(cells, colours, a), partition_id(cells, colours, b));
  EXPECT_NE(partition_id(cells, colours, a), partition_id(a[0], colours, a));
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const UsageError& error) { return error.what(); }
  return "no error";
}

TEST(PartitionErrors, NameWhatIsWrong) {
  const IndexSpaceRef cells = IndexSpace::dense(Rect1{0, 99});
  const IndexSpaceRef colours = block_colours(1, {2, 1, 1});
  const Pieces good = blocks(cells, {2, 1, 1});
  EXPECT_EQ(error_of([&] { check_pieces(good, colours, cells); }), "no error");
  EXPECT_EQ(error_of([&] {
              (void)halo(good, {-1, 0, 0}, cells);
            }),
            "a width of -1 is not within 0 and 2^60");
  EXPECT_EQ(error_of([&] { check_pieces(Pieces{cells}, colours, cells); }),
            "1 pieces for 2 colours");
  const Pieces outside{cells, IndexSpace::dense(Rect1{90, 105})};
  EXPECT_EQ(error_of([&] { check_pieces(outside, colours, cells); }),
            "the piece of colour 1 has points outside its region, 100 for one; "
            "the region is [0..99]");
  const Pieces flat{cells, IndexSpace::dense(Rect2{{0, 0}, {1, 1}})};
  EXPECT_EQ(error_of([&] { check_pieces(flat, colours, cells); }),
            "the piece of colour 1 has 2 dimensions, its region 1");
}

}  // namespace
}  // namespace refrain::data::partition_ops_test
