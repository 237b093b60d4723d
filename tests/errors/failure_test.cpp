// Failures on their way: what they reach, what they leave alone, when the program hears of them, and that
// whoever caught one goes on. In every setting.

#include <gtest/gtest.h>

#include <atomic>

#include "refrain/error.hpp"
#include "refrain/refrain.hpp"
#include "support/settings.hpp"

namespace refrain::failure_test {
namespace {

using test::error_of;
using test::mentions;

class Failures : public test::InEverySetting {};
REFRAIN_IN_EVERY_SETTING(Failures);

constexpr Field<Coord> number{"number"};
constexpr Field<Coord> other{"other"};

const Task fail{"fail", [](ReadWrite<Coord>, Coord code) {
                  throw std::runtime_error("code " + std::to_string(code));
                }};
const Task fail_at{"fail_at", [](ReadWrite<Coord> x, Point<1> p, Coord at) {
                     if (p == at) throw std::runtime_error("at " + std::to_string(at));
                     for (auto q : x.domain()) x[q] += 1;
                   }};
const Task contribute{"contribute", [](Reduce<Sum, Coord> x, Point<1> p, Coord at) {
                        for (auto q : x.domain()) x[q] += 1;
                        if (p == at) throw std::runtime_error("no contribution");
                      }};
const Task add{"add", [](ReadWrite<Coord> x) {
                 for (auto p : x.domain()) x[p] += 1;
               }};
const Task set{"set", [](Write<Coord> x, Coord value) {
                 for (auto p : x.domain()) x[p] = value;
               }};
const Task first{"first", [](Read<Coord> x) { return x[x.domain().bounds().lo]; }};
const Task value_at{"value_at", [](Point<1> p, Coord at) {
                      if (p == at) throw std::runtime_error("no value");
                      return Coord{p};
                    }};

// What threw in another run is not mistaken for the operation that has its number here.
TEST_P(Failures, OfAnEarlierRun) {
  const Task fails{"fails", [](Coord) -> Coord { throw std::runtime_error("long ago"); }};
  const Task next{"next", [](Coord value) { return value + 1; }};
  Runtime runtime(options());
  Future<Coord> kept;
  EXPECT_THROW(runtime.run([&](Context& ctx) { kept = ctx.launch(fails, 0); }), TaskFailed);
  runtime.run([&](Context& ctx) {
    const Future<Coord> result = ctx.launch(next, kept);  // the first operation, as `fails` was
    ctx.fence();
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { (void)result.get(); }), {"long ago"}));
  });
}

// An owner says nothing; the next fence does.
TEST_P(Failures, OfMemoryThatAnOwnerDetaches) {
  run([](Context& ctx) {
    std::vector<Coord> memory(8);
    {
      const Owned<1> cells(ctx, ctx.region(Rect1{0, 7}, number));
      ctx.attach(*cells, number, memory.data());
      ctx.launch(fail, (*cells)[number], 5);
    }
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { ctx.fence(); }), {"code 5"}));
  });
}

TEST_P(Failures, OfOnePointOfAGroup) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    auto blocks = ctx.blocks(cells, 4);
    ctx.launch(fail_at, 4, blocks[number], 2);
    ctx.launch(add, 4, blocks[number]);
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { ctx.fence(); }),
                         {"task 'fail_at' launched at failure_test.cpp:", "failed: at 2"}));
    EXPECT_EQ(ctx.access<Read>(blocks(1)[number])[2], 2);
    EXPECT_THROW((void)ctx.access<Read>(blocks(2)[number]), TaskFailed);
    ctx.launch(set, blocks(2)[number], 9);
    EXPECT_EQ(ctx.access<Read>(cells[number])[4], 9);
    EXPECT_EQ(ctx.access<Read>(cells[number])[7], 2);
  });
}

TEST_P(Failures, AreToldOnce) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number, other);
    ctx.launch(fail, cells[number], 1);
    ctx.launch(fail, cells[other], 2);
    const Future<Coord> poisoned = ctx.launch(first, cells[other]);
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { (void)poisoned.get(); }), {"code 2"}));
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { (void)poisoned.get(); }), {"code 2"}));
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { ctx.fence(); }), {"code 1"}));
    ctx.fence();  // both are known
  });             // and so run() has nothing to throw
}

TEST_P(Failures, TheFirstInLaunchOrderThatNobodyHasSeen) {
  for (int seen = 0; seen < 2; ++seen)
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] {
                           run([&](Context& ctx) {
                             auto cells = ctx.region(Rect1{0, 7}, number, other);
                             ctx.launch(fail, cells[number], 1);
                             ctx.launch(fail, cells[other], 2);
                             if (seen == 1) {
                               EXPECT_THROW((void)ctx.access<Read>(cells[number]), TaskFailed);
                             }
                           });
                         }),
                         {seen == 1 ? "code 2" : "code 1"}));
}

TEST_P(Failures, OverwritingHeals) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number, other);
    auto blocks = ctx.blocks(cells, 4);
    const auto poison = [&] {
      ctx.launch(fail, cells[number], 1);
      ctx.launch(add, 4, blocks[number]);
    };
    poison();
    ctx.launch(set, cells[number], 3);
    EXPECT_EQ(ctx.access<Read>(cells[number])[5], 3);
    poison();
    ctx.fill(cells, number, 4);
    EXPECT_EQ(ctx.access<Read>(cells[number])[5], 4);
    poison();
    ctx.fill(cells, other, 5);
    ctx.copy(cells[other], cells[number]);
    EXPECT_EQ(ctx.access<Read>(cells[number])[5], 5);
    poison();
    {
      auto x = ctx.access<Write>(cells[number]);
      for (auto p : x.domain()) x[p] = 6;
    }
    EXPECT_EQ(ctx.launch(first, cells[number]).get(), 6);
    EXPECT_THROW(ctx.fence(), TaskFailed);
    EXPECT_THROW(ctx.fence(), TaskFailed);
    EXPECT_THROW(ctx.fence(), TaskFailed);
    EXPECT_THROW(ctx.fence(), TaskFailed);
    ctx.fence();
  });
}

TEST_P(Failures, OfReducers) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number, other);
    auto blocks = ctx.blocks(cells, 4);
    ctx.launch(contribute, 5, cells[number], 3);
    ctx.launch(contribute, 4, blocks[other], 1);
    EXPECT_THROW(ctx.fence(), TaskFailed);
    EXPECT_THROW((void)ctx.access<Read>(cells[number]), TaskFailed);
    EXPECT_EQ(ctx.access<Read>(blocks(0)[other])[0], 1);
    EXPECT_THROW((void)ctx.access<Read>(blocks(1)[other]), TaskFailed);
    ctx.fill(cells, number, 0);
    for (int i = 0; i < 100; ++i) ctx.launch(contribute, 4, cells[number], -1);  // no slot is lost
    EXPECT_EQ(ctx.access<Read>(cells[number])[7], 400);
  });
}

// Copies and contributions go on where there are values.
TEST_P(Failures, OfSomeOfWhatACopyOrAFoldReads) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number, other);
    auto halves = ctx.blocks(cells, 2);
    ctx.launch(fail, halves(1)[number], 1);
    ctx.copy(cells[number], cells[other]);
    EXPECT_EQ(ctx.access<Read>(halves(0)[other])[0], 0);
    EXPECT_THROW((void)ctx.access<Read>(halves(1)[other]), TaskFailed);
    EXPECT_THROW((void)ctx.access<Read>(cells[other]), TaskFailed);
    ctx.launch(contribute, 1, cells[number], -1);
    EXPECT_EQ(ctx.access<Read>(halves(0)[number])[0], 1);
    EXPECT_THROW((void)ctx.access<Read>(halves(1)[number]), TaskFailed);
    ctx.fill(halves(1), number, 5);
    ctx.launch(contribute, 1, cells[number], -1);
    EXPECT_EQ(ctx.access<Read>(cells[number])[0], 2);
    EXPECT_EQ(ctx.access<Read>(cells[number])[4], 6);
  });
}

// What a relaxed reducer fails to contribute is missing where it would have, and not where its fellows
// contribute; whoever comes next finds out, however long ago it was.
TEST_P(Failures, OfRelaxedReducers) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    auto blocks = ctx.blocks(cells, 4);
    auto pairs = ctx.halo(blocks, 1);
    ctx.launch(contribute, 4, pairs[number].relaxed(), 1);  // points 1 to 4 fail
    for (int i = 0; i < 50; ++i) ctx.launch(contribute, 4, pairs[number].relaxed(), -1);
    EXPECT_THROW(ctx.fence(), TaskFailed);
    EXPECT_EQ(ctx.access<Read>(blocks(3)[number])[6], 102);
    EXPECT_EQ(ctx.launch(first, blocks(3)[number]).get(), 102);
    for (int poisoned = 0; poisoned < 3; ++poisoned)
      EXPECT_TRUE(
          mentions(error_of<TaskFailed>([&] { (void)ctx.access<Read>(blocks(poisoned)[number]); }),
                   {"no contribution"}));
    // A group that begins on poisoned data passes the poison on, one that begins on new data does not.
    ctx.launch(set, blocks(0)[number], 5);
    ctx.launch(contribute, 4, blocks[number].relaxed(), -1);
    EXPECT_EQ(ctx.access<Read>(blocks(0)[number])[0], 6);
    EXPECT_EQ(ctx.access<Read>(blocks(3)[number])[7], 52);
    EXPECT_THROW((void)ctx.access<Read>(blocks(1)[number]), TaskFailed);
    ctx.fill(cells, number, 0);
    ctx.launch(contribute, 4, cells[number].relaxed(), -1);
    EXPECT_EQ(ctx.access<Read>(cells[number])[3], 4);
  });
}

TEST_P(Failures, TheEarliestOfRelaxedReducers) {
  const Task refuse{"refuse", [](Reduce<Sum, Coord>, Coord code) {
                      throw std::runtime_error("code " + std::to_string(code));
                    }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    for (Coord i = 0; i < 100; ++i) ctx.launch(refuse, cells[number].relaxed(), i);
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { (void)ctx.access<Read>(cells[number]); }),
                         {"failed: code 0"}));
    for (int i = 1; i < 100; ++i) EXPECT_THROW(ctx.fence(), TaskFailed);
  });
}

TEST_P(Failures, OfRelaxedReducersAmongChildren) {
  const Task parent{"parent", [](Context& ctx, ReadWrite<Coord> x) {
                      for (Coord at : {-1, 1, -1})
                        ctx.launch(contribute, 3, x.region()[number].relaxed(), at);
                    }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    ctx.launch(parent, cells[number]);
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { (void)ctx.access<Read>(cells[number]); }),
                         {"task 'parent'", "task 'contribute'", "no contribution"}));
  });
}

TEST_P(Failures, OfFutures) {
  run([](Context& ctx) {
    const FutureMap<Coord> values = ctx.launch(value_at, 5, 2);
    EXPECT_EQ(values.get(1), 1);
    EXPECT_THROW((void)values.get(2), TaskFailed);
    EXPECT_EQ(values.get(4), 4);
    EXPECT_THROW((void)ctx.reduce(values, Sum{}).get(), TaskFailed);
    auto cells = ctx.region(Rect1{0, 3}, number);
    const Future<Coord> sum = ctx.reduce(values, Sum{});
    ctx.fill(cells, number, sum);
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { (void)ctx.access<Read>(cells[number]); }),
                         {"no value"}));
    ctx.launch(set, cells[number], sum);
    EXPECT_THROW((void)ctx.access<Read>(cells[number]), TaskFailed);
    ctx.launch(set, cells[number], 1);
    EXPECT_EQ(ctx.access<Read>(cells[number])[0], 1);
  });
}

TEST_P(Failures, OfChildrenReachTheParent) {
  const Task parent{
      "parent", [](Context& ctx, ReadWrite<Coord> x) { ctx.launch(fail, x.region()[number], 7); }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    ctx.launch(parent, cells[number]);
    EXPECT_TRUE(mentions(
        error_of<TaskFailed>([&] { ctx.fence(); }),
        {"task 'parent' launched at", "failed: task 'fail' launched at", "failed: code 7"}));
    EXPECT_THROW((void)ctx.launch(first, cells[number]).get(), TaskFailed);
  });
}

TEST_P(Failures, OfChildrenThatTheParentMends) {
  const Task parent{"parent", [](Context& ctx, ReadWrite<Coord> x) {
                      auto halves = ctx.blocks(x.region(), 2);
                      ctx.launch(fail, halves(0)[number], 7);
                      ctx.launch(add, halves(1)[number]);
                      EXPECT_THROW(ctx.fence(), TaskFailed);
                      ctx.launch(set, halves(0)[number], 5);
                    }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    ctx.launch(parent, cells[number]);
    EXPECT_EQ(ctx.access<Read>(cells[number])[0], 5);
    EXPECT_EQ(ctx.access<Read>(cells[number])[7], 1);
  });
}

TEST_P(Failures, OfChildrenThatTheParentOnlyCatches) {
  const Task parent{"parent", [](Context& ctx, ReadWrite<Coord> x) {
                      ctx.launch(fail, x.region()[number], 7);
                      EXPECT_THROW(ctx.fence(), TaskFailed);
                    }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    ctx.launch(parent, cells[number]);
    EXPECT_TRUE(
        mentions(error_of<TaskFailed>([&] { (void)ctx.access<Read>(cells[number]); }), {"code 7"}));
  });
}

TEST_P(Failures, AgainAndAgain) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    for (Coord i = 0; i < 200; ++i) {
      ctx.launch(fail, cells[number], i);
      ctx.launch(add, cells[number]);
      EXPECT_TRUE(
          mentions(error_of<TaskFailed>([&] { ctx.fence(); }), {"code " + std::to_string(i)}));
      ctx.launch(set, cells[number], i);
    }
    EXPECT_EQ(ctx.access<Read>(cells[number])[3], 199);
  });
}

TEST_P(Failures, WhatIsNotAnException) {
  const Task odd{"odd", [](Write<Coord>) { throw 5; }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    ctx.launch(odd, cells[number]);
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { ctx.fence(); }),
                         {"'odd'", "an exception of type int"}));
  });
}

// A launch that cannot be made leaves nothing behind: its values are destroyed, the rest goes on.
TEST_P(Failures, OfALaunchForWantOfMemory) {
  const auto counted = std::make_shared<int>(0);
  const Task gpu{"gpu", on<ProcessorKind::gpu>([](ReadWrite<Coord> x, const std::shared_ptr<int>&) {
                   for (auto p : x.domain()) x[p] += 1;
                 })};
  Runtime runtime(options("emulated:cpus=2,gpus=1,framebuffer=4KiB,pinned=4KiB"));
  runtime.run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 9999}, number);
    auto parts = ctx.partition(cells, {IndexSpace<1>(Rect1{0, 9}), IndexSpace<1>(Rect1{10, 9999})});
    EXPECT_TRUE(mentions(error_of<OutOfMemory>([&] { ctx.launch(gpu, 2, parts[number], counted); }),
                         {"'gpu' launched at failure_test.cpp:", "argument 0",
                          "no memory for field 'number' of region 0", "capacity 4KiB"}));
    ctx.fence();
    EXPECT_EQ(counted.use_count(), 1);
    ctx.launch(gpu, parts(0)[number], counted);
    EXPECT_EQ(ctx.access<Read>(cells[number])[5], 2);
  });
  EXPECT_EQ(runtime.counters().instances_alive, 0u);
}

TEST_P(Failures, OfALaunchThatWouldReadNothing) {
  std::vector<Coord> mine(8, 1);
  const auto counted = std::make_shared<int>(0);
  const Task use{"use", [](Reduce<Sum, Coord> x, const std::shared_ptr<int>&) { x[0] += 1; }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    ctx.attach(cells, number, mine.data());
    ctx.detach(cells, number);
    EXPECT_TRUE(mentions(error_of<UsageError>([&] { ctx.launch(use, cells[number], counted); }),
                         {"'use' launched at failure_test.cpp:", "argument 0",
                          "field 'number' of region 0", "no values to read", "detached"}));
    ctx.fence();
    EXPECT_EQ(counted.use_count(), 1);
    ctx.launch(set, cells[number], 2);
    ctx.launch(use, cells[number], counted);
    EXPECT_EQ(ctx.access<Read>(cells[number])[0], 3);
  });
}

// Memory whose values a failed task should have written is given back all the same, and whoever ends the
// attachment is told; but the end of the program, which tells the first failure that nobody knows.
TEST_P(Failures, OfWhatIsAttached) {
  std::vector<Coord> mine(8, 1), others(8, 1);
  const auto poison = [&](Context& ctx, const Region<1>& cells) {
    auto halves = ctx.blocks(cells, 2);
    ctx.attach(halves(0), number, mine.data());
    ctx.attach(halves(1), number, others.data());
    ctx.launch(fail, halves(1)[number], 1);
    ctx.launch(fail, halves(0)[number], 2);
    return halves;
  };
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    auto halves = poison(ctx, cells);
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { ctx.detach(halves(0), number); }), {"code 2"}));
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { ctx.fence(); }), {"code 1"}));
    EXPECT_THROW(ctx.destroy(cells), TaskFailed);
    EXPECT_THROW(ctx.fill(cells, number, 1), UsageError);  // it is gone
  });
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    poison(ctx, cells);
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { ctx.destroy(cells); }), {"code 1"}));
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { ctx.fence(); }), {"code 2"}));
  });
  EXPECT_TRUE(mentions(error_of<TaskFailed>([&] {
                         run([&](Context& ctx) { poison(ctx, ctx.region(Rect1{0, 7}, number)); });
                       }),
                       {"code 1"}));
}

TEST_P(Failures, WaitsThatCannotEndInATask) {
  const Task parent{"parent", [](Context& ctx, ReadWrite<Coord> x) {
                      const auto open = ctx.access<ReadWrite>(x.region()[number]);
                      ctx.launch(add, x.region()[number]);
                      ctx.fence();
                    }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    ctx.launch(parent, cells[number]);
    EXPECT_TRUE(mentions(error_of<TaskFailed>([&] { ctx.fence(); }),
                         {"task 'parent'", "deadlock: fence at failure_test.cpp:", "task 'add'",
                          "the inline access 'access' opened at failure_test.cpp:", "still open"}));
    ctx.launch(set, cells[number], 1);
    EXPECT_EQ(ctx.access<Read>(cells[number])[0], 1);
  });
}

TEST(HandleErrors, OfAnEarlierRunOrAnotherRuntime) {
  Options options;
  options.machine = "emulated:cpus=2";
  Runtime runtime(options), another(options);
  Region<1> kept;
  Partition<1> pieces;
  runtime.run([&](Context& ctx) {
    kept = ctx.region(Rect1{0, 7}, number);
    pieces = ctx.blocks(kept, 2);
  });
  runtime.run([&](Context& ctx) {
    EXPECT_TRUE(mentions(error_of<UsageError>([&] { ctx.launch(add, kept[number]); }),
                         {"task 'add' launched at", "argument 0", "destroyed"}));
    EXPECT_TRUE(
        mentions(error_of<UsageError>([&] { ctx.launch(add, 2, pieces[number]); }), {"destroyed"}));
    EXPECT_TRUE(mentions(error_of<UsageError>([&] { ctx.fill(kept, number, 1); }), {"destroyed"}));
    EXPECT_THROW((void)kept.domain(), UsageError);
    auto mine = ctx.region(Rect1{0, 7}, number);
    another.run([&](Context& inner) {
      EXPECT_TRUE(mentions(error_of<UsageError>([&] { inner.launch(add, mine[number]); }),
                           {"task 'add' launched at", "argument 0", "belongs to another runtime"}));
    });
    EXPECT_THROW(runtime.set_mapper(nullptr), UsageError);
  });
}

TEST(HandleErrors, EmptyOnes) {
  Options options;
  options.machine = "emulated:cpus=2";
  Runtime(options).run([&](Context& ctx) {
    const Task use{"use", [](Coord) {}};
    EXPECT_TRUE(mentions(error_of<UsageError>([&] { ctx.launch(add, Region<1>{}[number]); }),
                         {"task 'add' launched at", "argument 0"}));
    EXPECT_TRUE(mentions(error_of<UsageError>([&] { ctx.launch(use, Future<Coord>{}); }),
                         {"task 'use' launched at", "the future is empty"}));
    EXPECT_THROW((void)Future<Coord>{}.get(), UsageError);
    EXPECT_THROW((void)FutureMap<Coord>{}.size(), UsageError);
    EXPECT_THROW(ctx.fill(Region<1>{}, number, 1), UsageError);
    EXPECT_THROW((void)ctx.access<Read>(Region<1>{}[number]), UsageError);
    EXPECT_THROW(ctx.blocks(Region<1>{}, 2), UsageError);
    EXPECT_THROW(ctx.destroy(Region<1>{}), UsageError);
  });
}

TEST(HandleErrors, PointsThatALaunchDoesNotHave) {
  Options options;
  options.machine = "emulated:cpus=2";
  Runtime(options).run([&](Context& ctx) {
    const Task both{"both", [](Point<2> p) { return p[0] + p[1]; }};
    const Task one{"one", [] { return Coord{1}; }};
    const IndexSpace<2> some(std::vector<Point<2>>{{0, 0}, {0, 2}, {3, 1}});
    const FutureMap<Coord> sums = ctx.launch(both, some);
    EXPECT_TRUE(mentions(error_of<UsageError>([&] {
                           (void)sums.get({0, 1});
                         }),
                         {"the value of point (0, 1)", "not in the launch domain", "(0, 2)"}));
    EXPECT_TRUE(mentions(error_of<UsageError>([&] { (void)sums.get(Point1{0}); }),
                         {"the value of point 0", "the launch domain", "has 2 dimensions"}));
    // What stands in braces is a point, never a position.
    EXPECT_TRUE(mentions(error_of<UsageError>([&] { (void)sums.get({1}); }),
                         {"the value of point 1", "the launch domain", "has 2 dimensions"}));
    EXPECT_TRUE(mentions(error_of<UsageError>([&] { (void)sums.get({}); }),
                         {"the value of a point of 0 dimensions", "has 2 dimensions"}));
    EXPECT_TRUE(mentions(error_of<UsageError>([&] {
                           (void)sums.get({1, 2, 3, 4});
                         }),
                         {"the value of a point of 4 dimensions", "has 2 dimensions"}));
    EXPECT_TRUE(mentions(error_of<UsageError>([&] { (void)sums.get(3); }),
                         {"value 3 of a group launch of 3 points"}));
    const Future<Coord> single = ctx.launch(one);
    EXPECT_TRUE(mentions(error_of<UsageError>([&] {
                           (void)single.value_at({0, 0, 0}, 1);
                         }),
                         {"the value of point 0", "no group launch's"}));
  });
}

TEST(HandleErrors, AccessorsThatDoNotFitTheRequirement) {
  Options options;
  options.machine = "emulated:cpus=2";
  options.check = true;
  const auto message = [&](auto body) {
    const DynamicTask task{"task", std::function<void(const TaskFrame&)>(body)};
    return error_of<TaskFailed>([&] {
      Runtime(options).run([&](Context& ctx) {
        auto cells = ctx.region(Rect1{0, 7}, number);
        const Requirement requirements[] = {Requirement::of(cells, number, Privilege::read)};
        LaunchRequest request;
        request.task = task.record().get();
        request.requirements = requirements;
        request.where = std::source_location::current();
        ctx.launch(request);
      });
    });
  };
  EXPECT_TRUE(mentions(message([](const TaskFrame& f) { (void)f.get<ReadWrite<Coord>>(0); }),
                       {"'task' launched at", "argument 0", "field 'number'", "read-write",
                        "the launch gave read"}));
  EXPECT_TRUE(mentions(message([](const TaskFrame& f) { (void)f.get<Read<float>>(0); }),
                       {"float", "long"}));
  EXPECT_TRUE(mentions(message([](const TaskFrame& f) { (void)f.get<Read<Coord, 2>>(0); }),
                       {"2 dimensions", "1 dim"}));
  EXPECT_TRUE(mentions(message([](const TaskFrame& f) { (void)f.get<Read<Coord>>(1); }),
                       {"its argument 1", "launched with 1"}));
  EXPECT_EQ(message([](const TaskFrame& f) { (void)f.get<Read<Coord>>(0); }), "no error");
}

// Beyond some thousand, a context forgets the failures that no data carries; a future keeps its own.
TEST(FillErrors, AFutureThatFailedLongAgo) {
  const Task fails{"fails", [](Read<Coord>) -> Coord { throw std::runtime_error("long ago"); }};
  const Task spoils{"spoils", [](ReadWrite<Coord>) { throw std::runtime_error("later"); }};
  const Task mends{"mends", [](Write<Coord> x) { x[0] = 1; }};
  for (const bool tracing : {false, true}) {
    Options options;
    options.workers = 0;
    options.tracing = tracing;
    Runtime runtime(options);
    const auto program = [&](Context& ctx) {
      const Trace step{"step"};
      const auto cells = ctx.region(Rect1{0, 0}, number);
      const auto others = ctx.region(Rect1{0, 0}, number);
      ctx.fill(cells, number, 1);
      ctx.fill(others, number, 1);
      const Future<Coord> failed = ctx.launch(fails, cells[number]);
      for (int i = 0; i < 5000; ++i) {
        ctx.launch(spoils, others[number]);
        ctx.launch(mends, others[number]);
      }
      static_cast<void>(ctx.access<Read>(others[number])[0]);
      for (int t = 0; t < 4; ++t) {
        ctx.trace(step, [&] {
          ctx.launch(mends, others[number]);
          ctx.fill(cells, number, failed);
        });
        EXPECT_TRUE(mentions(
            error_of<TaskFailed>([&] { static_cast<void>(ctx.access<Read>(cells[number])[0]); }),
            {"task 'fails'", "long ago"}));
      }
    };
    EXPECT_THROW(runtime.run(program), TaskFailed);  // of those that nobody was told
  }
}

}  // namespace
}  // namespace refrain::failure_test
