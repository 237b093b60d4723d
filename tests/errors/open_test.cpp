// Programs that are opened and closed in the wrong order, twice, or by others.

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "support/expect_error.hpp"
#include "support/settings.hpp"

namespace refrain::test::open_test {
namespace {

const std::string runs_already =
    ": this Runtime runs a program already; a second one needs its own";

/// Of what f does on another thread.
template <class F>
std::string elsewhere(F&& f) {
  std::string text;
  std::thread([&] { text = error_of<UsageError>(f); }).join();
  return text;
}

TEST(OpenErrors, OpenTwice) {
  Runtime runtime(small_machine());
  OpenProgram program = runtime.open();
  EXPECT_EQ(error_of<UsageError>([&] { (void)runtime.open(); }), "open" + runs_already);
  EXPECT_EQ(elsewhere([&] { (void)runtime.open(); }), "open" + runs_already);
  program.close();
  expect_usable(runtime);
}

TEST(OpenErrors, RunWhileOpen) {
  Runtime runtime(small_machine());
  OpenProgram program = runtime.open();
  EXPECT_EQ(error_of<UsageError>([&] { runtime.run([](Context&) { FAIL(); }); }),
            "run" + runs_already);
  program.context().fence();
  program.close();
  expect_usable(runtime);
}

TEST(OpenErrors, OpenInAProgram) {
  Runtime runtime(small_machine()), other(small_machine());
  const std::string text =
      "open: this thread runs another program or a task; a thread of its own may open this one";
  runtime.run([&](Context&) {
    EXPECT_EQ(error_of<UsageError>([&] { (void)runtime.open(); }), "open" + runs_already);
    EXPECT_EQ(error_of<UsageError>([&] { (void)other.open(); }), text);
  });
  OpenProgram program = runtime.open();
  EXPECT_EQ(error_of<UsageError>([&] { (void)other.open(); }), text);
  program.close();
  expect_usable(other);
}

TEST(OpenErrors, UseAndCloseAfterClose) {
  Runtime runtime(small_machine());
  OpenProgram program = runtime.open();
  program.close();
  EXPECT_EQ(error_of<UsageError>([&] { (void)program.context(); }),
            "context: the program is closed");
  EXPECT_EQ(error_of<UsageError>([&] { program.close(); }), "close: the program is closed");
}

TEST(OpenErrors, OnAnotherThread) {
  Runtime runtime(small_machine());
  OpenProgram program = runtime.open();
  Context& context = program.context();
  const std::string text =
      ": the program was opened by another thread, which alone uses and closes it";
  EXPECT_EQ(elsewhere([&] { program.close(); }), "close" + text);
  EXPECT_EQ(elsewhere([&] { (void)program.context(); }), "context" + text);
  expect_words(elsewhere([&] { context.fence(); }), {"fence at ", "belongs to another thread"});
  program.close();
}

TEST(OpenErrors, WhatIsForBeforeAndAfter) {
  Runtime runtime(small_machine());
  OpenProgram program = runtime.open();
  expect_words(error_of<UsageError>([&] { runtime.write_reports(); }),
               {"write_reports: a program runs"});
  program.close();
  runtime.write_reports();
  expect_words(error_of<UsageError>([&] { (void)runtime.open(); }),
               {"open: the reports of this Runtime are written"});
}

TEST(OpenErrorsDeathTest, EndsOnAnotherThread) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Runtime runtime(small_machine());
        auto program = std::make_unique<OpenProgram>(runtime.open());
        std::thread([&] { program.reset(); }).join();
      },
      "an open program ends on another thread than the one that opened it");
}

}  // namespace
}  // namespace refrain::test::open_test
