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
  for (const char* flag : {"timeline", "graph", "stats"}) {
    SCOPED_TRACE(flag);
    const std::string full = "--refrain:" + std::string(flag) + "=/dev/full";
    Arguments args{full.c_str(), "--refrain:workers=0"};
    testing::internal::CaptureStderr();
    const int status = run(args.count, args.values(), [](Context& context) {
      for (int i = 0; i < 5'000; ++i) context.launch(nothing);
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

}  // namespace
}  // namespace refrain::test
