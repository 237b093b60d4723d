// Traces that end where they were not begun.

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/expect_error.hpp"

namespace refrain::test::trace_test {
namespace {

TEST(TraceErrors, EndedInAnotherContextThatHasNot) {
  std::string begun;
  const Trace step{"step"};
  const Task ender{"ender", [&](Context& ctx) {
                     next_line_fails();
                     ctx.end_trace(step);
                   }};
  Runtime runtime(small_machine());
  runtime.run([&](Context& ctx) {
    begun = next_line();
    ctx.begin_trace(step);
    ctx.launch(ender);
    try {
      ctx.fence();
      ADD_FAILURE() << "no error";
    } catch (const TaskFailed& error) {
      expect_words(error.what(), {"task 'ender' launched at", "end_trace('step') at", "@",
                                  "no trace has been begun in this context", "begun at " + begun,
                                  "in the context of the program"});
    }
    ctx.end_trace(step);
  });
  expect_usable(runtime);
}

TEST(TraceErrors, EndedAfterTheContextThatHasBegunIt) {
  std::string begun;
  const Trace step{"step"}, other{"other"};
  const Task beginner{"beginner", [&](Context& ctx) {
                        begun = next_line();
                        ctx.begin_trace(step);
                      }};
  Runtime runtime(small_machine());
  runtime.run([&](Context& ctx) {
    ctx.launch(beginner);
    EXPECT_THROW(ctx.fence(), TaskFailed);
    const auto expect_told = [&](const char* what) {
      try {
        next_line_fails();
        ctx.end_trace(step);
        ADD_FAILURE() << "no error";
      } catch (const UsageError& error) {
        expect_words(error.what(),
                     {"end_trace('step') at", "@", what, "begun at " + begun,
                      "in the context of task 'beginner' launched at", "which has ended"});
      }
    };
    expect_told("no trace has been begun in this context");
    ctx.begin_trace(other);
    expect_told("the trace that is open is 'other', begun at trace_test.cpp");
    ctx.end_trace(other);
  });
  expect_usable(runtime);
}

TEST(TraceErrors, NeverBegun) {
  expect_error<UsageError>(
      small_machine(), {"end_trace('step') at", "@", "no trace has been begun"}, [](Context& ctx) {
        const Trace step{"step"};
        next_line_fails();
        ctx.end_trace(step);
      });
}

TEST(TraceErrors, TracesDoNotNest) {
  std::string begun;
  expect_error<UsageError>(
      small_machine(), {"begin_trace('inner') at", "@", "trace 'outer', begun at", "do not nest"},
      [&](Context& ctx) {
        const Trace outer{"outer"}, inner{"inner"};
        begun = next_line();
        ctx.begin_trace(outer);
        try {
          next_line_fails();
          ctx.begin_trace(inner);
        } catch (const UsageError& error) {
          expect_words(error.what(), {"trace 'outer', begun at " + begun});
          throw;
        }
      });
}

TEST(TraceErrors, AnotherTraceIsOpen) {
  std::string begun;
  Runtime runtime(small_machine());
  runtime.run([&](Context& ctx) {
    const Trace one{"one"}, two{"two"};
    begun = next_line();
    ctx.begin_trace(one);
    try {
      next_line_fails();
      ctx.end_trace(two);
      ADD_FAILURE() << "no error";
    } catch (const UsageError& error) {
      expect_words(error.what(), {"end_trace('two') at", "@",
                                  "the trace that is open is 'one', begun at " + begun});
    }
    ctx.end_trace(one);  // it is still open
  });
  expect_usable(runtime);
}

// Two children of the program, at work side by side.
TEST(TraceErrors, EndedInASiblingThatHasNotBegunIt) {
  std::string begun;
  const Trace step{"step"};
  std::atomic<bool> open{false}, tried{false};
  const Task beginner{"beginner", [&](Context& ctx) {
                        begun = next_line();
                        ctx.begin_trace(step);
                        open = true;
                        while (!tried) std::this_thread::yield();
                        ctx.end_trace(step);
                      }};
  const Task ender{"ender", [&](Context& ctx) {
                     while (!open) std::this_thread::yield();
                     try {
                       next_line_fails();
                       ctx.end_trace(step);
                       ADD_FAILURE() << "no error";
                     } catch (const UsageError& error) {
                       expect_words(
                           error.what(),
                           {"end_trace('step') at", "@", "no trace has been begun in this context",
                            "begun at " + begun, "in the context of task 'beginner'"});
                     }
                     tried = true;
                   }};
  Runtime runtime(small_machine("emulated:cpus=2", 2));
  runtime.run([&](Context& ctx) {
    ctx.launch(beginner);
    ctx.launch(ender);
    ctx.fence();
  });
  expect_usable(runtime);
}

// All else is done before that is told.
TEST(TraceErrors, LeftOpenAtTheEndOfTheProgram) {
  static constexpr Field<double> value{"value"};
  const Task add_one{"add_one", [](ReadWrite<double> x) {
                       for (auto p : x.domain()) x[p] += 1;
                     }};
  for (const bool tracing : {true, false}) {
    Options options = small_machine();
    options.tracing = tracing;
    double memory[4] = {0, 0, 0, 0};
    expect_error<UsageError>(
        options,
        {"begin_trace('step') at", "@", "still open at the end of the program", "end_trace"},
        [&](Context& ctx) {
          const Trace step{"step"};
          const auto cells = ctx.region(Rect1{0, 3}, value);
          ctx.attach(cells, value, memory);
          for (int t = 0; t < 3; ++t) ctx.trace(step, [&] { ctx.launch(add_one, cells[value]); });
          next_line_fails();
          ctx.begin_trace(step);
          ctx.launch(add_one, cells[value]);
        });
    EXPECT_EQ(memory[2], 4);
  }
}

// As if the body had thrown.
TEST(TraceErrors, LeftOpenAtTheEndOfABody) {
  static constexpr Field<double> value{"value"};
  const Task add_one{"add_one", [](ReadWrite<double> x) {
                       for (auto p : x.domain()) x[p] += 1;
                     }};
  const Trace step{"step"}, own{"own"};
  const Task leaver{"leaver", [&](Context& ctx, ReadWrite<double> x) {
                      for (int t = 0; t < 4; ++t)
                        ctx.trace(own, [&] { ctx.launch(add_one, x.region()[value]); });
                      next_line_fails();
                      ctx.begin_trace(step);
                      ctx.launch(add_one, x.region()[value]);
                    }};
  expect_error<TaskFailed>(small_machine(),
                           {"task 'leaver' launched at", "begin_trace('step') at", "@",
                            "still open at the end of task 'leaver' launched at"},
                           [&](Context& ctx) {
                             const auto cells = ctx.region(Rect1{0, 3}, value);
                             ctx.launch(leaver, cells[value]);
                             ctx.fence();
                           });
}

// What has gone wrong before is told instead.
TEST(TraceErrors, AFailureOrAnExceptionWinsOverATraceLeftOpen) {
  const Trace step{"step"};
  const Task throws{"throws", [] { throw std::runtime_error("before the end"); }};
  expect_error<TaskFailed>(small_machine(), {"'throws'", "before the end"}, [&](Context& ctx) {
    ctx.begin_trace(step);
    ctx.launch(throws);
  });
  expect_error<std::logic_error>(small_machine(), {"mine"}, [&](Context& ctx) {
    ctx.begin_trace(step);
    throw std::logic_error("mine");
  });
}

// The context of a body that throws in the middle of a trace, recorded or replayed, ends in order.
TEST(TraceErrors, InABodyThatThrows) {
  static constexpr Field<double> value{"value"};
  const Task add_one{"add_one", [](ReadWrite<double> x) {
                       for (auto p : x.domain()) x[p] += 1;
                     }};
  const Trace step{"step"};
  for (const bool scoped : {false, true})
    for (const int last : {0, 3}) {
      const Task thrower{"thrower", [&](Context& ctx, ReadWrite<double> x) {
                           for (int t = 0; t <= last; ++t) {
                             const auto half = [&] { ctx.launch(add_one, x.region()[value]); };
                             const auto rest = [&] {
                               if (t == last) throw std::runtime_error("in a trace");
                               half();
                             };
                             if (scoped) {
                               ctx.trace(step, [&] {
                                 half();
                                 rest();
                               });
                             } else {
                               ctx.begin_trace(step);
                               half();
                               rest();
                               ctx.end_trace(step);
                             }
                           }
                         }};
      expect_error<TaskFailed>(small_machine(), {"task 'thrower' launched at", "in a trace"},
                               [&](Context& ctx) {
                                 const auto cells = ctx.region(Rect1{0, 3}, value);
                                 ctx.launch(thrower, cells[value]);
                                 ctx.fence();
                               });
    }
}

// What a body throws is what the program gets, whatever it has done to the trace.
TEST(TraceErrors, AnExceptionWins) {
  expect_error<std::logic_error>(small_machine(), {"mine"}, [](Context& ctx) {
    const Trace step{"step"};
    ctx.trace(step, [&] {
      ctx.end_trace(step);
      throw std::logic_error("mine");
    });
  });
}

}  // namespace
}  // namespace refrain::test::trace_test
