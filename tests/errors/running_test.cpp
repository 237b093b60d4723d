// What goes wrong while tasks run: tasks that throw, accesses that are checked, children that ask for too
// much, waits that cannot end. The error reaches the program at its next wait.

#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <thread>

#include "support/expect_error.hpp"

namespace refrain::test::running_test {
namespace {

constexpr Field<double> mass{"mass"}, charge{"charge"};

struct Boom : std::runtime_error {
  using std::runtime_error::runtime_error;
};
const Task throws{"throws", [](ReadWrite<double>) { throw Boom("the boiler burst"); }};
const Task throws_value{"throws_value",
                        [](Read<double>) -> double { throw Boom("no value today"); }};
const Task add_one{"add_one", [](ReadWrite<double> x) {
                     for (auto p : x.domain()) x[p] += 1;
                   }};

Options checked() {
  Options options = small_machine();
  options.check = true;
  return options;
}

TEST(RunningErrors, TaskThatThrows) {
  expect_error<TaskFailed>(small_machine(), {"'throws'", "the boiler burst", "@"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 7}, mass);
                             next_line_fails();
                             context.launch(throws, cells[mass]);
                           });
}

TEST(RunningErrors, ContextOfTheLauncherInABody) {
  expect_error<TaskFailed>(
      checked(), {"'outer'", "launch at ", "the context belongs to another task", "Context&"},
      [](Context& context) {
        auto cells = context.region(Rect1{0, 7}, mass, charge);
        const Task outer{"outer",
                         [&](ReadWrite<double>) { context.launch(add_one, cells[charge]); }};
        context.launch(outer, cells[mass]);
        context.fence();
      });
}

TEST(RunningErrors, DataCallsOfTheLauncherInABody) {
  const auto refused = [](const char* call, auto&& f) {
    SCOPED_TRACE(call);
    expect_error<TaskFailed>(
        checked(),
        {"'outer'", std::string(call) + " at running_test.cpp:", "belongs to another task"},
        [&](Context& context) {
          auto cells = context.region(Rect1{0, 7}, mass, charge);
          auto halves = context.blocks(cells, 2);
          const Task outer{"outer", [&](ReadWrite<double>) { f(context, cells, halves); }};
          context.launch(outer, cells[mass]);
          context.fence();
        });
  };
  using Cells = const Region<1>&;
  using Halves = const Partition<1>&;
  refused("region", [](Context& c, Cells, Halves) { c.region(Rect1{0, 7}, mass); });
  refused("destroy", [](Context& c, Cells cells, Halves) { c.destroy(cells); });
  refused("destroy", [](Context& c, Cells, Halves halves) { c.destroy(halves); });
  refused("fill", [](Context& c, Cells cells, Halves) { c.fill(cells, charge, 1.0); });
  refused("copy", [](Context& c, Cells cells, Halves) { c.copy(cells[mass], cells[charge]); });
  refused("blocks", [](Context& c, Cells cells, Halves) { c.blocks(cells, 4); });
  refused("blocks_of_size", [](Context& c, Cells cells, Halves) { c.blocks_of_size(cells, 4); });
  refused("halo", [](Context& c, Cells, Halves halves) { c.halo(halves, 1); });
  refused("interior", [](Context& c, Cells, Halves halves) { c.interior(halves, 1); });
  refused("unite", [](Context& c, Cells, Halves halves) { c.unite(halves, halves); });
  refused("partition", [](Context& c, Cells cells, Halves) {
    c.partition(cells, std::vector<IndexSpace<1>>{Rect1{0, 3}});
  });
  refused("restrict_to", [](Context& c, Cells cells, Halves) {
    c.restrict_to(cells, IndexSpace<1>(Rect1{0, 1}), shift(1), Rect1{0, 2});
  });
  constexpr Field<Point1> to{"to"};
  refused("by_colour", [&](Context& c, Cells cells, Halves) {
    c.by_colour(cells, to, IndexSpace<1>(Rect1{0, 1}));
  });
  refused("image", [&](Context& c, Cells cells, Halves halves) { c.image(cells, halves, to); });
  refused("preimage",
          [&](Context& c, Cells cells, Halves halves) { c.preimage(cells, halves, to); });
}

TEST(RunningErrors, ContextOnAnotherThread) {
  expect_error<UsageError>(checked(),
                           {"fence at ", "the context belongs to another thread", "has started"},
                           [](Context& context) {
                             std::exception_ptr thrown;
                             std::thread([&] {
                               try {
                                 context.fence();
                               } catch (...) { thrown = std::current_exception(); }
                             }).join();
                             if (thrown) std::rethrow_exception(thrown);
                           });
}

TEST(RunningErrors, TheOriginalIsKept) {
  Runtime runtime(small_machine());
  try {
    runtime.run([](Context& context) {
      context.launch(throws, context.region(Rect1{0, 7}, mass)[mass]);
      context.fence();
    });
    ADD_FAILURE() << "no error";
  } catch (const TaskFailed& error) {
    EXPECT_THROW(std::rethrow_exception(error.original()), Boom);
  }
}

TEST(RunningErrors, WhatDependsOnAFailureDoesNotRunAndTheRestFinishes) {
  static std::atomic<int> ran{0};
  static const Task count{"count", [](ReadWrite<double>) { ++ran; }};
  static const Task read{"read", [](Read<double>) { ++ran; }};
  static const Task rewrite{"rewrite", [](Write<double> x) {
                              for (auto p : x.domain()) x[p] = 5;
                            }};
  for (const int workers : {0, 1, 3}) {
    ran = 0;
    Runtime runtime(small_machine("emulated:cpus=4", workers));
    runtime.run([](Context& context) {
      auto cells = context.region(Rect1{0, 7}, mass, charge);
      auto blocks = context.blocks(cells, 2);
      context.fill(cells, mass, 1.0);
      context.launch(throws, blocks(0)[mass]);
      context.launch(count, blocks(0)[mass]);  // poisoned
      context.launch(read, cells[mass]);       // poisoned
      context.launch(count, blocks(1)[mass]);  // runs
      context.launch(count, cells[charge]);    // runs
      EXPECT_THROW(context.fence(), TaskFailed);
      EXPECT_EQ(ran.load(), 2);
      EXPECT_THROW((void)context.access<Read>(cells[mass]), TaskFailed);
      EXPECT_EQ(context.access<Read>(blocks(1)[mass])[4], 1.0);
      context.launch(rewrite, blocks(0)[mass]);  // good again
      EXPECT_EQ(context.access<Read>(cells[mass])[0], 5.0);
    });
    expect_usable(runtime);
  }
}

TEST(RunningErrors, FuturesCarryFailures) {
  Runtime runtime(small_machine());
  runtime.run([](Context& context) {
    static const Task twice{"twice", [](double x) { return 2 * x; }};
    auto cells = context.region(Rect1{0, 7}, mass);
    auto failed = context.launch(throws_value, cells[mass]);
    auto follows = context.launch(twice, failed);
    EXPECT_THROW((void)failed.get(), TaskFailed);
    try {
      (void)follows.get();
      ADD_FAILURE() << "no error";
    } catch (const TaskFailed& error) {
      expect_words(error.what(), {"'throws_value'", "no value today"});
    }
  });
  // A reduction of what failed fails; nobody looks at the other points' failures, so run() tells of them.
  EXPECT_THROW(runtime.run([](Context& context) {
    auto group = context.launch(throws_value, 3, context.region(Rect1{0, 7}, mass)[mass]);
    EXPECT_THROW((void)context.reduce(group, Sum{}).get(), TaskFailed);
  }),
               TaskFailed);
}

TEST(RunningErrors, ProgramThatThrows) {
  Runtime runtime(small_machine());
  EXPECT_THROW(runtime.run([](Context& context) {
    auto cells = context.region(Rect1{0, 7}, mass);
    for (int i = 0; i < 100; ++i) context.launch(add_one, cells[mass]);
    throw Boom("changed my mind");
  }),
               Boom);
  expect_usable(runtime);
}

TEST(RunningErrors, CheckedAccessOutsideTheRegion) {
  static const Task beyond{"beyond", [](ReadWrite<double> x, Read<double>) { x[8] = 1; }};
  expect_error<Error>(checked(),
                      {"'beyond'", "argument 0", "region 0", "'mass'", "point 8", "[4..7]", "@"},
                      [](Context& context) {
                        auto cells = context.region(Rect1{0, 15}, mass, charge);
                        next_line_fails();
                        context.launch(beyond, context.blocks(cells, 4)(1)[mass], cells[charge]);
                      });
}

TEST(RunningErrors, CheckedContributionOutsideTheRegion) {
  static const Task beyond{"beyond", [](Reduce<Sum, double> x) { x[3] += 1; }};
  expect_error<Error>(checked(), {"'beyond'", "argument 0", "point 3"}, [](Context& context) {
    auto cells = context.region(Rect1{0, 15}, mass);
    context.launch(beyond, context.blocks(cells, 4)(1)[mass]);
  });
}

TEST(RunningErrors, CheckedAccessOfTheProgram) {
  expect_error<UsageError>(checked(), {"access", "region 0", "point 16"}, [](Context& context) {
    auto cells = context.region(Rect1{0, 15}, mass);
    (void)context.access<Read>(cells[mass])[16];
  });
}

TEST(RunningErrors, CheckedAccessWhileAChildMayWrite) {
  static const Task parent{"parent", [](ReadWrite<double> x, Context& context) {
                             context.launch(add_one, x.region()[mass]);
                             x[0] = 1;
                           }};
  expect_error<Error>(checked(), {"'parent'", "argument 0", "point 0", "child"},
                      [](Context& context) {
                        context.launch(parent, context.region(Rect1{0, 15}, mass)[mass]);
                      });
}

TEST(RunningErrors, AccessAfterWaitingForTheChild) {
  static const Task parent{"parent", [](ReadWrite<double> x, Context& context) {
                             context.launch(add_one, x.region()[mass]);
                             context.fence();
                             x[0] += 1;
                           }};
  Runtime runtime(checked());
  runtime.run([](Context& context) {
    auto cells = context.region(Rect1{0, 15}, mass);
    context.launch(parent, cells[mass]);
    EXPECT_EQ(context.access<Read>(cells[mass])[0], 2.0);
  });
}

// One of two children was waited for; a child that returns nothing is waited for by a fence.
TEST(RunningErrors, AccessBeforeTheLastChildIsWaitedFor) {
  static const Task count{"count", [](Read<double> x) { return x.domain().volume(); }};
  static const Task two{"two", [](ReadWrite<double> x, Context& context) {
                          auto halves = context.blocks(x.region(), 2);
                          auto first = context.launch(count, halves(0)[mass]);
                          auto second = context.launch(count, halves(1)[mass]);
                          first.wait();
                          x[0] = static_cast<double>(first.get());
                        }};
  static const Task silent{"silent", [](ReadWrite<double> x, Context& context) {
                             auto halves = context.blocks(x.region(), 2);
                             context.launch(add_one, halves(0)[mass]);
                             context.launch(count, halves(1)[mass]).wait();
                             x[0] = 1;
                           }};
  expect_error<Error>(checked(), {"'two'", "argument 0", "point 0", "fence()"},
                      [](Context& context) {
                        context.launch(two, context.region(Rect1{0, 15}, mass)[mass]);
                      });
  expect_error<Error>(checked(), {"'silent'", "argument 0", "point 0", "fence()"},
                      [](Context& context) {
                        context.launch(silent, context.region(Rect1{0, 15}, mass)[mass]);
                      });
}

TEST(RunningErrors, ReducerThatTouchesWhatItsChildrenContributeTo) {
  static const Task give{"give", [](Reduce<Sum, double> x) { x[0] += 1; }};
  static const Task parent{"parent", [](Reduce<Sum, double> x, Context& context) {
                             context.launch(give, x.region()[mass]);
                             x[0] += 1;
                           }};
  expect_error<Error>(checked(), {"'parent'", "argument 0", "point 0", "child"},
                      [](Context& context) {
                        context.launch(parent, context.region(Rect1{0, 15}, mass)[mass]);
                      });
}

TEST(RunningErrors, ChildOfAReducerThatReadsOrReducesOtherwise) {
  static const Task other{"other", [](Reduce<Min, double> x) { x.reduce(0, 1); }};
  static const Task look{"look", [](Read<double>) {}};
  static const Task wrong{"wrong", [](Reduce<Sum, double> x, Context& context) {
                            context.launch(other, x.region()[mass]);
                          }};
  static const Task curious{"curious", [](Reduce<Sum, double> x, Context& context) {
                              context.launch(look, x.region()[mass]);
                            }};
  expect_error<Error>(
      small_machine(),
      {"'other'", "more than its parent", "reduce access with 'min'", "'wrong'", "with '+'"},
      [](Context& context) {
        context.launch(wrong, context.region(Rect1{0, 15}, mass)[mass]);
      });
  expect_error<Error>(small_machine(),
                      {"'look'", "more than its parent", "read access", "'curious'", "with '+'"},
                      [](Context& context) {
                        context.launch(curious, context.region(Rect1{0, 15}, mass)[mass]);
                      });
}

TEST(RunningErrors, ChildThatAsksForMoreThanItsParentHas) {
  static const Task reader{"reader", [](Read<double> x, Context& context) {
                             context.launch(add_one, x.region()[mass]);
                           }};
  expect_error<Error>(
      small_machine(),
      {"'add_one'", "'reader'", "argument 0", "'mass'", "read-write", "more than its parent"},
      [](Context& context) {
        context.launch(reader, context.region(Rect1{0, 15}, mass)[mass]);
      });
}

TEST(RunningErrors, ChildOfAPieceThatAsksForTheWhole) {
  static Region<1> whole;
  static const Task piece{
      "piece", [](ReadWrite<double>, Context& context) { context.launch(add_one, whole[mass]); }};
  expect_error<Error>(small_machine(), {"'add_one'", "'piece'", "more than its parent"},
                      [](Context& context) {
                        whole = context.region(Rect1{0, 15}, mass);
                        context.launch(piece, context.blocks(whole, 4)(1)[mass]);
                      });
}

TEST(RunningErrors, TaskThatWaitsForAFutureItDoesNotOwn) {
  static Future<double> foreign;
  static const Task make{"make", [](Read<double> x) { return x[0]; }};
  static const Task waits{"waits", [](Read<double>) { return foreign.get(); }};
  expect_error<Error>(small_machine(), {"'waits'", "future"}, [](Context& context) {
    auto cells = context.region(Rect1{0, 15}, mass);
    auto other = context.region(Rect1{0, 15}, mass);
    const auto held = context.access<ReadWrite>(cells[mass]);  // keeps `make` from being ready
    foreign = context.launch(make, cells[mass]);
    (void)context.launch(waits, other[mass]).get();
  });
  foreign = {};
}

// The chain: who waits for whom, with lines.
TEST(RunningErrors, WaitThatCannotEnd) {
  static const Task sum{"sum", [](Read<double> x) { return x[0]; }};
  for (const int workers : {0, 2}) {
    Options options = small_machine("emulated:cpus=4", workers);
    expect_error<Deadlock>(options, {"'sum'", "access", "running_test.cpp", "@"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 15}, mass);
                             auto held = context.access<ReadWrite>(cells[mass]);
                             next_line_fails();
                             auto future = context.launch(sum, cells[mass]);
                             (void)future.get();
                           });
    expect_error<Deadlock>(options, {"fence", "access", "@"}, [](Context& context) {
      auto cells = context.region(Rect1{0, 15}, mass);
      auto held = context.access<ReadWrite>(cells[mass]);
      context.launch(add_one, cells[mass]);
      next_line_fails();
      context.fence();
    });
    // What the runtime adds to a launch has its line.
    expect_error<Deadlock>(
        options, {"fence", "'fold' launched at", "@", "access"}, [](Context& context) {
          static const Task give{"give", [](Reduce<Sum, double> x) { x[0] += 1; }};
          auto cells = context.region(Rect1{0, 15}, mass);
          auto held = context.access<ReadWrite>(cells[mass]);
          next_line_fails();
          context.launch(give, cells[mass]);
          context.fence();
        });
  }
}

TEST(RunningErrors, ExitStatusOfAProgram) {
  char name[] = "program";
  char* arguments[] = {name, nullptr};
  int count = 1;
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(count, arguments,
                [](Context& context) {
                  context.launch(throws, context.region(Rect1{0, 7}, mass)[mass]);
                }),
            1);
  expect_words(testing::internal::GetCapturedStderr(), {"'throws'", "the boiler burst"});
  EXPECT_EQ(run(count, arguments, [](Context&) {}), 0);
}

TEST(RunningErrors, UnknownFlag) {
  char name[] = "program", flag[] = "--refrain:wrokers=3";
  char* arguments[] = {name, flag, nullptr};
  int count = 2;
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(count, arguments, [](Context&) { ADD_FAILURE() << "the program ran"; }), 1);
  expect_words(testing::internal::GetCapturedStderr(), {"wrokers", "workers"});
}

}  // namespace
}  // namespace refrain::test::running_test
