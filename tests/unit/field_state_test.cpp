// Pieces and footprints of a field, against classes of points that the same sets contain.

#include "analysis/field_state.hpp"

#include <gtest/gtest.h>

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "point_sets.hpp"
#include "refrain/value_type.hpp"

namespace refrain::analysis::field_state_test {
namespace {

using data::Box;
using data::BoxList;
using data::IndexSpace;
using data::IndexSpaceRef;

IndexSpaceRef whole(int dim) {
  const Coord range = data::test_range(dim);
  Box box;
  for (int d = 0; d < dim; ++d) {
    box.lo[d] = -range;
    box.hi[d] = range;
  }
  return IndexSpace::dense(dim, box);
}

std::size_t cells_of(const FieldState& field) { return field.subdivision().cells(); }

/// How many classes the points fall into when those in the same sets are put together.
std::size_t classes(const IndexSpaceRef& space, const std::vector<IndexSpaceRef>& sets) {
  std::map<data::BoxPoint, std::vector<std::size_t>> members;
  for (const data::BoxPoint& p : data::points_of(space)) members[p];
  for (std::size_t i = 0; i < sets.size(); ++i)
    for (const data::BoxPoint& p : data::points_of(sets[i])) members[p].push_back(i);
  std::set<std::vector<std::size_t>> distinct;
  for (const auto& [point, in] : members) distinct.insert(in);
  return distinct.size();
}

TEST(FieldState, PiecesAreTheCoarsestThatTheSetsNeed) {
  for (unsigned seed = 1; seed <= 150; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3);
    data::RandomSets random(seed);
    const IndexSpaceRef space = whole(dim);
    FieldState field(space, value_type<double>(), "x");
    std::vector<IndexSpaceRef> sets;
    for (Coord n = random.number(1, 12); n > 0; --n) {
      sets.push_back(random.space(dim, data::test_range(dim)));
      const Footprint& footprint = field.footprint(sets.back());
      EXPECT_EQ(footprint.points, sets.back()) << "seed " << seed;
    }
    field.check_invariants();
    EXPECT_EQ(field.sets().size(), classes(space, sets)) << "seed " << seed;
    field.forget_footprints(
        [&](const Footprint& footprint) { return footprint.points != sets.front(); });
    field.check_invariants();
    EXPECT_EQ(field.sets().size(), classes(space, {sets.front()})) << "seed " << seed;
  }
}

TEST(FieldState, FindsThePiecesThatASetMeets) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3);
    data::RandomSets random(seed);
    FieldState field(whole(dim), value_type<double>(), "x");
    for (int n = 0; n < 6; ++n) field.footprint(random.space(dim, data::test_range(dim)));
    const IndexSpaceRef asked = random.space(dim, data::test_range(dim));
    std::vector<EquivalenceSet*> expected;
    for (const auto& piece : field.sets())
      if (!data::common(data::points_of(field.points_of(*piece)), data::points_of(asked)).empty())
        expected.push_back(piece.get());
    EXPECT_EQ(field.sets_meeting(asked), expected) << "seed " << seed;
  }
}

/// EquivalenceSet p of `pieces`: the points that are p modulo `pieces`, in a line of `boxes` boxes for each.
IndexSpaceRef scattered(Coord p, Coord pieces, Coord boxes) {
  BoxList list;
  for (Coord i = 0; i < boxes; ++i)
    list.push_back({{i * pieces + p, 0, 0}, {i * pieces + p, 0, 0}});
  return IndexSpace::from_boxes(1, std::move(list));
}

std::vector<std::uint32_t> numbers(std::span<EquivalenceSet* const> sets) {
  std::vector<std::uint32_t> numbers(sets.size());
  std::ranges::transform(sets, numbers.begin(), [](const auto* set) { return set->number; });
  return numbers;
}

void expect_alike(FieldState& field, FieldState& alone) {
  ASSERT_EQ(field.sets().size(), alone.sets().size());
  EXPECT_EQ(field.next_set(), alone.next_set());
  for (std::size_t i = 0; i < field.sets().size(); ++i) {
    EquivalenceSet &set = *field.sets()[i], &other = *alone.sets()[i];
    EXPECT_EQ(set.number, other.number);
    EXPECT_EQ(set.cut_from, other.cut_from);
    EXPECT_EQ(field.points_of(set), alone.points_of(other));
  }
}

// Fields that share a subdivision, each of which is cut by some of the same sets in an order of its own, now and then in
// the same one, and by several at once, beside fields that have one each, cut by one set after the other.
TEST(FieldState, SharingASubdivisionMakesNoDifference) {
  for (unsigned seed = 1; seed <= 150; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3);
    data::RandomSets random(seed);
    std::vector<IndexSpaceRef> sets;
    for (int n = 0; n < 8; ++n) sets.push_back(random.space(dim, data::test_range(dim)));
    std::vector<IndexSpaceRef> disjoint;
    for (int n = 0; n < 5; ++n)
      disjoint.push_back(
          data::subtract(random.space(dim, data::test_range(dim)), data::unite(dim, disjoint)));
    struct Fields {
      FieldState sharing, alone;
      Coord next = 0;
    };
    const auto shared = std::make_shared<Subdivision>(whole(dim));
    std::vector<std::unique_ptr<Fields>> fields;
    for (int f = 0; f < 4; ++f)
      fields.push_back(std::unique_ptr<Fields>(new Fields{
          {shared, value_type<double>(), "x"}, {whole(dim), value_type<double>(), "x"}}));
    for (int step = 0; step < 40; ++step) {
      auto& [sharing, alone, next] = *fields[static_cast<std::size_t>(random.number(0, 3))];
      if (random.number(0, 9) == 0) {
        const IndexSpaceRef kept = sets[static_cast<std::size_t>(random.number(0, 7))];
        const auto unwanted = [&](const Footprint& footprint) { return footprint.points != kept; };
        sharing.forget_footprints(unwanted);
        alone.forget_footprints(unwanted);
      } else if (random.number(0, 9) == 0) {
        sharing.add_footprints(disjoint);
        for (const IndexSpaceRef& set : disjoint)
          EXPECT_EQ(numbers(sharing.footprint(set).all()), numbers(alone.footprint(set).all()));
      } else {
        const Coord which = random.number(0, 5) == 0 ? random.number(0, 7) : next++ % 8;
        const IndexSpaceRef& set = sets[static_cast<std::size_t>(which)];
        EXPECT_EQ(numbers(sharing.footprint(set).all()), numbers(alone.footprint(set).all()));
        const IndexSpaceRef asked = random.space(dim, data::test_range(dim));
        EXPECT_EQ(numbers(sharing.sets_meeting(asked)), numbers(alone.sets_meeting(asked)));
      }
      sharing.check_invariants();
      expect_alike(sharing, alone);
      ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << ", step " << step;
    }
  }
}

// The second field follows the cuts of the first.
TEST(FieldState, FieldsThatAreUsedAlikeShareTheirCells) {
  const IndexSpaceRef space = IndexSpace::dense(Rect1{0, 63});
  const auto shared = std::make_shared<Subdivision>(space);
  FieldState first(shared, value_type<double>(), "x");
  FieldState second(shared, value_type<double>(), "y");
  for (FieldState* field : {&first, &second})
    for (Coord p = 0; p < 4; ++p) field->footprint(scattered(p, 4, 16));
  EXPECT_TRUE(first.subdivision().is_of(*shared) && second.subdivision().is_of(*shared));
  EXPECT_EQ(cells_of(second), 64U);
}

// Whatever the order and the overlaps, what is kept is in proportion to the boxes of the sets.
TEST(FieldState, CellsAreAsManyAsTheBoxesOfScatteredSets) {
  constexpr Coord pieces = 64, boxes = 50;
  FieldState field(IndexSpace::dense(Rect1{0, pieces * boxes - 1}), value_type<double>(), "x");
  for (Coord p = pieces; p-- > 0;) {
    field.footprint(scattered(p, pieces, boxes));
    EXPECT_LE(cells_of(field), static_cast<std::size_t>(2 * (pieces - p) * boxes + 1));
  }
  EXPECT_EQ(cells_of(field), static_cast<std::size_t>(pieces * boxes));
  EXPECT_EQ(field.sets().size(), static_cast<std::size_t>(pieces));
  for (Coord p = 0; p < pieces / 2; ++p)
    field.footprint(IndexSpace::dense(Rect1{p * boxes, p * boxes + 2 * boxes}));
  field.check_invariants();
  EXPECT_EQ(cells_of(field), static_cast<std::size_t>(pieces * boxes));
}

/// Lowered for a test.
class LeastEntries {
 public:
  explicit LeastEntries(std::size_t least)
      : before_(std::exchange(FieldState::least_entries, least)) {}
  ~LeastEntries() { FieldState::least_entries = before_; }
  LeastEntries(const LeastEntries&) = delete;

 private:
  std::size_t before_;
};

IndexSpaceRef some_interval(data::RandomSets& random) {
  const Coord low = random.number(0, 99'000);
  return IndexSpace::dense(Rect1{low, low + random.number(0, 999)});
}

// Each set overlaps ever more others, but what is kept is in proportion to those in use.
TEST(FieldState, SetsThatNobodyUsesAnyMoreTellNothingApart) {
  const LeastEntries least(2000);
  data::RandomSets random(11);
  FieldState field(IndexSpace::dense(Rect1{0, 99'999}), value_type<double>(), "x");
  std::vector<Footprint*> kept;
  kept.reserve(20);
  for (int i = 0; i < 20; ++i) kept.push_back(&field.footprint(some_interval(random)));
  std::vector<Footprint*> others;
  int tidied = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (field.overgrown()) {
      field.tidy();
      ++tidied;
    }
    others.push_back(&field.footprint(some_interval(random)));
    for (Footprint* footprint : kept) field.wake(*footprint);
    ASSERT_LE(field.entries(), 4500u);  // the first time none are given up
    ASSERT_LE(field.sets().size(), 3000u);
  }
  EXPECT_GT(tidied, 10);
  for (Footprint* footprint : kept) EXPECT_FALSE(footprint->dormant());
  for (std::size_t i = 0; i < 500; ++i) field.wake(*others[i]);
  field.check_invariants();
}

// Of sets that are used by turns none is given up again and again.
TEST(FieldState, SetsThatAreUsedByTurnsStayAwake) {
  const LeastEntries least(100);
  data::RandomSets random(12);
  FieldState field(IndexSpace::dense(Rect1{0, 99'999}), value_type<double>(), "x");
  std::vector<Footprint*> turns;
  turns.reserve(600);
  for (int i = 0; i < 600; ++i) turns.push_back(&field.footprint(some_interval(random)));
  std::size_t woken = 0;
  for (int round = 0; round < 20; ++round)
    for (Footprint* footprint : turns) {
      if (field.overgrown()) field.tidy();
      woken += footprint->dormant() ? 1 : 0;
      field.wake(*footprint);
    }
  EXPECT_LE(woken, 2 * turns.size());
  field.check_invariants();
}

TEST(FieldState, WhatIsAskedInPassingIsForgotten) {
  data::RandomSets random(7);
  const IndexSpaceRef space = IndexSpace::dense(Rect1{0, 9999});
  FieldState field(space, value_type<double>(), "x");
  const IndexSpaceRef kept = IndexSpace::dense(Rect1{100, 4999});
  field.footprint(kept);
  for (int i = 0; i < 3000; ++i) {
    const Coord low = random.number(0, 9999);
    const IndexSpaceRef set = IndexSpace::dense(Rect1{low, random.number(low, 9999)});
    EXPECT_EQ(field.footprint(set, true).points, set);
    if (field.crowded()) field.forget_footprints(&Footprint::passing);
    EXPECT_EQ(&field.footprint(kept), &field.footprint(kept, true));
    ASSERT_LE(field.sets().size(), 400u);
  }
  field.check_invariants();
}

}  // namespace
}  // namespace refrain::analysis::field_state_test
