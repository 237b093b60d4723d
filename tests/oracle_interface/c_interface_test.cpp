// refrain/oracle.h and what is on top of it, as a runtime would use them.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "oracle/run_reader.hpp"
#include "refrain/oracle.h"
#include "refrain/oracle.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"

namespace refrain::c_interface_test {
namespace {

using test::TemporaryFolder;

void submit(OracleStream& stream, const std::string& letters) {
  for (const char letter : letters) stream.submit(stream.event(std::string(1, letter)));
}

/// A file of the run that is these letters.
void record(const std::string& path, const std::string& letters) {
  Oracle::create(path, "letters");
  Oracle oracle({.record = path});
  OracleStream stream = oracle.join(0);
  submit(stream, letters);
  stream.leave();
}

std::string grammar_of(const oracle::ThreadRecord& record) {
  return record.grammar.text([&](std::uint32_t event) { return record.names[event]; });
}

TEST(OracleInterface, RecordsThePapersFirstFigure) {
  const TemporaryFolder folder;
  record(folder.path("run"), "abbcbcab");
  const oracle::RunRecord run = oracle::read_run(folder.path("run"));
  EXPECT_EQ(run.program, "letters");
  ASSERT_EQ(run.threads.size(), 1u);
  EXPECT_EQ(grammar_of(run.threads[0]), "R -> A B^2 A\nA -> a b\nB -> b c\n");
}

TEST(OracleInterface, PredictsWhatTheReferenceDid) {
  const TemporaryFolder folder;
  record(folder.path("run"), "abcabdababc");
  Oracle oracle({.reference = folder.path("run")});
  OracleStream stream = oracle.join(0);
  ASSERT_TRUE(stream.predicts());
  EXPECT_EQ(stream.name(stream.predict(1).event), "a");
  for (const char letter : std::string("abcab"))
    EXPECT_EQ(stream.submit(stream.event(std::string(1, letter))), REFRAIN_ORACLE_EXPECTED);
  const refrain_oracle_prediction next = stream.predict(1);
  EXPECT_EQ(stream.name(next.event), "d");
  EXPECT_EQ(next.probability, 1);
  EXPECT_EQ(next.end, 0);
  EXPECT_EQ(stream.predict(7).event, REFRAIN_ORACLE_NONE);
  EXPECT_EQ(stream.predict(7).end, 1);
  EXPECT_EQ(stream.next(stream.event("c")).distance, 6u);
  EXPECT_EQ(stream.next(stream.event("new")).distance, 0u);
  EXPECT_EQ(stream.submit(stream.event("new")), REFRAIN_ORACLE_UNKNOWN);
  EXPECT_EQ(stream.submit(stream.event("c")), REFRAIN_ORACLE_UNEXPECTED);
}

TEST(OracleInterface, NumbersTheReferencesEventsFirst) {
  const TemporaryFolder folder;
  record(folder.path("run"), "cab");
  Oracle oracle({.reference = folder.path("run")});
  OracleStream stream = oracle.join(0);
  EXPECT_EQ(stream.event("d"), 3u);
  EXPECT_EQ(stream.event("c"), 0u);
  EXPECT_EQ(stream.event("b"), 2u);
  EXPECT_EQ(stream.name(3), "d");
  EXPECT_EQ(stream.name(4), "");
}

// A run is followed and recorded at once; what it records is as if it had not been followed.
TEST(OracleInterface, RecordsWhileItFollows) {
  const TemporaryFolder folder;
  record(folder.path("first"), "cba");
  Oracle::create(folder.path("second"), "letters");
  const std::string second = folder.path("second");
  {
    Oracle oracle({.record = second, .reference = folder.path("first")});
    OracleStream stream = oracle.join(0);
    submit(stream, "abbcbcab");
  }
  const oracle::RunRecord run = oracle::read_run(second);
  ASSERT_EQ(run.threads.size(), 1u);
  EXPECT_EQ(run.threads[0].names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(grammar_of(run.threads[0]), "R -> A B^2 A\nA -> a b\nB -> b c\n");
}

TEST(OracleInterface, ThreadsAndProcessesHaveTheirOwnStreams) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run");
  Oracle::create(path, "letters");
  for (std::uint32_t process = 0; process < 2; ++process) {
    Oracle oracle({.record = path, .process = process});
    std::vector<std::thread> threads;
    for (std::uint32_t thread = 0; thread < 3; ++thread)
      threads.emplace_back([&oracle, process, thread] {
        OracleStream stream = oracle.join(thread);
        for (int i = 0; i < 10'000; ++i)
          submit(stream, std::string(1 + process + thread, 'a') + 'b');
      });
    for (std::thread& thread : threads) thread.join();
  }
  const oracle::RunRecord run = oracle::read_run(path);
  ASSERT_EQ(run.threads.size(), 6u);
  for (const oracle::ThreadRecord& record : run.threads)
    EXPECT_EQ(record.grammar.length(0), 10'000u * (2 + record.process + record.thread));

  Oracle oracle({.reference = path, .process = 1});
  OracleStream stream = oracle.join(2);
  submit(stream, "aaaa");
  EXPECT_EQ(stream.name(stream.predict(1).event), "b");
  EXPECT_FALSE(oracle.join(7).predicts());
}

TEST(OracleInterface, KeepsNotes) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run");
  Oracle::create(path, "letters");
  {
    Oracle oracle({.record = path});
    OracleStream stream = oracle.join(0);
    stream.set_note("sizes", "1 2 3");
    stream.set_note("nothing", "");
    stream.set_note("sizes", std::string_view("4\0005", 3));
    EXPECT_FALSE(stream.note("sizes"));
    EXPECT_THROW(stream.set_note("large", std::string(17 << 20, 'x')), OracleFailure);
    stream.set_note("large", std::string(16 << 20, 'x').substr(100));
    EXPECT_THROW(stream.set_note("more", std::string(100, 'x')), OracleFailure);
    stream.set_note("large", "small");
  }
  Oracle oracle({.reference = path});
  OracleStream stream = oracle.join(0);
  EXPECT_EQ(stream.note("sizes"), std::string_view("4\0005", 3));
  EXPECT_EQ(stream.note("nothing"), "");
  EXPECT_EQ(stream.note("large"), "small");
  EXPECT_FALSE(stream.note("other"));
  stream.set_note("without", "a recording");
}

TEST(OracleInterface, PredictsTimes) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run");
  Oracle::create(path, "letters");
  {
    Oracle oracle({.record = path, .times = true});
    OracleStream stream = oracle.join(0);
    const std::uint32_t a = stream.event("a"), b = stream.event("b"), c = stream.event("c");
    std::uint64_t now = 1'000'000;
    for (int i = 0; i < 10'000; ++i) {
      stream.submit(a, now += 10);
      stream.submit(b, now += 200);
      stream.submit(c, now += 3'000);
    }
  }
  Oracle oracle({.reference = path});
  OracleStream stream = oracle.join(0);
  submit(stream, "ab");
  EXPECT_EQ(stream.predict(1).delay, 3'000);
  EXPECT_EQ(stream.predict(2).delay, 3'010);
  EXPECT_EQ(stream.predict(31).delay, 10 * 3'210 + 3'000);
  EXPECT_EQ(stream.next(stream.event("b")).delay, 3'210);
}

// With its own clock, and if the caller's goes back.
TEST(OracleInterface, TimesAreNeverNegative) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run");
  Oracle::create(path, "letters");
  {
    Oracle oracle({.record = path, .times = true});
    OracleStream first = oracle.join(0), second = oracle.join(1);
    submit(first, "abcabc");
    for (const std::uint64_t now : {50, 40, 60}) second.submit(second.event("a"), now);
  }
  const oracle::RunRecord run = oracle::read_run(path);
  double sum = 0;
  for (const oracle::Delays::Recorded& delay : run.threads[0].delays) {
    EXPECT_GE(delay.sum, 0);
    sum += delay.sum;
  }
  EXPECT_GT(sum, 0);
  sum = 0;
  for (const oracle::Delays::Recorded& delay : run.threads[1].delays) sum += delay.sum;
  EXPECT_EQ(sum, 20);
}

// Of a process that is killed most is in the file: here while the stream is still joined.
TEST(OracleInterface, WritesNowAndThen) {
  const TemporaryFolder folder;
  Oracle::create(folder.path("run"), "letters");
  const std::string path = folder.path("run");
  Oracle oracle({.record = path});
  OracleStream stream = oracle.join(0);
  const std::uint32_t a = stream.event("a"), b = stream.event("b");
  for (std::uint64_t events = 2; events <= 1'000'000; events += 2) {
    stream.submit(a);
    stream.submit(b);
    if (events % 100'000 != 0) continue;
    const oracle::RunRecord run = oracle::read_run(path);
    ASSERT_EQ(run.threads.size(), 1u);
    EXPECT_GE(run.threads[0].grammar.length(0), events * 4 / 5 - 2);
  }
}

// With times snapshots are 50 ms apart, however many events there are between them.
TEST(OracleInterface, WritesSoonWhereTimePasses) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run");
  Oracle::create(path, "letters");
  Oracle oracle({.record = path, .times = true});
  OracleStream stream = oracle.join(0);
  const std::uint32_t a = stream.event("a"), b = stream.event("b");
  std::uint64_t now = 1, events = 0;
  const auto submit = [&](std::uint64_t more, std::uint64_t each_ns) {
    for (std::uint64_t i = 0; i < more; ++i, ++events)
      stream.submit(events % 2 == 0 ? a : b, now += each_ns);
  };
  const auto written = [&] { return oracle::read_run(path).threads.at(0).grammar.length(0); };
  submit(100'000, 490);
  EXPECT_GE(written(), 100'000u / 8);
  EXPECT_LT(written(), 100'000u / 5 * 4);
  submit(128, 1'000'000);
  EXPECT_GT(written(), 100'000u);
  submit(1'000'000, 0);
  EXPECT_GE(written(), events / 8) << "the clock may stand still";
}

/// A run of a loop that is now and then left, with times, beside `reference`, if that is given. Every now and then it is
/// asked what comes next. Returns the answers.
std::vector<double> play(const std::string& path, std::optional<std::string> reference,
                         std::uint64_t seed, bool later) {
  Oracle::create(path, "letters");
  Oracle oracle({.record = path, .reference = std::move(reference), .times = true});
  OracleStream stream = oracle.join(0);
  test::Random random(seed);
  std::vector<double> answers;
  std::uint64_t now = 0;
  std::vector<std::uint32_t>
      events;  // named before: to ask for names, too, may let what waits happen
  for (char letter = 'a'; letter <= 'e'; ++letter)
    events.push_back(stream.event(std::string(1, letter)));
  for (int i = 0; i < 3000; ++i) {
    const int letter = random.below(20) == 0 ? random.below(5) : i % 3;
    const std::uint32_t event = events[static_cast<std::size_t>(letter)];
    now += static_cast<std::uint64_t>(random.between(1, 100));
    if (later) stream.submit_later(event, now);
    else stream.submit(event, now);
    if (random.below(100) != 0) continue;
    const refrain_oracle_prediction next = stream.predict(1);
    const refrain_oracle_occurrence first = stream.next(0);
    for (const double answer : {static_cast<double>(next.event), next.probability, next.delay,
                                static_cast<double>(first.distance), first.delay})
      answers.push_back(answer);
    stream.set_note("asked", std::to_string(answers.size()));
  }
  return answers;
}

TEST(OracleInterface, WhatIsSubmittedLaterIsAsIfAtOnce) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const TemporaryFolder folder;
    const std::string once = folder.path("once"), later = folder.path("later");
    EXPECT_EQ(play(once, std::nullopt, seed, false), play(later, std::nullopt, seed, true));
    EXPECT_EQ(encoded(oracle::read_run(once).threads.at(0)),
              encoded(oracle::read_run(later).threads.at(0)))
        << seed;
    const std::string next = folder.path("next"), next_later = folder.path("next_later");
    EXPECT_EQ(play(next, once, seed + 1, false), play(next_later, once, seed + 1, true)) << seed;
    EXPECT_EQ(encoded(oracle::read_run(next).threads.at(0)),
              encoded(oracle::read_run(next_later).threads.at(0)))
        << seed;
  }
}

// Of a process that is killed all but the last 64 are, as far as snapshots go.
TEST(OracleInterface, WhatIsSubmittedLaterIsWrittenNowAndThen) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run");
  Oracle::create(path, "letters");
  Oracle oracle({.record = path});
  OracleStream stream = oracle.join(0);
  const std::uint32_t a = stream.event("a");
  for (int i = 0; i < 63; ++i) stream.submit_later(a, 0);
  EXPECT_TRUE(oracle::read_run(path).threads.empty());
  stream.submit_later(a, 0);
  EXPECT_EQ(oracle::read_run(path).threads.at(0).grammar.length(0), 64U);
  stream.submit_later(a, 0);
  oracle.close();
  EXPECT_EQ(oracle::read_run(path).threads.at(0).grammar.length(0), 65U);
}

void expect_failure(const OracleOptions& options, const std::string& part) {
  try {
    const Oracle oracle(options);
    ADD_FAILURE() << "there should be an error with " << part;
  } catch (const OracleFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
  }
}

TEST(OracleInterface, SaysWhatIsWrongWithFiles) {
  const TemporaryFolder folder;
  const std::string run = folder.path("run"), none = folder.path("none"),
                    empty = folder.path("empty"), nothing = folder.path("");
  record(run, "ab");
  { const std::ofstream file(empty); }
  expect_failure({.reference = none}, none + ": cannot be opened: No such file");
  expect_failure({.record = none}, "No such file");
  expect_failure({.reference = empty}, empty);
  expect_failure({.reference = nothing}, nothing);
  expect_failure({.reference = run, .program = "another"}, "is of \"letters\", not of \"another\"");
  EXPECT_EQ(refrain_oracle_create((none + "/run").c_str(), ""), -1);
  EXPECT_EQ(refrain_oracle_create(nothing.c_str(), ""), -1);
}

TEST(OracleInterface, SaysWhatIsWrongWithStreams) {
  const TemporaryFolder folder;
  record(folder.path("run"), "ab");
  const std::string path = folder.path("run");
  refrain_oracle_options options{};
  options.reference = path.c_str();
  refrain_oracle* const oracle = refrain_oracle_open(&options);
  refrain_oracle_stream* const stream = refrain_oracle_join(oracle, 0);
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(refrain_oracle_join(oracle, 0), nullptr);
  EXPECT_STREQ(refrain_oracle_error(), "thread 0 has joined already");
  EXPECT_EQ(refrain_oracle_submit(stream, 17), REFRAIN_ORACLE_UNKNOWN);
  EXPECT_EQ(refrain_oracle_submit(stream, REFRAIN_ORACLE_NONE), REFRAIN_ORACLE_UNKNOWN);
  EXPECT_EQ(refrain_oracle_predict(stream, 0).event, REFRAIN_ORACLE_NONE);
  EXPECT_EQ(refrain_oracle_next(stream, 17).distance, 0u);
  EXPECT_EQ(refrain_oracle_name(stream, 2), nullptr);
  EXPECT_EQ(refrain_oracle_event(stream, std::string(65536, 'x').c_str()), 2u);
  EXPECT_EQ(refrain_oracle_event(stream, std::string(65537, 'x').c_str()), REFRAIN_ORACLE_NONE);
  EXPECT_STREQ(refrain_oracle_error(), "the name of an event has 65537 bytes, more than 65536");
  EXPECT_EQ(refrain_oracle_leave(stream), 0);
  refrain_oracle_stream* const again = refrain_oracle_join(oracle, 0);
  EXPECT_NE(again, nullptr);
  EXPECT_EQ(refrain_oracle_close(oracle), 0);  // leaves it
  EXPECT_EQ(refrain_oracle_close(nullptr), 0);
  EXPECT_EQ(refrain_oracle_leave(nullptr), 0);
}

TEST(OracleInterface, WhatIsNotGivenIsAnError) {
  const TemporaryFolder folder;
  EXPECT_EQ(refrain_oracle_create(nullptr, "letters"), -1);
  EXPECT_EQ(refrain_oracle_create(folder.path("run").c_str(), nullptr), -1);
  EXPECT_STREQ(refrain_oracle_error(), "the program is not given");
  EXPECT_EQ(refrain_oracle_open(nullptr), nullptr);
  EXPECT_EQ(refrain_oracle_join(nullptr, 0), nullptr);
  EXPECT_EQ(refrain_oracle_event(nullptr, "a"), REFRAIN_ORACLE_NONE);
  EXPECT_EQ(refrain_oracle_name(nullptr, 0), nullptr);
  EXPECT_EQ(refrain_oracle_submit(nullptr, 0), REFRAIN_ORACLE_UNKNOWN);
  EXPECT_EQ(refrain_oracle_submit_at(nullptr, 0, 0), REFRAIN_ORACLE_UNKNOWN);
  EXPECT_EQ(refrain_oracle_predicts(nullptr), 0);
  EXPECT_EQ(refrain_oracle_predict(nullptr, 1).event, REFRAIN_ORACLE_NONE);
  EXPECT_EQ(refrain_oracle_next(nullptr, 0).distance, 0u);
  EXPECT_EQ(refrain_oracle_set_note(nullptr, "n", "x", 1), -1);
  EXPECT_EQ(refrain_oracle_note(nullptr, "n", nullptr), nullptr);
  refrain_oracle_assess(nullptr);
  refrain_oracle_say(nullptr);
}

std::vector<std::string> names_of(const OracleRun& run, std::size_t thread) {
  std::vector<std::string> names;
  for (const refrain_oracle_listed_event& event : run.events(thread))
    names.emplace_back(event.name, event.name_size);
  return names;
}

// abbcbcab: R -> A B^2 A, A -> a b, B -> b c.
TEST(OracleInterface, ListsWhatIsInAFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run");
  Oracle::create(path, "letters");
  for (const std::uint32_t process : {7, 1}) {
    Oracle oracle({.record = path, .process = process});
    OracleStream second = oracle.join(2), first = oracle.join(0);
    submit(first, "abbcbcab");
    submit(second, "x");
    second.set_note("a note", std::string_view("\0\1", 2));
  }
  const OracleRun run(path);
  EXPECT_EQ(run.program(), "letters");
  EXPECT_EQ(run.unfinished(), 0u);
  const std::vector<refrain_oracle_listed_thread> threads = run.threads();
  ASSERT_EQ(threads.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(threads[i].process, i < 2 ? 1u : 7u);
    EXPECT_EQ(threads[i].thread, i % 2 == 0 ? 0u : 2u);
    EXPECT_EQ(threads[i].times, 0);
  }
  EXPECT_EQ(threads[2].length, 8u);
  EXPECT_EQ(threads[2].events, 3u);
  EXPECT_EQ(threads[2].rules, 3u);
  EXPECT_EQ(threads[2].notes, 0u);

  EXPECT_EQ(names_of(run, 2), (std::vector<std::string>{"a", "b", "c"}));
  const std::vector<refrain_oracle_listed_event> events = run.events(2);
  EXPECT_EQ(events[0].count, 2u);
  EXPECT_EQ(events[1].count, 4u);
  EXPECT_EQ(events[2].count, 2u);

  const std::vector<refrain_oracle_listed_rule> rules = run.rules(2);
  ASSERT_EQ(rules.size(), 3u);
  EXPECT_EQ(rules[0].length, 8u);
  EXPECT_EQ(rules[0].count, 1u);
  ASSERT_EQ(rules[0].size, 3u);
  EXPECT_NE(rules[0].symbols[1].is_rule, 0u);
  EXPECT_EQ(rules[0].symbols[1].number, 2u);
  EXPECT_EQ(rules[0].symbols[1].times, 2u);
  EXPECT_EQ(rules[2].count, 2u);
  EXPECT_EQ(rules[2].length, 2u);
  ASSERT_EQ(rules[2].size, 2u);
  EXPECT_EQ(rules[2].symbols[0].is_rule, 0u);
  EXPECT_EQ(rules[2].symbols[0].number, 1u);
  EXPECT_EQ(rules[2].symbols[0].times, 1u);
  EXPECT_EQ(rules[2].symbols[0].delay, 0);

  const std::vector<refrain_oracle_listed_note> notes = run.notes(3);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(std::string_view(notes[0].name, notes[0].name_size), "a note");
  EXPECT_EQ(std::string_view(static_cast<const char*>(notes[0].bytes), notes[0].size),
            std::string_view("\0\1", 2));
  EXPECT_TRUE(run.rules(4).empty());  // there is no such thread
}

// What is listed, unfolded, is the stream, and every count is that of the unfolded one.
TEST(OracleInterface, ListsCountsOfLoopsInLoops) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run");
  std::string letters, again;
  for (int i = 0; i < 50; ++i)
    letters += std::string(i % 3, 'a') + "bcbcb" + (i % 7 == 0 ? "d" : "e");
  record(path, letters);
  const OracleRun run(path);
  const std::vector<refrain_oracle_listed_rule> rules = run.rules(0);
  const std::vector<std::string> names = names_of(run, 0);
  std::vector<std::uint64_t> counts(rules.size());
  const std::function<void(std::uint32_t)> unfold = [&](std::uint32_t rule) {
    ++counts[rule];
    for (std::size_t i = 0; i < rules[rule].size; ++i) {
      const refrain_oracle_symbol& symbol = rules[rule].symbols[i];
      for (std::uint64_t time = 0; time < symbol.times; ++time)
        if (symbol.is_rule != 0) unfold(symbol.number);
        else again += names[symbol.number];
    }
  };
  unfold(0);
  EXPECT_EQ(again, letters);
  for (std::size_t rule = 0; rule < rules.size(); ++rule)
    EXPECT_EQ(rules[rule].count, counts[rule]) << rule;
  for (const refrain_oracle_listed_event& event : run.events(0))
    EXPECT_EQ(event.count, std::ranges::count(letters, event.name[0])) << event.name;
}

TEST(OracleInterface, ListsTimes) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run");
  Oracle::create(path, "letters");
  {
    Oracle oracle({.record = path, .times = true});
    OracleStream stream = oracle.join(0);
    std::uint64_t now = 0;
    for (int i = 0; i < 100; ++i) {
      stream.submit(stream.event("a"), now += 10);
      stream.submit(stream.event("b"), now += 200);
    }
  }
  const OracleRun run(path);
  EXPECT_NE(run.threads().at(0).times, 0);
  const std::vector<refrain_oracle_listed_rule> rules = run.rules(0);
  ASSERT_EQ(rules.size(), 2u);  // R -> A^100, A -> a b
  EXPECT_EQ(rules[0].symbols[0].times, 100u);
  EXPECT_NEAR(rules[0].symbols[0].delay, 210, 1e-9);
  EXPECT_NEAR(rules[1].symbols[0].delay, 10, 1e-9);
  EXPECT_NEAR(rules[1].symbols[1].delay, 200, 1e-9);
}

// The run goes on, and in the end it is said.
TEST(OracleInterface, ARunWhoseFileIsDamagedGoesOn) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run");
  Oracle::create(path, "letters");
  Oracle oracle({.record = path});
  OracleStream stream = oracle.join(0);
  { const std::ofstream cut(path, std::ios::trunc); }
  for (int i = 0; i < 10'000; ++i) submit(stream, "ab");
  EXPECT_THROW(stream.leave(), OracleFailure);
}

TEST(OracleInterface, WithoutFilesNothingIsDone) {
  Oracle oracle(OracleOptions{});
  OracleStream stream = oracle.join(0);
  EXPECT_EQ(stream.submit(stream.event("a")), REFRAIN_ORACLE_UNKNOWN);
  EXPECT_FALSE(stream.predicts());
  EXPECT_EQ(stream.predict(1).event, REFRAIN_ORACLE_NONE);
  stream.leave();
}

}  // namespace
}  // namespace refrain::c_interface_test
