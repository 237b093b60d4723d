// Finding instances, and the one to evict, against a look at all of them.

#include <gtest/gtest.h>

#include "analysis/field_state.hpp"
#include "analysis/instance_store.hpp"
#include "data/set_algebra.hpp"
#include "machine/machine.hpp"
#include "point_sets.hpp"
#include "refrain/value_type.hpp"

namespace refrain::analysis {
namespace {

using data::IndexSpace;
using data::IndexSpaceRef;

std::unique_ptr<Instance> instance(const IndexSpaceRef& space, MemoryId memory = 0,
                                   Order order = Order::c, Storage storage = Storage::pool) {
  auto made = std::make_unique<Instance>();
  made->space = space;
  made->memory = memory;
  made->layout.order = order;
  made->storage = storage;
  return made;
}

/// What InstanceSet::find promises, one after the other.
Instance* found_by_looking(const InstanceSet& set, const IndexSpaceRef& points, MemoryId memory,
                           Order order) {
  Instance* first = nullptr;
  for (const auto& each : set.all()) {
    if (each->memory != memory || !data::contains(each->space, points)) continue;
    if (each->storage != Storage::pool) return each.get();
    if (first == nullptr && each->layout.order == order) first = each.get();
  }
  return first;
}

TEST(InstanceSet, FindsWhatALookAtAllFinds) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3);
    data::RandomSets random(seed);
    const Coord range = data::test_range(dim);
    const IndexSpaceRef field = IndexSpace::from_boxes(dim, random.boxes(dim, range));
    InstanceSet set(field);
    std::vector<IndexSpaceRef> spaces{field};
    for (int step = 0; step < 120; ++step) {
      spaces.push_back(data::intersect(field, random.space(dim, range)));
      const auto some = [&] { return spaces[static_cast<std::size_t>(random.number(0, step))]; };
      const auto memory = static_cast<MemoryId>(random.number(0, 1));
      const Order order = random.number(0, 1) == 0 ? Order::c : Order::fortran;
      const IndexSpaceRef points = some();
      Instance* expected = found_by_looking(set, points, memory, order);
      EXPECT_EQ(set.find(points, memory, order), expected) << "seed " << seed;
      if (expected == nullptr) set.add(instance(points, memory, order));
      else if (random.number(0, 4) == 0) set.remove(*expected);
    }
  }
}

TEST(InstanceSet, WhatIsNotThePoolsComesFirst) {
  const IndexSpaceRef field = IndexSpace::dense(Rect1{0, 99});
  const IndexSpaceRef part = IndexSpace::dense(Rect1{10, 19});
  InstanceSet set(field);
  set.add(instance(field));
  Instance& attached = set.add(instance(part, 0, Order::fortran, Storage::attached));
  EXPECT_EQ(set.find(part, 0, Order::c), &attached);
  EXPECT_EQ(set.find(field, 0, Order::c), set.all().front().get());
}

TEST(FieldState, ChoicesStandWhileNothingBetterCanHaveCome) {
  const IndexSpaceRef space = IndexSpace::dense(Rect1{0, 99});
  FieldState field(space, value_type<double>(), "x");
  const std::uint32_t first = field.instance_epoch();
  Instance& one = field.add_instance(instance(space, 0));
  field.add_instance(instance(IndexSpace::dense(Rect1{0, 9}), 1));
  EXPECT_EQ(field.instance_epoch(), first) << "more instances of the pool's change no choice";

  field.second_best();
  field.add_instance(instance(IndexSpace::dense(Rect1{10, 19}), 1));
  const std::uint32_t second = field.instance_epoch();
  EXPECT_NE(second, first) << "unless somebody wanted one that was not there";
  field.add_instance(instance(IndexSpace::dense(Rect1{20, 29}), 1));
  EXPECT_EQ(field.instance_epoch(), second);

  field.add_instance(instance(IndexSpace::dense(Rect1{0, 9}), 0, Order::c, Storage::attached));
  const std::uint32_t third = field.instance_epoch();
  EXPECT_NE(third, second) << "attached memory is what is used";
  std::vector<exec::NodeRef> users;
  field.remove_instance(one, users);
  EXPECT_NE(field.instance_epoch(), third) << "what was chosen may be gone";
}

TEST(InstanceStore, KnowsWhatWasUsedLeastRecently) {
  const Machine machine = machine::load("emulated:gpus=1,framebuffer=1MiB");
  Memories memories(machine);
  InstanceStore store(memories);
  const MemoryId memory = machine.memories(MemoryKind::framebuffer).front();
  const IndexSpaceRef space = IndexSpace::dense(Rect1{0, 9});
  data::RandomSets random(1);
  std::vector<std::unique_ptr<Instance>> alive;
  for (std::uint64_t now = 1; now < 2000; ++now) {
    if (alive.empty() || random.number(0, 9) == 0) {
      alive.push_back(store.allocate(space, 8, memory, Layout{}));
      ASSERT_TRUE(alive.back());
      alive.back()->last_use = now;
    }
    for (int uses = 0; uses < 2; ++uses)
      alive[static_cast<std::size_t>(random.number(0, static_cast<Coord>(alive.size()) - 1))]
          ->last_use = now;
    if (random.number(0, 19) != 0) continue;
    const auto by_use = [](const auto& each) { return std::pair(each->last_use, each->serial); };
    const auto least = std::ranges::min_element(alive, {}, by_use);
    ASSERT_EQ(store.least_recently_used(memory), least->get());
    store.retire(std::move(*least), {});
    alive.erase(least);
  }
  for (auto& each : alive) store.retire(std::move(each), {});
  EXPECT_EQ(store.least_recently_used(memory), nullptr);
}

}  // namespace
}  // namespace refrain::analysis
