// Region trees: names that repeat, handles that know when they are dead, bounded memory of the past.

#include "data/region_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <unordered_set>

#include "data/partition_ops.hpp"
#include "refrain/error.hpp"

namespace refrain::data::region_tree_test {
namespace {

constexpr Field<double> value{"value"};
constexpr Field<int> count{"count"};

FieldColumn column(const AnyField& field) {
  return {std::string(field.name), field.key, *field.type};
}
IndexSpaceRef line(Coord points) { return IndexSpace::dense(Rect1{0, points - 1}); }
RegionTree& make_tree(Forest& forest, Coord points) {
  return forest.create(line(points), {column(value)});
}
AnyPartition make_blocks(RegionTree& tree, std::uint32_t node, Coord pieces) {
  const BoxPoint counts{pieces, 1, 1};
  return tree.make_partition(node, block_colours(1, counts), blocks(tree.node(node).space, counts),
                             "blocks");
}
bool has(const RegionTree& tree, const IndexSpaceRef& points) {
  std::unordered_set<const IndexSpace*> rest{points.get()};
  tree.erase_own(rest);
  return rest.empty();
}
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const UsageError& error) { return error.what(); }
  return "";
}

TEST(RegionTree, FieldsAreFoundByNameAndType) {
  Forest forest;
  RegionTree& tree = forest.create(line(4), {column(value), column(count)});
  EXPECT_EQ(tree.find_field(value), 0u);
  EXPECT_EQ(tree.find_field(count), 1u);
  EXPECT_EQ(tree.find_field(Field<float>{"value"}), std::nullopt);
  EXPECT_EQ(tree.find_field(Field<double>{"other"}), std::nullopt);
}

TEST(RegionTree, HandlesSayWhatTheyAre) {
  Forest forest;
  RegionTree& tree = make_tree(forest, 10);
  const AnyPartition halves = make_blocks(tree, 0, 2);
  const AnyRegion right = halves.piece({1, 0, 0});
  const AnyPartition quarters = make_blocks(tree, right.node, 5);
  EXPECT_EQ(tree.handle(0).name(), "region 0");
  EXPECT_EQ(right.name(), "region 0[blocks 1]");
  EXPECT_EQ(quarters.name(), "region 0[blocks 1][blocks]");
  EXPECT_EQ(quarters.piece({4, 0, 0}).name(), "region 0[blocks 1][blocks 4]");
  EXPECT_EQ(quarters.parent(), right);
  EXPECT_EQ(quarters.pieces(), 5u);
  EXPECT_EQ(quarters.colour_dim(), 1);
  EXPECT_EQ(right.dim(), 1);
  EXPECT_TRUE(halves.is_disjoint());
  EXPECT_TRUE(halves.is_complete());
  EXPECT_EQ(Region<1>{right}.domain().bounds(), (Rect1{5, 9}));
  const std::string line = std::to_string(__LINE__ + 1);
  EXPECT_EQ(error_of([&] { (void)Partition<1>{halves}(2); }),
            "piece at region_tree_test.cpp:" + line +
                ": region 0[blocks] has no piece of colour 2; its colours are [0..1]");
  EXPECT_TRUE(tree.is_within(quarters.piece({4, 0, 0}).node, right.node));
  EXPECT_TRUE(tree.is_within(right.node, 0));
  EXPECT_FALSE(tree.is_within(halves.piece({0, 0, 0}).node, right.node));
}

TEST(RegionTree, SparseDomainAndAliasedPieces) {
  Forest forest;
  const Box parts[] = {{{0, 0, 0}, {2, 0, 0}}, {{5, 0, 0}, {9, 0, 0}}};
  RegionTree& tree =
      forest.create(IndexSpace::from_boxes(1, {parts[0], parts[1]}), {column(value)});
  EXPECT_EQ(Region<1>{tree.handle(0)}.domain().volume(), 8u);
  const AnyPartition aliased = tree.make_partition(
      0, line(2), {IndexSpace::dense(Rect1{0, 1}), IndexSpace::dense(Rect1{1, 2})}, "explicit");
  EXPECT_FALSE(aliased.is_disjoint());
  EXPECT_FALSE(aliased.is_complete());
}

TEST(RegionTree, EqualPartitionsAreOne) {
  Forest forest;
  RegionTree& tree = make_tree(forest, 12);
  const AnyPartition first = make_blocks(tree, 0, 3);
  const AnyPartition second = make_blocks(tree, 0, 3);
  EXPECT_EQ(first, second);
  EXPECT_NE(make_blocks(tree, 0, 4), first);
  EXPECT_NE(make_blocks(tree, first.piece({0, 0, 0}).node, 3).index, first.index);
  tree.destroy_partition(first.index);
  EXPECT_NO_THROW(check_alive(second, "launch"));  // one of two uses is left
  tree.destroy_partition(first.index);
  EXPECT_EQ(error_of([&] { check_alive(second, "launch"); }),
            "launch: a partition of region 0 was destroyed");
}

TEST(RegionTree, RevivedPartitionsKeepNumbersAndOldHandlesStayDead) {
  Forest forest;
  RegionTree& tree = make_tree(forest, 12);
  const AnyPartition first = make_blocks(tree, 0, 3);
  const AnyRegion piece = first.piece({1, 0, 0});
  const AnyPartition below = make_blocks(tree, piece.node, 2);
  const AnyRegion leaf = below.piece({0, 0, 0});
  const std::uint64_t uid = tree.uid();
  tree.destroy_partition(first.index);
  for (const AnyRegion& dead : {piece, leaf}) EXPECT_THROW(check_alive(dead, "launch"), UsageError);
  EXPECT_THROW(check_alive(below, "launch"), UsageError);

  const AnyPartition again = make_blocks(tree, 0, 3);
  EXPECT_EQ(again.index, first.index);
  EXPECT_NE(again.generation, first.generation);
  EXPECT_EQ(again.piece({1, 0, 0}).node, piece.node);
  EXPECT_THROW(check_alive(piece, "launch"), UsageError);
  EXPECT_THROW(check_alive(below, "launch"), UsageError);
  EXPECT_EQ(make_blocks(tree, piece.node, 2).index, below.index);
  EXPECT_THROW(check_alive(leaf, "launch"), UsageError);
  EXPECT_EQ(tree.uid(), uid);
}

TEST(RegionTree, DormantPartitionsAreBounded) {
  Forest forest;
  RegionTree& tree = make_tree(forest, 1000);
  std::uint32_t most = 0;
  std::set<std::uint64_t> uids;
  AnyPartition first;
  int drops = 0;
  for (Coord n = 1; n <= 200; ++n) {
    const AnyPartition p = make_blocks(tree, 0, n);
    if (n == 1) first = p;
    if (tree.destroy_partition(p.index)) ++drops;
    uids.insert(tree.uid());
    most = std::max(most, tree.partition_count());
  }
  EXPECT_EQ(most, RegionTree::max_dormant_partitions + 1);
  EXPECT_EQ(uids.size(), 200 - RegionTree::max_dormant_partitions + 1);
  EXPECT_EQ(drops, 136);
  EXPECT_THROW(check_alive(first, "launch"), UsageError);
  // Freed numbers serve new blocks of the same size.
  const std::uint32_t nodes = tree.node_count();
  tree.make_partition(0, line(2), {line(3), line(4)}, "explicit");
  EXPECT_EQ(tree.node_count(), nodes);
  EXPECT_THROW(check_alive(first, "launch"), UsageError);
}

TEST(RegionTree, DroppingAPartitionDropsWhatIsBelow) {
  Forest forest;
  RegionTree& tree = make_tree(forest, 1000);
  const AnyPartition top = make_blocks(tree, 0, 2);
  const AnyPartition middle = make_blocks(tree, top.piece({0, 0, 0}).node, 3);
  const AnyPartition low = make_blocks(tree, middle.piece({2, 0, 0}).node, 4);
  std::vector<IndexSpaceRef> pieces;
  for (const AnyPartition& p : {top, middle, low})
    pieces.push_back(tree.node(p.piece({0, 0, 0}).node).space);
  tree.destroy_partition(top.index);
  for (const IndexSpaceRef& piece : pieces) EXPECT_TRUE(has(tree, piece));
  int drops = 0;
  for (Coord n = 10; n < 74; ++n)
    if (tree.destroy_partition(make_blocks(tree, 0, n).index)) ++drops;
  EXPECT_EQ(drops, 3);
  for (const IndexSpaceRef& piece : pieces) EXPECT_FALSE(has(tree, piece));
}

TEST(RegionTree, HugeDormantPartitionsGoAtOnce) {
  Forest forest;
  const Coord n = Coord{RegionTree::max_dormant_pieces} + 1;
  RegionTree& tree = make_tree(forest, n);
  const AnyPartition huge = make_blocks(tree, 0, n);
  EXPECT_TRUE(tree.destroy_partition(huge.index));
  EXPECT_FALSE(tree.knows(huge));
}

// What was there when the tree was pinned stays until that pin goes, whatever is pinned later.
TEST(RegionTree, DroppedPartitionsStayAsTheyAreForWhoeverHasPinnedThem) {
  Forest forest;
  const Coord n = Coord{RegionTree::max_dormant_pieces} + 1;
  RegionTree& tree = make_tree(forest, n);
  const AnyPartition first = make_blocks(tree, 0, n);
  const std::uint64_t uid = tree.uid();
  tree.pin();
  EXPECT_TRUE(tree.destroy_partition(first.index));
  EXPECT_NE(tree.uid(), uid);
  EXPECT_THROW(check_alive(first, "launch"), UsageError);
  EXPECT_TRUE(tree.knows(first));
  EXPECT_TRUE(has(tree, tree.space()));
  for (Coord i = 0; i < n; ++i) {
    const IndexSpaceRef& piece = tree.node(first.piece({i, 0, 0}).node).space;
    ASSERT_TRUE(piece);
    EXPECT_FALSE(has(tree, piece));
  }

  const AnyPartition second = make_blocks(tree, 0, n);
  EXPECT_NE(second.index, first.index);
  EXPECT_EQ(tree.name_word(second), tree.name_word(first));
  const std::uint64_t later = tree.uid();
  tree.pin();
  EXPECT_TRUE(tree.destroy_partition(second.index));
  tree.unpin(later);
  EXPECT_TRUE(tree.knows(first));  // the first pin is of both
  EXPECT_TRUE(tree.knows(second));
  tree.unpin(uid);
  EXPECT_FALSE(tree.knows(first));
  EXPECT_FALSE(tree.knows(second));
  EXPECT_LE(make_blocks(tree, 0, n).index, 1u);  // their numbers serve again
}

TEST(Forest, TheSlotFreedLastIsTakenByTheSameShape) {
  Forest forest;
  RegionTree& a = make_tree(forest, 5);
  RegionTree& b = make_tree(forest, 5);
  RegionTree& other = make_tree(forest, 6);
  EXPECT_EQ(a.slot(), 0u);
  EXPECT_EQ(b.slot(), 1u);
  EXPECT_EQ(other.slot(), 2u);
  const AnyRegion old = a.handle(0);
  const AnyPartition parts = make_blocks(a, 0, 2);
  const std::uint64_t uid = a.uid();
  a.state = std::make_shared<int>(7);
  forest.destroy(b);
  forest.destroy(a);
  EXPECT_EQ(forest.alive(), 1u);
  EXPECT_EQ(make_tree(forest, 7).slot(), 3u);
  EXPECT_EQ(forest.trees().size(), 2u);
  RegionTree& again = make_tree(forest, 5);
  EXPECT_EQ(&again, &a);
  EXPECT_EQ(again.uid(), uid);
  EXPECT_NE(again.state, nullptr);
  EXPECT_EQ(error_of([&] { check_alive(old, "task 'stencil', argument 2"); }),
            "task 'stencil', argument 2: region 0 was destroyed");
  EXPECT_THROW(check_alive(parts, "launch"), UsageError);
  EXPECT_EQ(make_blocks(again, 0, 2).index, parts.index);
  EXPECT_THROW(check_alive(parts, "launch"), UsageError);
  EXPECT_EQ(make_tree(forest, 5).slot(), 1u);
}

TEST(Forest, DroppedTreesReleaseTheirStateAndKeepHandlesRecognisable) {
  Forest forest;
  auto state = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = state;
  RegionTree& first = make_tree(forest, 1);
  first.state = std::move(state);
  const AnyRegion handle = first.handle(0);
  const AnyPartition parts = make_blocks(first, 0, 1);
  const AnyRegion piece = parts.piece({0, 0, 0});
  const std::uint64_t uid = first.uid();
  forest.destroy(first);
  for (Coord n = 2; n < 300; ++n) forest.destroy(make_tree(forest, n));
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(forest.dormant(), Forest::max_dormant);
  EXPECT_LE(make_tree(forest, 1000).slot(), Forest::max_dormant);  // slots are used again
  for (const AnyRegion& dead : {handle, piece})
    EXPECT_THROW(check_alive(dead, "launch"), UsageError);
  EXPECT_THROW(check_alive(parts, "launch"), UsageError);
  EXPECT_NE(handle.tree->uid(), uid);
  EXPECT_NE(handle.name(), "");
}

TEST(Forest, DroppedTreesStayAsTheyAreWhilePinned) {
  Forest forest;
  RegionTree& pinned = make_tree(forest, 1);
  pinned.state = std::make_shared<int>(1);
  const std::weak_ptr<void> watch = pinned.state;
  const std::uint64_t uid = pinned.uid();
  pinned.pin();
  forest.destroy(pinned);
  for (Coord n = 2; n < 300; ++n) forest.destroy(make_tree(forest, n));
  EXPECT_NE(pinned.uid(), uid);
  EXPECT_EQ(pinned.space(), line(1));
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(forest.dormant(), Forest::max_dormant);
  RegionTree& again = make_tree(forest, 1);
  EXPECT_NE(&again, &pinned);
  EXPECT_LE(again.slot(), Forest::max_dormant);  // the names that were dropped are free
  pinned.unpin(uid);
}

TEST(Forest, HandlesOutliveANestedContext) {
  Forest program;
  AnyRegion handle;
  {
    Forest nested = Forest::nested_in(program);
    EXPECT_EQ(nested.depth(), 1);
    handle = make_tree(nested, 3).handle(0);
    EXPECT_NO_THROW(check_alive(handle, "launch"));
  }
  EXPECT_THROW(check_alive(handle, "launch"), UsageError);
  Forest next = Forest::nested_in(program);
  EXPECT_EQ(&make_tree(next, 3), handle.tree);  // the object serves again
  EXPECT_EQ(error_of([&] { check_alive(handle, "launch"); }),
            "launch: a region of an earlier tree was destroyed");
}

TEST(Forest, EmptyHandlesAreErrors) {
  EXPECT_EQ(error_of([] { check_alive(AnyRegion{}, "fill"); }), "fill: an empty region handle");
  EXPECT_EQ(error_of([] { check_alive(AnyPartition{}, "halo"); }),
            "halo: an empty partition handle");
  EXPECT_EQ(AnyRegion{}.name(), "no region");
}

// Names and liveness against a model that writes down every handle ever made. What is pinned, and for how long,
// changes no name.
TEST(Forest, RandomLivesRepeatTheirNames) {
  const auto play = [](unsigned seed, unsigned pins) {
    Forest forest;
    std::mt19937 random(seed), pinning(pins);
    std::vector<std::pair<RegionTree*, std::uint64_t>> pinned;
    std::vector<std::pair<AnyPartition, bool>>
        handles;  // every one ever made, and whether it lives
    std::vector<std::uint64_t> names;
    for (int step = 0; step < 3000; ++step) {
      const auto trees = forest.trees();
      if (pins != 0 && !trees.empty() && pinning() % 3 == 0) {
        RegionTree& tree = *trees[pinning() % trees.size()];
        pinned.emplace_back(&tree, tree.uid());
        tree.pin();
      }
      while (pinned.size() > 40 || (!pinned.empty() && pinning() % 4 == 0)) {
        const auto ended = pinned.begin() + static_cast<std::ptrdiff_t>(pinning() % pinned.size());
        ended->first->unpin(ended->second);
        pinned.erase(ended);
      }
      const unsigned what = random() % 10;
      if (trees.empty() || what < 2) {
        names.push_back(make_tree(forest, 4 + Coord(random() % 400)).slot());
      } else {
        RegionTree& tree = *trees[random() % trees.size()];
        if (what < 4) {
          for (auto& [p, alive] : handles) alive = alive && p.tree != &tree;
          forest.destroy(tree);
        } else if (what < 8) {
          const AnyPartition p = make_blocks(tree, 0, 1 + Coord(random() % 40));
          handles.emplace_back(p, true);
          names.push_back(tree.name_word(p));
          names.push_back(tree.name_word(p.piece({0, 0, 0})));
        } else if (auto living = std::ranges::find_if(handles, [&](auto& h) { return h.second; });
                   living != handles.end()) {
          const AnyPartition p = living->first;
          p.tree->destroy_partition(p.index);
          if (p.tree->partition(p.index).uses == 0)
            for (auto& [other, alive] : handles) alive = alive && other != p;
        }
      }
      if (step % 50 != 0) continue;
      for (auto& [p, alive] : handles) { EXPECT_EQ(p.tree->names_living(p), alive); }
    }
    return names;
  };
  for (unsigned seed = 0; seed < 20; ++seed)
    for (unsigned pins = 0; pins < 3; ++pins)
      EXPECT_EQ(play(seed, 0), play(seed, pins)) << "seed " << seed << ", pins " << pins;
}

}  // namespace
}  // namespace refrain::data::region_tree_test
