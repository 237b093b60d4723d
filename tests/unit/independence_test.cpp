// Independence of a launch's points and arguments, against point-by-point comparison.

#include "analysis/independence.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "data/partition_ops.hpp"
#include "point_sets.hpp"

namespace refrain::analysis::independence_test {
namespace {

using data::IndexSpaceRef;

constexpr const ReductionOp* sum = &reduction_op<Sum, double>;
constexpr const ReductionOp* product = &reduction_op<Product, double>;
const char state_field = 0, flux_field = 0;

PointUses uses_of(const char& field, Privilege privilege, const std::vector<IndexSpaceRef>& sets,
                  const ReductionOp* op = nullptr) {
  static std::deque<std::vector<const data::IndexSpace*>> kept;  // what uses look at
  std::vector<const data::IndexSpace*>& pointers = kept.emplace_back();
  for (const IndexSpaceRef& set : sets) pointers.push_back(set.get());
  PointUses uses;
  uses.data = &field;
  uses.privilege = privilege;
  uses.op = op;
  uses.sets = pointers;
  return uses;
}

class Line : public testing::Test {
 protected:
  static constexpr Coord pieces = 8;
  const IndexSpaceRef line = data::IndexSpace::dense(Rect1{0, 79});
  const data::Pieces owned = data::blocks(line, {pieces, 1, 1});
  const data::Pieces ghost = data::halo(owned, {1, 0, 0}, line);
};

TEST_F(Line, OwnedPiecesAreIndependent) {
  const PointUses writer = uses_of(state_field, Privilege::read_write, owned);
  EXPECT_EQ(find_conflict(pieces, {{writer}}), std::nullopt);
  const PointUses reader = uses_of(flux_field, Privilege::read, ghost);  // other data
  EXPECT_EQ(find_conflict(pieces, {{writer, reader}}), std::nullopt);
}

TEST_F(Line, GhostsMayBeReadButNotWritten) {
  EXPECT_EQ(find_conflict(pieces, {{uses_of(state_field, Privilege::read, ghost)}}), std::nullopt);
  const auto found = find_conflict(pieces, {{uses_of(state_field, Privilege::write, ghost)}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->second_point, found->first_point + 1);
  EXPECT_TRUE(ghost[found->first_point]->contains(found->shared));
  EXPECT_TRUE(ghost[found->second_point]->contains(found->shared));
}

TEST_F(Line, WritersAndReadersOfOneField) {
  const PointUses writer = uses_of(state_field, Privilege::write, owned);
  const PointUses reader = uses_of(state_field, Privilege::read, ghost);
  EXPECT_TRUE(find_conflict(pieces, {{writer, reader}}));
  EXPECT_TRUE(find_conflict(pieces, {{reader, writer}}));
  // Even pieces write, odd ones are read.
  const std::vector<IndexSpaceRef> even{owned[0], owned[2], owned[4]},
      odd{owned[1], owned[3], owned[5]};
  EXPECT_EQ(find_conflict(3, {{uses_of(state_field, Privilege::write, even),
                               uses_of(state_field, Privilege::read, odd)}}),
            std::nullopt);
}

TEST_F(Line, OneRegionForAllPoints) {
  EXPECT_EQ(find_conflict(pieces, {{uses_of(state_field, Privilege::read, {line})}}), std::nullopt);
  EXPECT_EQ(find_conflict(pieces, {{uses_of(state_field, Privilege::reduce, {line}, sum)}}),
            std::nullopt);
  EXPECT_EQ(find_conflict(pieces, {{uses_of(state_field, Privilege::write, {line})}}),
            (Conflict{0, 1, 0, 0, {0, 0, 0}}));
  EXPECT_EQ(find_conflict(1, {{uses_of(state_field, Privilege::write, {line})}}), std::nullopt);
  const auto found = find_conflict(pieces, {{uses_of(state_field, Privilege::write, owned),
                                             uses_of(state_field, Privilege::read, {owned[5]})}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first_point, 5u);  // its own two arguments
  EXPECT_EQ(found->second_point, 5u);
  EXPECT_EQ(found->first_use, 0u);
  EXPECT_EQ(found->second_use, 1u);
}

TEST_F(Line, OnePieceTwice) {
  PointUses writer = uses_of(state_field, Privilege::write, {owned[0], owned[1], owned[0]});
  writer.disjoint_pieces = true;
  const auto found = find_conflict(3, {{writer}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first_point, 0u);
  EXPECT_EQ(found->second_point, 2u);
  const IndexSpaceRef none = data::IndexSpace::empty_space(1);
  PointUses empty = uses_of(state_field, Privilege::write, {none, owned[1], none});
  empty.disjoint_pieces = true;
  EXPECT_EQ(find_conflict(3, {{empty}}), std::nullopt);
}

TEST_F(Line, Reductions) {
  const PointUses add = uses_of(state_field, Privilege::reduce, ghost, sum);
  const PointUses multiply = uses_of(state_field, Privilege::reduce, ghost, product);
  EXPECT_EQ(find_conflict(pieces, {{add, add}}), std::nullopt);
  EXPECT_TRUE(find_conflict(pieces, {{add, multiply}}));
  EXPECT_TRUE(find_conflict(pieces, {{add, uses_of(state_field, Privilege::read, owned)}}));
  const ReductionOp same_name = *sum;  // from another library: equal by name and type
  EXPECT_EQ(
      find_conflict(pieces, {{add, uses_of(state_field, Privilege::reduce, ghost, &same_name)}}),
      std::nullopt);
}

TEST_F(Line, RequirementsWithTheSamePieces) {
  PointUses first = uses_of(state_field, Privilege::write, owned);
  first.disjoint_pieces = true;
  PointUses second = first, third = first;
  second.data = third.data = &flux_field;
  EXPECT_EQ(find_conflict(pieces, {{first, second}}), std::nullopt);
  EXPECT_TRUE(find_conflict(pieces, {{first, second, third}}));  // the last two are of one field
  second.privilege = Privilege::reduce;
  second.op = sum;
  EXPECT_EQ(find_conflict(pieces, {{first, second}}), std::nullopt);
  // Pieces that meet: a reduction before or between the writers hides nothing.
  for (PointUses* use : {&first, &second, &third}) {
    use->sets = uses_of(state_field, Privilege::write, ghost).sets;
    use->disjoint_pieces = false;
  }
  second.sets = third.sets;
  EXPECT_TRUE(find_conflict(pieces, {{second, third}}));
  third.data = &state_field;
  const auto found = find_conflict(pieces, {{second, third}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first_use, 1u);
  EXPECT_EQ(found->second_use, 1u);
}

TEST_F(Line, NoPoints) {
  EXPECT_EQ(find_conflict(0, {{uses_of(state_field, Privilege::write, {})}}), std::nullopt);
}

// --- random launches ---

struct RandomLaunch {
  std::size_t points;
  std::vector<std::vector<IndexSpaceRef>> sets;
  std::vector<PointUses> uses;

  explicit RandomLaunch(unsigned seed) {
    data::RandomSets random(seed);
    const int dim = 1 + static_cast<int>(seed % 3);
    points = static_cast<std::size_t>(random.number(1, 5));
    const Coord range = data::test_range(dim) * 3;
    for (Coord n = random.number(1, 3); n > 0; --n) {
      auto& family = sets.emplace_back();
      const bool one = random.number(0, 3) == 0;
      for (std::size_t p = 0; p < (one ? 1 : points); ++p) {
        const data::BoxPoint at = random.point(dim, range);
        data::Box box{at, at};
        for (int d = 0; d < dim; ++d) box.hi[d] += random.number(-1, range / 3);
        family.push_back(random.number(0, 4) == 0 ? random.space(dim, 2)
                                                  : data::IndexSpace::dense(dim, box));
      }
      const auto privilege = static_cast<Privilege>(random.number(0, 3));
      uses.push_back(uses_of(random.number(0, 1) == 0 ? state_field : flux_field, privilege, family,
                             random.number(0, 1) == 0 ? sum : product));
      // Some requirements share their sets.
      if (random.number(0, 2) != 0) continue;
      const auto pieces = uses.back().sets;
      uses.push_back(uses_of(random.number(0, 1) == 0 ? state_field : flux_field,
                             static_cast<Privilege>(random.number(0, 3)), {}, sum));
      uses.back().sets = pieces;
    }
  }
  [[nodiscard]] const data::IndexSpace& set(std::size_t use, std::size_t point) const {
    return *uses[use].sets[uses[use].sets.size() == 1 ? 0 : point];
  }
  [[nodiscard]] bool clash(std::size_t i, std::size_t j) const {
    return uses[i].data == uses[j].data &&
           !compatible(uses[i].privilege, uses[i].op, uses[j].privilege, uses[j].op);
  }
  [[nodiscard]] bool dependent() const {
    for (std::size_t i = 0; i < uses.size(); ++i)
      for (std::size_t j = i; j < uses.size(); ++j)
        for (std::size_t p = 0; p < points; ++p)
          for (std::size_t q = 0; q < points; ++q)
            if ((i != j || p != q) && clash(i, j))
              for (const data::Box& a : set(i, p).boxes())
                for (const data::Box& b : set(j, q).boxes())
                  if (!intersection(a, b).empty()) return true;
    return false;
  }
};

TEST(Independence, RandomLaunchesAgainstEveryPair) {
  int dependent = 0;
  constexpr int launches = 6000;
  for (unsigned seed = 0; seed < launches; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomLaunch launch(seed);
    const auto found = find_conflict(launch.points, launch.uses);
    ASSERT_EQ(found.has_value(), launch.dependent());
    if (!found) continue;
    ++dependent;
    ASSERT_LT(found->first_point, launch.points);
    ASSERT_LT(found->second_point, launch.points);
    ASSERT_TRUE(found->first_use != found->second_use || found->first_point != found->second_point);
    ASSERT_TRUE(launch.clash(found->first_use, found->second_use));
    ASSERT_TRUE(launch.set(found->first_use, found->first_point).contains(found->shared));
    ASSERT_TRUE(launch.set(found->second_use, found->second_point).contains(found->shared));
  }
  EXPECT_GT(dependent, launches / 10);
  EXPECT_LT(dependent, launches * 9 / 10);
}

TEST(Independence, ManyPoints) {
  constexpr Coord n = 100000;
  const IndexSpaceRef line = data::IndexSpace::dense(Rect1{0, 4 * n - 1});
  const data::Pieces owned = data::blocks(line, {n, 1, 1});
  const data::Pieces ghost = data::halo(owned, {1, 0, 0}, line);
  PointUses writer = uses_of(state_field, Privilege::write, owned);
  const PointUses reader = uses_of(flux_field, Privilege::read, ghost);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(find_conflict(n, {{writer, reader}}), std::nullopt);
  writer.disjoint_pieces = true;
  EXPECT_EQ(find_conflict(n, {{writer, reader}}), std::nullopt);
  // Generous: for machines under load and sanitizers. Comparing every pair would take minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace refrain::analysis::independence_test
