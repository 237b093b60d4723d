// Programs whose launches come as in a stream of tokens compute what they would compute launch by launch, whatever is
// found in the stream, recorded, replayed and left.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/autotrace_settings.hpp"
#include "support/random.hpp"
#include "support/same_run.hpp"
#include "support/settings.hpp"
#include "support/token_program.hpp"

namespace refrain::test::autotrace_streams_test {
namespace {

using Letters = std::vector<std::uint64_t>;

std::vector<std::string> all_streams() {
  std::vector<std::string> names = program_streams;
  names.insert(names.end(), other_streams.begin(), other_streams.end());
  return names;
}

Letters loop_of(std::size_t body, std::size_t size) {
  Letters letters;
  for (std::size_t i = 0; i < size; ++i) letters.push_back(i % body);
  return letters;
}

Counters expect_same_bits(const Options& options, const Letters& letters) {
  Runtime runtime(options);
  Bits found;
  runtime.run([&](Context& ctx) {
    const TokenData data(ctx);
    for (const std::uint64_t letter : letters) data.launch(ctx, letter);
    found = data.values(ctx);
  });
  EXPECT_EQ(found, TokenData::expected(letters));
  const Counters counters = runtime.counters();
  EXPECT_EQ(counters.launches, letters.size());
  return counters;
}

class AutotraceStreams : public InEverySetting {};
REFRAIN_IN_EVERY_SETTING(AutotraceStreams);

TEST_P(AutotraceStreams, ComputeTheSame) {
  for (const std::string& name : all_streams()) {
    SCOPED_TRACE(name);
    expect_same_bits(eager(options()), letters_of(make_stream(name, 800, 1)));
    expect_same_bits(options(), letters_of(make_stream(name, 1500, 2)));
  }
}

TEST_P(AutotraceStreams, ComputeTheSameWithShortTraces) {
  Options chosen = eager(options());
  chosen.autotrace_max_length = 5;
  for (const std::string& name : all_streams()) {
    SCOPED_TRACE(name);
    expect_same_bits(chosen, letters_of(make_stream(name, 500, 3)));
  }
}

TEST_P(AutotraceStreams, ComputeTheSameWithLittleMemoryForTraces) {
  Options chosen = eager(options());
  chosen.trace_memory = 100'000;
  chosen.trace_length = 7;
  for (const std::string& name : all_streams()) {
    SCOPED_TRACE(name);
    expect_same_bits(chosen, letters_of(make_stream(name, 500, 4)));
  }
}

// A loop is found if two rounds fit into the history.
TEST_P(AutotraceStreams, LoopsAsLongAsTheHistoryComputeTheSame) {
  for (const std::size_t body : {31, 32, 33, 63, 64, 65, 127, 129}) {
    SCOPED_TRACE(body);
    expect_same_bits(eager(options()), loop_of(body, 700));
  }
}

// --- without threads, so that what is mined is there at the same call in each run ----------------------

/// Settings in which two runs are the same.
std::vector<Options> repeatable() {
  return {ExecutionSetting{0, 8192, {}}.options(), ExecutionSetting{0, 8192, 1}.options(),
          ExecutionSetting{0, 1, 2}.options()};
}

TEST(AutotraceDecisions, AreTheSameInEveryRun) {
  for (const Options& options : repeatable())
    for (const std::string& name : all_streams()) {
      SCOPED_TRACE(name);
      const Letters letters = letters_of(make_stream(name, 1500, 1));
      const AutotraceCounters once = expect_same_bits(eager(options), letters).autotrace;
      const AutotraceCounters again = expect_same_bits(eager(options), letters).autotrace;
      EXPECT_EQ(once.analysed, again.analysed);
      EXPECT_EQ(once.replayed, again.replayed);
      EXPECT_EQ(once.candidates, again.candidates);
      EXPECT_EQ(once.recordings, again.recordings);
      EXPECT_EQ(once.replays, again.replays);
      EXPECT_EQ(once.wrong, again.wrong);
      EXPECT_EQ(once.mined, again.mined);
      EXPECT_EQ(once.mined_calls, again.mined_calls);
      EXPECT_EQ(once.late, again.late);
      EXPECT_EQ(once.before_steady, again.before_steady);
    }
}

// Where nobody else mines nothing is late: then it does not matter in which order tasks run either.
TEST(AutotraceDecisions, DoNotDependOnTheWindow) {
  for (const std::string& name : all_streams()) {
    SCOPED_TRACE(name);
    const Letters letters = letters_of(make_stream(name, 1500, 1));
    const auto counters = [&](std::size_t window) {
      return expect_same_bits(eager(ExecutionSetting{0, window, {}}.options()), letters).autotrace;
    };
    const AutotraceCounters wide = counters(8192), narrow = counters(1);
    EXPECT_EQ(wide.late, 0u);
    EXPECT_EQ(narrow.late, 0u);
    EXPECT_EQ(wide.replayed, narrow.replayed);
    EXPECT_EQ(wide.recordings, narrow.recordings);
    EXPECT_EQ(wide.candidates, narrow.candidates);
  }
}

TEST(AutotraceDecisions, EachCallIsAnalysedOrReplayed) {
  for (const std::string& name : all_streams()) {
    SCOPED_TRACE(name);
    Options options = eager(ExecutionSetting{0, 8192, {}}.options());
    const AutotraceCounters found =
        expect_same_bits(options, letters_of(make_stream(name, 1500, 1))).autotrace;
    EXPECT_EQ(found.analysed + found.replayed, 1501u);  // with a fill
  }
}

TEST(AutotraceDecisions, NothingIsDoneWhereItIsOff) {
  for (const bool tracing : {false, true}) {
    Options options = eager(ExecutionSetting{0, 8192, {}}.options());
    options.tracing = tracing;
    options.autotrace = !tracing;
    const Counters counters = expect_same_bits(options, loop_of(10, 1000));
    EXPECT_EQ(counters.recordings, 0u);
    EXPECT_EQ(counters.replays, 0u);
    EXPECT_EQ(counters.replayed_tasks, 0u);
    EXPECT_EQ(counters.autotrace.mined, 0u);
    EXPECT_EQ(counters.autotrace.analysed, 0u);
    EXPECT_EQ(counters.autotrace.replayed, 0u);
  }
}

TEST(AutotraceDecisions, LoopsAreReplayed) {
  const Options options = ExecutionSetting{0, 8192, {}}.options();
  for (const std::size_t body : {1, 3, 16, 60, 500}) {
    SCOPED_TRACE(body);
    const Counters counters = expect_same_bits(options, loop_of(body, 20'000));
    EXPECT_GE(counters.autotrace.replayed, 20'000u * 85 / 100);
    EXPECT_LE(counters.autotrace.before_steady.value_or(20'000), 20'000u * 15 / 100);
  }
}

// The same launch comes in many places of the loop: what comes before it tells them apart.
TEST(AutotraceDecisions, LongLoopsOfFewLaunchesAreReplayed) {
  const Options options = ExecutionSetting{0, 8192, {}}.options();
  for (const std::size_t body : {100, 500, 2000}) {
    SCOPED_TRACE(body);
    Letters letters;
    for (std::size_t i = 0; i < 20 * body; ++i) letters.push_back(mix(i % body, 1) % 8);
    const Counters counters = expect_same_bits(options, letters);
    EXPECT_GE(counters.autotrace.replayed, letters.size() * 60 / 100);
  }
}

// What was found in a loop that is over does not keep another one from being found.
TEST(AutotraceDecisions, EachOfManyLoopsIsReplayed) {
  Letters letters;
  for (std::size_t i = 0; i < 60'000; ++i) letters.push_back(mix(i / 3000, i % 30) % 16);
  const Counters counters = expect_same_bits(ExecutionSetting{0, 8192, {}}.options(), letters);
  EXPECT_GE(counters.autotrace.replayed, letters.size() * 85 / 100);
}

// Whatever follows, what comes before decides: no repeat of them is long, and all of them are replayed.
TEST(AutotraceDecisions, WordsOfMorphismsAreReplayed) {
  for (const char* name : {"fibonacci", "thue_morse", "period_doubling"}) {
    SCOPED_TRACE(name);
    const Letters letters = letters_of(make_stream(name, 40'000, 1));
    const Counters counters = expect_same_bits(ExecutionSetting{0, 8192, {}}.options(), letters);
    EXPECT_GE(counters.autotrace.replayed, letters.size() * 85 / 100);
  }
}

// What tasks launch makes the program no steadier, which has a context of its own.
TEST(AutotraceDecisions, TheSteadyStateIsThatOfTheProgram) {
  static const Task parent{"parent", [](Context& ctx, std::uint64_t first) {
                             const TokenData data(ctx);
                             for (std::uint64_t i = 0; i < 100; ++i)
                               data.launch(ctx, 100 * first + i);
                           }};
  Runtime runtime(ExecutionSetting{0, 8192, {}}.options());
  runtime.run([](Context& ctx) {
    for (std::uint64_t i = 0; i < 40; ++i) ctx.launch(parent, i);
  });
  const AutotraceCounters counters = runtime.counters().autotrace;
  EXPECT_EQ(counters.replayed, 0u);
  EXPECT_GE(counters.analysed, 2000u);
  EXPECT_EQ(counters.before_steady, std::nullopt);
}

// --- operations and their order --------------------------------------------------------------------------

TEST(AutotraceStreamsInDetail, OperationsAndTheirOrderAreTheSame) {
  SameRun same;
  same.seeds = 2;
  same.change = [](Options& options) { options = eager(options); };
  for (const std::string& name : all_streams()) {
    SCOPED_TRACE(name);
    const Letters letters = letters_of(make_stream(name, 500, 1));
    (void)same.compare([&](Context& ctx) {
      const TokenData data(ctx);
      for (const std::uint64_t letter : letters) data.launch(ctx, letter);
      std::vector<double> found;
      for (const std::uint64_t value : data.values(ctx))
        found.push_back(static_cast<double>(value >> 12));
      return found;
    });
  }
}

}  // namespace
}  // namespace refrain::test::autotrace_streams_test
