// Finding instances, and the one to evict, against a look at all of them.

#include <gtest/gtest.h>

#include <deque>

#include "analysis/field_state.hpp"
#include "analysis/instance.hpp"
#include "data/index_space.hpp"
#include "data/layout.hpp"
#include "machine/machine.hpp"
#include "point_sets.hpp"
#include "refrain/value_type.hpp"

namespace refrain::analysis::instances_test {
namespace {

using data::IndexSpace;
using data::IndexSpaceRef;

std::unique_ptr<Instance> instance(const IndexSpaceRef& space, MemoryId memory = 0,
                                   const Layout& layout = {}, Storage storage = Storage::pool) {
  auto made = std::make_unique<Instance>();
  made->space = space;
  made->memory = memory;
  made->layout = layout;
  if (data::is_compact(*space, layout.sparse)) made->compact = space.get();
  made->storage = storage;
  return made;
}

/// What InstanceSet::find promises, one after the other.
Instance* found_by_looking(const InstanceSet& set, const IndexSpaceRef& points, MemoryId memory,
                           const Layout& layout) {
  Instance* first = nullptr;
  for (const auto& each : set.all()) {
    if (each->memory != memory || !data::contains(each->space, points)) continue;
    if (each->storage != Storage::pool) return each.get();
    const bool fits =
        layout.sparse == Sparse::by_density || each->space->dense() ||
        data::is_compact(*each->space, each->layout.sparse) == (layout.sparse == Sparse::compact);
    if (first == nullptr && fits && each->layout.order == layout.order) first = each.get();
  }
  return first;
}

TEST(InstanceSet, FindsWhatALookAtAllFinds) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const int dim = 1 + static_cast<int>(seed % 3);
    data::RandomSets random(seed);
    const Coord range = data::test_range(dim);
    const IndexSpaceRef field = IndexSpace::from_boxes(dim, random.boxes(dim, range));
    InstanceSet set;
    std::vector<IndexSpaceRef> spaces{field};
    for (int step = 0; step < 120; ++step) {
      spaces.push_back(data::intersect(field, random.space(dim, range)));
      const auto some = [&] { return spaces[static_cast<std::size_t>(random.number(0, step))]; };
      const auto memory = static_cast<MemoryId>(random.number(0, 1));
      const Layout layout{.order = random.number(0, 1) == 0 ? Order::c : Order::fortran,
                          .sparse = static_cast<Sparse>(random.number(0, 2))};
      const IndexSpaceRef points = some();
      Instance* expected = found_by_looking(set, points, memory, layout);
      EXPECT_EQ(set.find(points, memory, layout), expected) << "seed " << seed;
      if (expected == nullptr) set.add(instance(points, memory, layout));
      else if (random.number(0, 4) == 0) set.remove(*expected);
    }
  }
}

TEST(InstanceSet, WhatIsNotThePoolsComesFirst) {
  const IndexSpaceRef field = IndexSpace::dense(Rect1{0, 99});
  const IndexSpaceRef part = IndexSpace::dense(Rect1{10, 19});
  InstanceSet set;
  set.add(instance(field));
  Instance& attached = set.add(instance(part, 0, {.order = Order::fortran}, Storage::attached));
  EXPECT_EQ(set.find(part, 0, {}), &attached);
  EXPECT_EQ(set.find(field, 0, {}), set.all().front().get());
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

  field.add_instance(instance(IndexSpace::dense(Rect1{0, 9}), 0, {}, Storage::attached));
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
      alive.push_back(store.allocate(space, 8, memory, Layout{}, [](const exec::NodeRef&) {}));
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

/// A program of allocations, uses and ends in a memory that is too small; what is kept, and where it lies.
/// `timing` decides when operations complete, unless they are waited for.
class Steps {
 public:
  Steps(const std::string& machine, MemoryKind kind, unsigned seed, unsigned timing)
      : machine_(machine::load(machine)),
        memories_(machine_),
        store_(memories_),
        memory_(machine_.memories(kind).front()),
        program_(seed),
        timing_(timing) {}

  std::vector<std::ptrdiff_t> run() {
    for (now_ = 1; now_ < 500; ++now_) {
      for (int uses = 0; uses < 3 && !alive_.empty(); ++uses) use(*any(alive_).instance);
      if (program_.number(0, 2) == 0 && !alive_.empty()) end(any(alive_).instance.get());
      allocate();
      while (!running_.empty() && timing_.number(0, 2) == 0) complete(any(running_, timing_));
    }
    while (!alive_.empty()) end(alive_.back().instance.get());
    for (exec::NodeRef user : running_) close(user);
    return std::move(decisions_);
  }

 private:
  struct Alive {
    std::unique_ptr<Instance> instance;
    std::vector<exec::NodeRef> users;
  };

  template <class T>
  T& any(std::vector<T>& all, data::RandomSets& random) {
    return all[static_cast<std::size_t>(random.number(0, static_cast<Coord>(all.size()) - 1))];
  }
  template <class T>
  T& any(std::vector<T>& all) {
    return any(all, program_);
  }

  static void close(const exec::NodeRef& user) { user.node->successor_state = exec::Node::kClosed; }
  void complete(exec::NodeRef user) {
    close(user);
    std::erase(running_, user);
  }

  void use(Instance& instance) {
    exec::Node& node = nodes_.emplace_back();
    node.seq = nodes_.size();
    std::ranges::find(alive_, &instance, [](const Alive& a) {
      return a.instance.get();
    })->users.push_back({&node, node.seq});
    running_.push_back({&node, node.seq});
    instance.last_use = now_;
  }

  void end(Instance* instance) {
    const auto it =
        std::ranges::find(alive_, instance, [](const Alive& a) { return a.instance.get(); });
    past_.push_back({it->instance->bytes, it->instance->size, it->users});
    store_.retire(std::move(it->instance), std::move(it->users));
    alive_.erase(it);
  }

  void allocate() {
    const auto space = IndexSpace::dense(Rect1{0, program_.number(0, 99)});
    const auto wait = [this](const exec::NodeRef& user) { complete(user); };
    std::unique_ptr<Instance> made;
    while ((made = store_.allocate(space, 8, memory_, Layout{}, wait)) == nullptr) {
      Instance* victim = store_.least_recently_used(memory_);
      ASSERT_NE(victim, nullptr);
      decisions_.push_back(-1 - static_cast<std::ptrdiff_t>(victim->serial));
      end(victim);
    }
    const auto* bytes = static_cast<const std::byte*>(made->bytes);
    if (machine_.memory(memory_).kind == MemoryKind::framebuffer) {
      if (base_ == nullptr) base_ = bytes;
      decisions_.push_back(bytes - base_);
    }
    for (const Past& past : past_) {
      if (past.bytes + past.size <= bytes || bytes + made->size <= past.bytes) continue;
      for (const exec::NodeRef& user : past.users)
        EXPECT_TRUE(exec::is_complete(user)) << "who gets bytes gets them alone";
    }
    made->last_use = now_;
    alive_.push_back({std::move(made), {}});
  }

  struct Past {
    Past(void* at, std::size_t s, std::vector<exec::NodeRef> u)
        : bytes(static_cast<const std::byte*>(at)), size(s), users(std::move(u)) {}
    const std::byte* bytes;
    std::size_t size;
    std::vector<exec::NodeRef> users;
  };

  const Machine machine_;
  Memories memories_;
  std::deque<exec::Node> nodes_;
  InstanceStore store_;
  MemoryId memory_;
  data::RandomSets program_, timing_;
  std::uint64_t now_ = 0;
  const std::byte* base_ = nullptr;
  std::vector<Alive> alive_;
  std::vector<exec::NodeRef> running_;
  std::vector<Past> past_;
  std::vector<std::ptrdiff_t> decisions_;
};

TEST(InstanceStore, WhatFindsRoomDoesNotDependOnWhatHasCompleted) {
  for (const auto& [machine, kind] :
       {std::pair("emulated:gpus=1,framebuffer=4KiB", MemoryKind::framebuffer),
        std::pair("emulated:system=4KiB", MemoryKind::system)})
    for (unsigned seed = 1; seed <= 30; ++seed) {
      const auto first = Steps(machine, kind, seed, 1).run();
      EXPECT_GT(first.size(), 100U);
      for (unsigned timing = 2; timing < 6; ++timing)
        ASSERT_EQ(first, Steps(machine, kind, seed, timing).run())
            << "seed " << seed << ", timing " << timing;
    }
}

// A wait that fails leaves the bytes to those who used them.
TEST(InstanceStore, AWaitMayFail) {
  const Machine machine = machine::load("emulated:gpus=1,framebuffer=4KiB");
  Memories memories(machine);
  exec::Node node;
  node.seq = 1;
  const exec::NodeRef user{&node, 1};
  InstanceStore store(memories);
  const MemoryId memory = machine.memories(MemoryKind::framebuffer).front();
  const IndexSpaceRef all = IndexSpace::dense(Rect1{0, 511});
  const auto never = [](const exec::NodeRef&) { FAIL(); };
  store.retire(store.allocate(all, 8, memory, Layout{}, never), {user});
  for (int twice = 0; twice < 2; ++twice)
    EXPECT_THROW((void)store.allocate(all, 8, memory, Layout{},
                                      [](const exec::NodeRef&) { throw std::runtime_error("no"); }),
                 std::runtime_error);
  int waits = 0;
  const auto made = store.allocate(all, 8, memory, Layout{}, [&](const exec::NodeRef& awaited) {
    EXPECT_EQ(awaited, user);
    node.successor_state = exec::Node::kClosed;
    ++waits;
  });
  EXPECT_EQ(waits, 1);
  ASSERT_TRUE(made);
  memories.pool(memory).release(made->bytes);
}

}  // namespace
}  // namespace refrain::analysis::instances_test
