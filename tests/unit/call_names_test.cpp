#include "report/listeners.hpp"

#include <gtest/gtest.h>

namespace refrain::runtime::call_names_test {
namespace {

TEST(CallNames, AreForPeopleAndForTheNextRun) {
  const Listener::Call call{0x5d1f0c9e7a34b682, "calc 0x12, marked"};
  EXPECT_EQ(call_name(call), "calc 0x12, marked 0x5d1f0c9e7a34b682");
  ASSERT_TRUE(call_named(call_name(call)));
  EXPECT_EQ(call_named(call_name(call))->token, call.token);
  EXPECT_FALSE(call_named(call_name(call))->marked);
}

TEST(CallNames, OfMarkedCallsAndThoseThatCannotBeTraced) {
  Listener::Call call{7, "fill"};
  call.marked = true;
  EXPECT_EQ(call_name(call), "fill 0x0000000000000007, marked");
  EXPECT_EQ(call_named(call_name(call))->token, 7u);
  EXPECT_TRUE(call_named(call_name(call))->marked);
  call.traces = Listener::Traces::end;
  EXPECT_EQ(call_name(call), "fill");
}

TEST(CallNames, OthersAreNone) {
  for (const char* name : {"", "fill", "0x0000000000000007", " 0x", "fill 0x000000000000007",
                           "fill 0x000000000000000g", "fill 0x-000000000000001",
                           "fill 0x0000000000000007 ", "fill 0x0000000000000007, Marked"})
    EXPECT_FALSE(call_named(name)) << name;
}

}  // namespace
}  // namespace refrain::runtime::call_names_test
