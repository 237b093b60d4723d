// What the tool says of flags that are wrong.

#include "command.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace refrain::tools::command_test {
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

/// What the tool says of a command line that it does not understand.
std::string said_of(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  const auto argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_tool(argc, argv.data()), 2);
  return testing::internal::GetCapturedStderr();
}

TEST(CommandLine, OfAnotherProgramGoesBehindTwoDashes) {
  for (const char* const action : {"record", "run"}) {
    const std::string name = std::string("refrain oracle ") + action;
    testing::internal::CaptureStdout();
    std::string words[] = {"refrain", "oracle", action, "--help"};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
    EXPECT_EQ(run_tool(4, argv), 0);
    const std::string help = testing::internal::GetCapturedStdout();
    EXPECT_NE(help.find("Usage: " + name + " [OPTIONS]"), std::string::npos) << help;
    EXPECT_NE(help.find(" -- COMMAND [ARGUMENT]...\n"), std::string::npos) << help;
  }
  const std::string hint = "the command goes behind --: refrain oracle record ... -- COMMAND";
  for (const auto& command :
       std::vector<std::vector<std::string>>{{"solver", "100"}, {"-n", "2"}}) {
    std::vector<std::string> words{"refrain", "oracle", "record", "-o", "tool_test.run"};
    words.insert(words.end(), command.begin(), command.end());
    const std::string said = said_of(words);
    EXPECT_NE(said.find("oracle record: '" + command[0] + "' is not understood"), std::string::npos)
        << said;
    EXPECT_NE(said.find(hint), std::string::npos) << said;
  }
  EXPECT_NE(said_of({"refrain", "oracle", "run", "earlier.run"})
                .find("a command is needed, behind --: refrain oracle run ... -- COMMAND"),
            std::string::npos);
  said_of({"refrain", "oracle", "run", "--", "solver"});
  said_of({"refrain", "report"});
}

}  // namespace
}  // namespace refrain::tools::command_test
