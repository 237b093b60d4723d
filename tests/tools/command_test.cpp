// What the tool says of flags that are wrong.

#include "command.hpp"

#include <gtest/gtest.h>

namespace refrain::tools {
namespace {

TEST(WholeNumberFault, NamesTheValueAndTheRange) {
  EXPECT_EQ(whole_number_fault("1", 1), "");
  EXPECT_EQ(whole_number_fault("18446744073709551615", 0), "");
  EXPECT_EQ(whole_number_fault("0", 1), "expected a whole number from 1, found '0'");
  EXPECT_EQ(whole_number_fault("-1", 0), "expected a whole number from 0, found '-1'");
  EXPECT_EQ(whole_number_fault("1.5", 0), "expected a whole number from 0, found '1.5'");
  EXPECT_EQ(whole_number_fault("", 0), "expected a whole number from 0, found ''");
  EXPECT_EQ(whole_number_fault("18446744073709551616", 0),
            "expected a whole number from 0 to 2^64-1, found '18446744073709551616'");
}

}  // namespace
}  // namespace refrain::tools
