// One case per message of the runtime's flags.

#include "refrain/options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "refrain/error.hpp"
#include "refrain/runtime.hpp"
#include "support/arguments.hpp"

namespace refrain::options_test {
namespace {

using test::Arguments;
using test::EnvironmentArgs;

std::string message_of(Arguments args) {
  try {
    parse_options(args.count, args.values());
  } catch (const InputError& error) { return error.what(); }
  return "no error";
}

TEST(FlagErrors, UnknownFlag) {
  EXPECT_EQ(message_of({"--refrain:worker", "3"}),
            "argv: unknown flag '--refrain:worker'; did you mean 'workers'?");
  EXPECT_EQ(
      message_of({"--refrain:xyzzy=1"}),
      "argv: unknown flag '--refrain:xyzzy'; known are workers, window, machine, mapper, "
      "mapping, write-mapping, capture, schedule, check, stats, timeline, graph, graph-calculus, "
      "explain, tracing, "
      "trace-optimize, trace-length, trace-memory, autotrace, autotrace-min-length, "
      "autotrace-max-length, autotrace-history, autotrace-sample, autotrace-log, record, "
      "warm-start, order, output, check-determinism, hang-after, shard, dry, help");
}

TEST(FlagErrors, BadValue) {
  EXPECT_EQ(message_of({"--refrain:workers=two"}),
            "argv: --refrain:workers: expected a whole number from -1 to 4096, found 'two'");
  EXPECT_EQ(message_of({"--refrain:workers", "-2"}),
            "argv: --refrain:workers: expected a whole number from -1 to 4096, found '-2'");
  EXPECT_EQ(message_of({"--refrain:window", "0"}),
            "argv: --refrain:window: expected a whole number from 1 to 1000000000, found '0'");
  EXPECT_EQ(message_of({"--refrain:schedule=18446744073709551616"}),
            "argv: --refrain:schedule: expected a whole number from 0 to 2^64-1, found "
            "'18446744073709551616'");
  EXPECT_EQ(message_of({"--refrain:check=maybe"}),
            "argv: --refrain:check: expected on or off, found 'maybe'");
  EXPECT_EQ(message_of({"--refrain:check="}),
            "argv: --refrain:check: expected on or off, found ''");
  EXPECT_EQ(message_of({"--refrain:help=yes"}),
            "argv: --refrain:help: expected no value, found 'yes'");
  EXPECT_EQ(message_of({"--refrain:timeline", ""}),
            "argv: --refrain:timeline: expected a file to write, found ''");
  EXPECT_EQ(
      message_of({"--refrain:explain", "/tmp/"}),
      "argv: --refrain:explain: expected a prefix of files to write, not ending in '/', found "
      "'/tmp/'");
  EXPECT_EQ(
      message_of({"--refrain:explain="}),
      "argv: --refrain:explain: expected a prefix of files to write, not ending in '/', found ''");
}

TEST(FlagErrors, BadValueOfTheOracle) {
  EXPECT_EQ(message_of({"--refrain:order=lifo"}),
            "argv: --refrain:order: expected local, fifo or path, found 'lifo'");
  EXPECT_EQ(message_of({"--refrain:record="}),
            "argv: --refrain:record: expected a file to write, found ''");
  EXPECT_EQ(message_of({"--refrain:warm-start"}),
            "argv: --refrain:warm-start needs a value: expected a file that an earlier run has "
            "recorded, found nothing");
}

void expect_no_number(const std::string& flag, const std::string& range, const std::string& value) {
  EXPECT_EQ(message_of({("--refrain:" + flag + "=" + value).c_str()}),
            "argv: --refrain:" + flag + ": expected a whole number from " + range + ", found '" +
                value + "'");
}

TEST(FlagErrors, BadValueOfAutomaticTracing) {
  EXPECT_EQ(message_of({"--refrain:autotrace=maybe"}),
            "argv: --refrain:autotrace: expected on, off or paper, found 'maybe'");
  EXPECT_EQ(message_of({"--refrain:autotrace="}),
            "argv: --refrain:autotrace: expected on, off or paper, found ''");
  struct Number {
    std::string flag, range;
    std::vector<std::string> bad;
  };
  for (const auto& [flag, range, bad] :
       {Number{"autotrace-min-length", "1 to 1000000", {"0", "-1", "1000001"}},
        Number{"autotrace-max-length", "0 to 100000000", {"-1", "100000001"}},
        Number{"autotrace-history", "2 to 100000000", {"0", "1", "100000001"}},
        Number{"autotrace-sample", "1 to 100000000", {"0", "100000001"}}})
    for (const auto& values : {bad, {"", "many", "1.5", "12x", "18446744073709551617"}})
      for (const std::string& value : values) expect_no_number(flag, range, value);
  EXPECT_EQ(message_of({"--refrain:autotrace-log", ""}),
            "argv: --refrain:autotrace-log: expected a file to write, found ''");
}

// What a program sets itself, by member and flag.
TEST(OptionErrors, SetByTheProgram) {
  const auto error_of = [](auto set) {
    Options options;
    set(options);
    try {
      const Runtime runtime(options);
    } catch (const InputError& error) { return std::string(error.what()); }
    return std::string("no error");
  };
  EXPECT_EQ(error_of([](Options& o) { o.workers = -7; }),
            "Options::workers (--refrain:workers): expected a whole number from -1 to 4096, found "
            "-7");
  EXPECT_EQ(error_of([](Options& o) { o.workers = 1'000'000; }),
            "Options::workers (--refrain:workers): expected a whole number from -1 to 4096, found "
            "1000000");
  EXPECT_EQ(error_of([](Options& o) { o.window = 0; }),
            "Options::window (--refrain:window): expected a whole number from 1 to 1000000000, "
            "found 0");
  EXPECT_EQ(error_of([](Options& o) { o.window = ~std::size_t{0}; }),
            "Options::window (--refrain:window): expected a whole number from 1 to 1000000000, "
            "found 18446744073709551615");
  EXPECT_EQ(error_of([](Options& o) { o.trace_length = 0; }),
            "Options::trace_length (--refrain:trace-length): expected a whole number from 1 to "
            "100000000, found 0");
  EXPECT_EQ(error_of([](Options& o) { o.autotrace_history = 1; }),
            "Options::autotrace_history (--refrain:autotrace-history): expected a whole number "
            "from 2 to 100000000, found 1");
  EXPECT_EQ(error_of([](Options& o) { o.order = static_cast<Options::Order>(9); }),
            "Options::order (--refrain:order): expected local, fifo or path, found 9");
  EXPECT_EQ(error_of([](Options& o) { o.explain = "why/"; }),
            "Options::explain (--refrain:explain): expected a prefix of files to write, not ending "
            "in '/', found 'why/'");
}

TEST(FlagErrors, MissingValue) {
  EXPECT_EQ(message_of({"--refrain:graph"}),
            "argv: --refrain:graph needs a value: expected a file to write, found nothing");
  EXPECT_EQ(message_of({"--refrain:autotrace"}),
            "argv: --refrain:autotrace needs a value: expected on, off or paper, found nothing");
  EXPECT_EQ(message_of({"--refrain:autotrace-history"}),
            "argv: --refrain:autotrace-history needs a value: expected a whole number from 2 to "
            "100000000, found nothing");
  EXPECT_EQ(message_of({"--refrain:autotrace-log"}),
            "argv: --refrain:autotrace-log needs a value: expected a file to write, found nothing");
  EXPECT_EQ(message_of({"--refrain:workers", "--refrain:check"}),
            "argv: --refrain:workers needs a value: expected a whole number from -1 to 4096, found "
            "'--refrain:check'");
}

TEST(FlagErrors, Environment) {
  {
    const EnvironmentArgs environment("--refrain:window=x");
    EXPECT_EQ(
        message_of({}),
        "REFRAIN_ARGS: --refrain:window: expected a whole number from 1 to 1000000000, found 'x'");
  }
  {
    const EnvironmentArgs environment("workers=3");
    EXPECT_EQ(message_of({}), "REFRAIN_ARGS: expected a flag --refrain:NAME, found 'workers=3'");
  }
  {
    const EnvironmentArgs environment("--refrain:graph 'a b");
    EXPECT_EQ(message_of({}), "REFRAIN_ARGS: a quote ' is not closed in: --refrain:graph 'a b");
  }
}

}  // namespace
}  // namespace refrain::options_test
