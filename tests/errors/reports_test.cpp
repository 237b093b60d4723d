// Reports that cannot be written.

#include <gtest/gtest.h>

#include <fstream>

#include "support/arguments.hpp"
#include "support/expect_error.hpp"

namespace refrain::test {
namespace {

const Task nothing{"nothing", [] {}};

TEST(ReportErrors, AFullDisk) {
  if (!std::ofstream("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  const Trace trace{"trace"};
  for (const char* flag : {"timeline", "graph", "graph-calculus", "stats"}) {
    SCOPED_TRACE(flag);
    const std::string full = "--refrain:" + std::string(flag) + "=/dev/full";
    Arguments args{full.c_str(), "--refrain:workers=0"};
    testing::internal::CaptureStderr();
    const int status = run(args.count, args.values(), [&](Context& context) {
      context.trace(trace, [&] {
        for (int i = 0; i < 5'000; ++i) context.launch(nothing);
      });
    });
    expect_words(testing::internal::GetCapturedStderr(),
                 {"refrain:", "cannot be written to '/dev/full'", "No space left"});
    EXPECT_EQ(status, 1);
  }
}

// The others are written all the same.
TEST(ReportErrors, AFullDiskForOneOfThem) {
  if (!std::ofstream("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  Arguments args{"--refrain:timeline=/dev/full", "--refrain:stats"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(args.count, args.values(), [](Context& context) { context.launch(nothing); }), 1);
  expect_words(testing::internal::GetCapturedStderr(),
               {"Refrain statistics", "the timeline cannot be written"});
}

TEST(ReportErrors, AnExplanationThatCannotBeWritten) {
  Options options = small_machine();
  options.explain = "/nowhere/why";
  EXPECT_THROW(
      {
        try {
          const Runtime runtime(options);
        } catch (const Error& error) {
          expect_words(error.what(), {"--refrain:explain", "cannot write the file",
                                      "'/nowhere/why.txt'", "No such file"});
          throw;
        }
      },
      Error);
}

// Also where it was not a flag.
TEST(ReportErrors, AnExplanationInNoFile) {
  for (const char* prefix : {"/tmp/", "why/"}) {
    Options options = small_machine();
    options.explain = prefix;
    EXPECT_THROW(
        {
          try {
            const Runtime runtime(options);
          } catch (const InputError& error) {
            expect_words(error.what(), {"--refrain:explain", "expected a prefix of files to write",
                                        "not ending in '/'", "'" + std::string(prefix) + "'"});
            throw;
          }
        },
        InputError);
  }
}

Options full_disk() {
  Options options = small_machine();
  options.graph = "/dev/full";
  return options;
}

TEST(ReportErrors, AFullDiskForARuntimeOfTheProgram) {
  if (!std::ofstream("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  testing::internal::CaptureStderr();
  {
    Runtime runtime(full_disk());
    runtime.run([](Context& context) { context.launch(nothing); });
    try {
      runtime.write_reports();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      expect_words(error.what(), {"task graph", "'/dev/full'", "No space left"});
    }
    runtime.write_reports();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");  // it was told
  testing::internal::CaptureStderr();
  { const Runtime silent(full_disk()); }
  expect_words(testing::internal::GetCapturedStderr(), {"refrain: ", "'/dev/full'"});
}

TEST(ReportErrors, BeforeTheEndAndRunsAfterIt) {
  Runtime runtime(small_machine());
  EXPECT_THROW(runtime.run([&](Context&) { runtime.write_reports(); }), UsageError);
  expect_usable(runtime);
  runtime.write_reports();
  try {
    runtime.run([](Context&) { ADD_FAILURE() << "it ran"; });
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) { expect_words(error.what(), {"run: ", "are written"}); }
}

}  // namespace
}  // namespace refrain::test
