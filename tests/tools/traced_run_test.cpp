// What a log of automatic tracing says: against a naive reading, and against the run that wrote it.

#include "traced_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_file.hpp"
#include "traced_run_file.hpp"

namespace refrain::tools::traced_run_test {
namespace {

/// Whether each call was replayed.
using Calls = std::vector<bool>;

TracedRun traced(const Calls& calls) {
  TracedRun run;
  for (std::size_t from = 0, to = 0; from < calls.size(); from = to) {
    while (to < calls.size() && calls[to] == calls[from]) ++to;
    if (calls[from]) run.replayed(from, to);
    else run.analysed(from, to);
  }
  return run;
}

double naive_share(const Calls& calls, std::size_t call, std::size_t window) {
  double replayed = 0, counted = 0;
  for (std::size_t i = call > window ? call - window : 0; i < call; ++i) {
    ++counted;
    if (calls[i]) ++replayed;
  }
  return counted == 0 ? 0 : replayed / counted;
}

/// A window that is not over yet counts where it has too many calls that were analysed already.
std::optional<std::uint64_t> naive_steady(const Calls& calls) {
  constexpr std::size_t window = 1000, most_analysed = 50;
  std::vector<std::size_t> analysed_before{0};
  for (const bool replayed : calls)
    analysed_before.push_back(analysed_before.back() + (replayed ? 0 : 1));
  std::size_t steady = calls.size();
  for (; steady > 0; --steady) {
    const std::size_t end = std::min(steady - 1 + window, calls.size());
    if (analysed_before[end] - analysed_before[steady - 1] > most_analysed) break;
  }
  if (calls.size() - steady < window) return std::nullopt;
  return steady;
}

Calls random_calls(std::mt19937& random) {
  Calls calls;
  const auto pick = [&random](std::size_t most) { return random() % most + 1; };
  const std::size_t stretches = pick(40), longest_replay = pick(3000), longest_analysis = pick(200);
  for (std::size_t i = 0; i < stretches; ++i) {
    // The last analysis is long now and then.
    calls.insert(calls.end(), i % 9 == 8 ? 2500 : pick(longest_analysis), false);
    calls.insert(calls.end(), pick(longest_replay), true);
  }
  return calls;
}

TEST(TracedRun, SharesAndSteadyStateAreTheNaiveOnes) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const Calls calls = random_calls(random);
    const TracedRun run = traced(calls);
    ASSERT_EQ(run.calls(), calls.size());
    const std::size_t window = random() % 3000 + 1;
    for (std::size_t call = 0; call <= calls.size(); call += 1 + random() % 9973)
      ASSERT_DOUBLE_EQ(run.share_before(call, window), naive_share(calls, call, window));
    ASSERT_EQ(run.steady_from(), naive_steady(calls)) << "of " << calls.size();
  }
}

TEST(TracedRun, WhatTheLogDoesNotTellWasAnalysed) {
  TracedRun run;
  run.analysed(0, 10);
  run.replayed(20, 30);
  EXPECT_EQ(run.calls(), 30U);
  EXPECT_EQ(run.replayed_of_first(20), 0U);
  EXPECT_EQ(run.replayed_of_first(25), 5U);
  EXPECT_DOUBLE_EQ(run.share_before(30, 20), 0.5);
  EXPECT_EQ(run.steady_from(), std::nullopt);
}

const Task nothing{"nothing", [](ReadWrite<float>) {}};
const Task look{"look", [](Read<float>) {}};
struct Cell {
  static constexpr Field<float> value{"value"};
};

TEST(TracedRunFile, AgreesWithTheCountersOfTheRun) {
  const test::TemporaryFile log("run.jsonl");
  Options options;
  options.workers = 0;
  options.autotrace_log = log.path();
  Runtime runtime(options);
  const auto program = [](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, Cell::value);
    auto part = ctx.blocks(cells, 2);
    ctx.launch(nothing, 2, part[Cell::value]);
    for (int i = 0; i < 100; ++i) ctx.access<Read>(cells[Cell::value]);  // not steady yet
    for (int i = 0; i < 3000; ++i) {
      for (int j = 0; j < 3; ++j) ctx.launch(nothing, 2, part[Cell::value]);
      if (i % 100 == 99) ctx.access<Read>(cells[Cell::value]);  // cannot be traced
      ctx.launch(look, 2, part[Cell::value]);
    }
  };
  runtime.run(program);
  runtime.run(program);
  const AutotraceCounters counters = runtime.counters().autotrace;
  runtime.write_reports();
  const auto [run, notes] = read_traced_run(log.path(), 0);
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(run.calls(), counters.analysed + counters.replayed);
  EXPECT_EQ(run.replayed_of_first(run.calls()), counters.replayed);
  EXPECT_EQ(run.recordings().size(), runtime.counters().recordings);
  EXPECT_GT(run.recordings().size(), 0U);
  const std::optional<std::uint64_t> before = counters.before_steady;
  if (!before) FAIL() << "the run gets steady";
  EXPECT_EQ(run.steady_from(), std::optional(run.calls() / 2 + *before));
}

// Branches and beginnings of candidates are recordings like others.
TEST(TracedRunFile, HasEveryRecording) {
  const test::TemporaryFile log("run.jsonl");
  Options options;
  options.workers = 0;
  options.autotrace_log = log.path();
  Runtime runtime(options);
  runtime.run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, Cell::value);
    auto part = ctx.blocks(cells, 2);
    for (int i = 0; i < 2000; ++i) {
      for (int j = 0; j < 20; ++j) ctx.launch(nothing, part(j % 2)[Cell::value]);
      if (i % 10 == 9) ctx.launch(look, 2, part[Cell::value]);
      if (i % 7 == 6) ctx.launch(look, cells[Cell::value]);
    }
  });
  const Counters counters = runtime.counters();
  runtime.write_reports();
  const auto [run, notes] = read_traced_run(log.path(), 0);
  EXPECT_EQ(run.recordings().size(), counters.recordings);
  EXPECT_GT(counters.recordings, counters.autotrace.recordings);
  EXPECT_EQ(run.steady_from(), counters.autotrace.before_steady);
}

// Of few calls neither says that they are steady.
TEST(TracedRunFile, AgreesWithTheCountersThatNothingIsSteady) {
  for (const int launches : {900, 3000}) {
    const test::TemporaryFile log("run.jsonl");
    Options options;
    options.workers = 0;
    options.autotrace_log = log.path();
    options.autotrace_min_length = 1000;
    Runtime runtime(options);
    runtime.run([launches](Context& ctx) {
      auto cells = ctx.region(Rect1{0, 7}, Cell::value);
      for (int i = 0; i < launches; ++i) ctx.launch(nothing, cells[Cell::value]);
    });
    const Counters counters = runtime.counters();
    runtime.write_reports();
    EXPECT_EQ(read_traced_run(log.path(), 0).run.steady_from(), counters.autotrace.before_steady);
    EXPECT_EQ(counters.autotrace.before_steady, std::nullopt) << launches;
  }
}

TracedRunFile read(const std::string& text, std::uint64_t context = 0) {
  const test::TemporaryFile log("log.jsonl", text);
  return read_traced_run(log.path(), context);
}

TEST(TracedRunFile, ReadsOneContext) {
  const auto [run, notes] = read(
      R"({"context":0,"event":"analysed","from":0,"to":10}
{"context":1,"event":"analysed","from":0,"to":7}
{"context":0,"event":"mined","at":10,"calls":8,"new":1}
{"context":1,"event":"recorded","at":9,"calls":2}

{"context":0,"event":"recorded","at":16,"calls":4}
{"context":1,"event":"replayed","from":7,"to":9,"whole":1,"left":0}
{"context":0,"event":"abandoned","at":30,"calls":4})",
      1);
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(run.calls(), 9U);
  EXPECT_EQ(run.replayed_of_first(9), 2U);
  ASSERT_EQ(run.recordings().size(), 1U);
  EXPECT_EQ(run.recordings()[0].at, 9U);
  EXPECT_EQ(run.recordings()[0].calls, 2U);
}

TEST(TracedRunFile, ProgramsFollowOneAnother) {
  const auto [run, notes] = read(R"({"context":0,"event":"analysed","from":0,"to":10}
{"context":0,"event":"recorded","at":10,"calls":4}
{"context":0,"event":"replayed","from":10,"to":14,"whole":1,"left":0}
{"context":0,"event":"recorded","at":20,"calls":5}
{"context":0,"event":"analysed","from":0,"to":20}
{"context":0,"event":"replayed","from":20,"to":25,"whole":1,"left":0})");
  EXPECT_EQ(run.calls(), 39U);
  EXPECT_EQ(run.replayed_of_first(34), 4U);
  EXPECT_EQ(run.replayed_of_first(39), 9U);
  ASSERT_EQ(run.recordings().size(), 2U);
  EXPECT_EQ(run.recordings()[0].at, 10U);
  EXPECT_EQ(run.recordings()[1].at, 34U);
}

TEST(TracedRunFile, NotesEventsThatItDoesNotKnow) {
  const auto [run, notes] = read(R"({"context":0,"event":"analysed","from":0,"to":10}
{"event":"sung","by":"bird"}
{"event":"sung"}
{"context":0,"event":"hummed"})");
  EXPECT_EQ(run.calls(), 10U);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_TRUE(notes[0].ends_with("log.jsonl:4: the event 'hummed' is not known: it is ignored"))
      << notes[0];
  EXPECT_TRUE(
      notes[1].ends_with("log.jsonl:2: the event 'sung' is not known: its 2 lines are ignored"))
      << notes[1];
}

std::string message_of(const std::string& text, std::uint64_t context = 0) {
  try {
    read(text, context);
  } catch (const InputError& error) { return error.what(); }
  return "no error";
}

const std::string first = R"({"context":0,"event":"analysed","from":0,"to":10})"
                          "\n";

TEST(TracedRunFileErrors, NameLineAndColumn) {
  using test::expect_words;
  expect_words(message_of(first + "call 12"), {"log.jsonl:2:1: syntax error"});
  expect_words(message_of(first + first.substr(0, 20)), {"log.jsonl:2:", "syntax error"});
  expect_words(message_of("\n[]"),
               {"log.jsonl:2:1: expected an object in { }, found an empty list"});
  expect_words(message_of("{}"), {"log.jsonl:1:1: this object needs 'event'"});
  expect_words(message_of(R"({"event":"replayed","from":0,"to":1})"), {"needs 'context'"});
  expect_words(message_of(first + R"({"context":0,"event":"replayed","from":9,"to":12})"),
               {"log.jsonl:2:40: expected a call from 10 on", "found 9"});
  expect_words(message_of(first + R"({"context":0,"event":"replayed","from":10,"to":10})"),
               {"log.jsonl:2:48: expected a call after 10, found 10"});
  expect_words(message_of(first + R"({"context":0,"event":"replayed","from":-1,"to":10})"),
               {"log.jsonl:2:40: expected a whole number from 0", "found -1"});
}

TEST(TracedRunFileErrors, NothingToDraw) {
  using test::expect_words;
  expect_words(message_of(""), {"log.jsonl:1:1: expected lines such as", "found none", "off"});
  expect_words(message_of(first, 3), {"log.jsonl: expected calls of context 3, found those of 0"});
  try {
    read_traced_run("no/such.jsonl", 0);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "cannot read the log of automatic tracing 'no/such.jsonl': No such file or directory");
  }
}

}  // namespace
}  // namespace refrain::tools::traced_run_test
