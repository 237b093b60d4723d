#include "refrain/options.hpp"

#include <gtest/gtest.h>

#include <cctype>

#include "base/text.hpp"
#include "refrain/error.hpp"
#include "refrain/runtime.hpp"
#include "runtime/runtime_impl.hpp"
#include "support/arguments.hpp"

namespace refrain::options_test {
namespace {

using test::Arguments;
using test::EnvironmentArgs;
using Words = std::vector<std::string>;

Options parse(Arguments& args) { return parse_options(args.count, args.values()); }
Options parse(Arguments&& args) { return parse(args); }

TEST(Options, Defaults) {
  const Options o = parse(Arguments{});
  EXPECT_EQ(o.workers, -1);
  EXPECT_EQ(o.window, 8192U);
  EXPECT_EQ(o.machine, "");
  EXPECT_EQ(o.mapper, "default");
  EXPECT_EQ(o.schedule, std::nullopt);
  EXPECT_EQ(o.check, checks_by_default());
  EXPECT_FALSE(o.stats);
  EXPECT_EQ(o.timeline + o.graph + o.graph_calculus + o.stats_file, "");
  EXPECT_FALSE(o.help);
}

TEST(Options, BothWaysToGiveAValue) {
  const Options o = parse({"--refrain:workers", "3", "--refrain:window=7",
                           "--refrain:machine=emulated:gpus=2", "--refrain:mapper", "m.json",
                           "--refrain:schedule=18446744073709551615", "--refrain:timeline",
                           "t.json", "--refrain:graph=g.dot", "--refrain:graph-calculus", "g.txt"});
  EXPECT_EQ(o.workers, 3);
  EXPECT_EQ(o.window, 7U);
  EXPECT_EQ(o.machine, "emulated:gpus=2");
  EXPECT_EQ(o.mapper, "m.json");
  EXPECT_EQ(o.schedule, ~std::uint64_t{0});
  EXPECT_EQ(o.timeline, "t.json");
  EXPECT_EQ(o.graph, "g.dot");
  EXPECT_EQ(o.graph_calculus, "g.txt");
  EXPECT_EQ(parse({"--refrain:workers", "-1"}).workers, -1);
}

TEST(Options, AShardOfADryRun) {
  const Options o = parse({"--refrain:dry", "--refrain:shard", "3/64"});
  EXPECT_TRUE(o.dry);
  EXPECT_EQ(o.shard.number, 3U);
  EXPECT_EQ(o.shard.of, 64U);
  for (const char* wrong : {"3", "3/", "/4", "4/4", "0/1", "0/0", "1/2/3", "a/4", "-1/4"})
    EXPECT_THROW(parse({"--refrain:dry", "--refrain:shard", wrong}), InputError) << wrong;
  Options alone;
  alone.dry = true;
  EXPECT_THROW(Runtime{alone}, InputError);
  alone.dry = false;
  alone.shard = {0, 2};
  EXPECT_THROW(Runtime{alone}, InputError);
}

TEST(Options, FlagsLeaveArgvAndTheRestStays) {
  Arguments args{
      "-n", "5", "--refrain:workers", "2", "file", "--refrain:check", "--refrain:stats=s.json",
      "x"};
  parse(args);
  EXPECT_EQ(args.left(), (Words{"-n", "5", "file", "x"}));
  EXPECT_EQ(args.values()[args.count], nullptr);
}

TEST(Options, AfterTwoDashesAllIsTheProgramsOwn) {
  Arguments args{"--refrain:workers", "2", "--", "--refrain:workers", "3", "--help"};
  const Options o = parse(args);
  EXPECT_EQ(o.workers, 2);
  EXPECT_FALSE(o.help);
  EXPECT_EQ(args.left(), (Words{"--", "--refrain:workers", "3", "--help"}));
}

TEST(Options, OptionalValuesSwallowNothing) {
  Arguments args{"--refrain:check", "1", "--refrain:stats", "out.json"};
  const Options o = parse(args);
  EXPECT_TRUE(o.check);
  EXPECT_TRUE(o.stats);
  EXPECT_EQ(o.stats_file, "");
  EXPECT_EQ(args.left(), (Words{"1", "out.json"}));
}

TEST(Options, Switches) {
  EXPECT_FALSE(parse({"--refrain:check=off"}).check);
  EXPECT_FALSE(parse({"--refrain:check", "off"}).check);
  EXPECT_TRUE(parse({"--refrain:check", "on"}).check);
  const Options to_file = parse({"--refrain:stats=s.json"});
  EXPECT_TRUE(to_file.stats);
  EXPECT_EQ(to_file.stats_file, "s.json");
  const Options off_again = parse({"--refrain:stats=s.json", "--refrain:stats=off"});
  EXPECT_FALSE(off_again.stats);
  EXPECT_EQ(off_again.stats_file, "");
}

TEST(Options, OfAutomaticTracing) {
  const Options o = parse({"--refrain:autotrace-min-length=2", "--refrain:autotrace-max-length",
                           "100", "--refrain:autotrace-history=64", "--refrain:autotrace-sample",
                           "4", "--refrain:autotrace-log=log.jsonl"});
  EXPECT_TRUE(o.autotrace);
  EXPECT_EQ(o.autotrace_min_length, 2U);
  EXPECT_EQ(o.autotrace_max_length, 100U);
  EXPECT_EQ(o.autotrace_history, 64U);
  EXPECT_EQ(o.autotrace_sample, 4U);
  EXPECT_EQ(o.autotrace_log, "log.jsonl");
  EXPECT_FALSE(parse({"--refrain:autotrace=off"}).autotrace);
  // The values of Yadav et al., section 6.
  const Options paper = parse({"--refrain:autotrace=off", "--refrain:autotrace=paper"});
  EXPECT_TRUE(paper.autotrace);
  EXPECT_EQ(paper.autotrace_min_length, 25U);
  EXPECT_EQ(paper.autotrace_max_length, 0U);
  EXPECT_EQ(paper.autotrace_history, 5000U);
  EXPECT_EQ(paper.autotrace_sample, 500U);
}

TEST(Options, OfTheOracle) {
  const Options o = parse(
      {"--refrain:record=calls", "--refrain:warm-start", "calls.before", "--refrain:order=path"});
  EXPECT_EQ(o.record, "calls");
  EXPECT_EQ(o.warm_start, "calls.before");
  EXPECT_EQ(o.order, Options::Order::path);
  EXPECT_EQ(parse({"--refrain:order=path", "--refrain:order=fifo"}).order, Options::Order::fifo);
  EXPECT_EQ(parse({"--refrain:order=path", "--refrain:order=local"}).order, Options::Order::local);
  const Options defaults = parse(Arguments{});
  EXPECT_EQ(defaults.record + defaults.warm_start, "");
  EXPECT_EQ(defaults.order, Options::Order::local);
}

TEST(Options, EnvironmentWithQuotesAndTheCommandLineWins) {
  const EnvironmentArgs environment(
      R"( --refrain:workers 4  --refrain:machine='my machine.json' --refrain:graph "a \"b\".dot" --refrain:timeline=a\ b)");
  const Options o = parse({"--refrain:workers=1"});
  EXPECT_EQ(o.workers, 1);
  EXPECT_EQ(o.machine, "my machine.json");
  EXPECT_EQ(o.graph, "a \"b\".dot");
  EXPECT_EQ(o.timeline, "a b");
}

TEST(Options, HelpIsSeenAndStaysForTheProgram) {
  Arguments args{"--help"};
  EXPECT_TRUE(parse(args).help);
  EXPECT_EQ(args.left(), Words{"--help"});
  EXPECT_TRUE(parse({"--refrain:help"}).help);
}

TEST(Options, HelpListsEveryFlag) {
  const std::string help = flags_help();
  for (const char* name : {"workers", "window", "machine", "mapper", "schedule", "check", "stats",
                           "timeline", "graph", "graph-calculus", "explain", "help"})
    EXPECT_NE(help.find("--refrain:" + std::string(name)), std::string::npos) << name;
}

TEST(Options, HelpSaysTheNumbersThatAreTheDefaults) {
  const std::string help = flags_help();
  int numbers = 0;
  for (const net::Item& item : runtime::items_of(Options())) {
    const std::size_t at = help.find(item.name);
    ASSERT_NE(at, std::string::npos) << item.name;
    const std::string line = help.substr(at, help.find('\n', at) - at);
    const std::size_t opened = line.rfind('(');
    if (opened == std::string::npos || !std::isdigit(line[opened + 1])) continue;
    ++numbers;
    const std::string said = line.substr(opened + 1, line.size() - opened - 2);
    EXPECT_EQ(std::to_string(parse_size(said).value_or(0)), item.value) << line;
  }
  EXPECT_GE(numbers, 8);
}

}  // namespace
}  // namespace refrain::options_test
