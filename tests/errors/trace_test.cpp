// Traces that end where they were not begun.

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace refrain::test {
namespace {

/// "trace_test.cpp:LINE" of the next line.
std::string next_line(int line = __builtin_LINE()) {
  return "trace_test.cpp:" + std::to_string(line + 1);
}

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
    ctx.fence();
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
}  // namespace refrain::test
