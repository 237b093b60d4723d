// refrain_oracle_here(): each test runs a part of itself in processes of their own, since the environment counts once.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <locale>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "oracle/ledger.hpp"
#include "oracle/run_reader.hpp"
#include "oracle/run_writer.hpp"
#include "refrain/oracle.h"
#include "support/temporary_folder.hpp"

namespace refrain::environment_test {
namespace {

using test::TemporaryFolder;
using Variables = std::map<std::string, std::string>;

/// Returns the exit status of a process with these variables that calls it and exits.
int in_a_process(const Variables& variables, const std::function<void()>& function) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    function();
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void do_events(int times) {
  refrain_oracle_stream* const stream = refrain_oracle_here();
  ASSERT_NE(stream, nullptr);
  for (int i = 0; i < times; ++i)
    for (const char* const name : {"a", "b", "b"}) {
      refrain_oracle_submit(stream, refrain_oracle_event(stream, name));
      refrain_oracle_assess(stream);
    }
}

struct Files {
  TemporaryFolder folder;
  std::string run = folder.path("run"), ledger = folder.path("ledger");

  Files() {
    oracle::create_run(run, "a test");
    const std::ofstream made(ledger);
  }
  [[nodiscard]] Variables recording() const {
    return {{"REFRAIN_ORACLE_RECORD", run}, {"REFRAIN_ORACLE_LEDGER", ledger}};
  }
  [[nodiscard]] Variables following() const {
    return {{"REFRAIN_ORACLE_REFERENCE", run}, {"REFRAIN_ORACLE_LEDGER", ledger}};
  }
  /// The lengths of its streams, by process and thread.
  [[nodiscard]] std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> lengths() const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> lengths;
    for (const oracle::ThreadRecord& record : oracle::read_run(run).threads)
      lengths[{record.process, record.thread}] = record.grammar.length(0);
    return lengths;
  }
};
using Lengths = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>;

TEST(OracleEnvironment, WithoutItThereIsNoStream) {
  EXPECT_EQ(in_a_process({}, [] { EXPECT_EQ(refrain_oracle_here(), nullptr); }), 0);
}

TEST(OracleEnvironment, AShortRunIsAssessedWhole) {
  const Files files;
  ASSERT_EQ(in_a_process(files.recording(), [] { do_events(10); }), 0);
  { const std::ofstream emptied(files.ledger); }
  ASSERT_EQ(in_a_process(files.following(), [] { do_events(10); }), 0);
  const auto counts = oracle::read_ledger(files.ledger).streams.at(0).counts;
  for (std::size_t d = 0; d < counts.right.size(); ++d) {
    EXPECT_EQ(counts.predicted[d], (1u << d) < 30 ? 30 - (1u << d) : 0u);
    EXPECT_EQ(counts.right[d], counts.predicted[d]);
  }
}

TEST(OracleEnvironment, RecordsAndThenPredicts) {
  const Files files;
  ASSERT_EQ(in_a_process(files.recording(), [] { do_events(1000); }), 0);
  EXPECT_EQ(files.lengths(), (Lengths{{{0, 0}, 3000}}));
  EXPECT_TRUE(oracle::read_ledger(files.ledger).streams.empty()) << "there was nothing to follow";

  { const std::ofstream emptied(files.ledger); }
  Variables variables = files.following();
  variables["OMPI_COMM_WORLD_RANK"] = "0";
  ASSERT_EQ(in_a_process(variables,
                         [] {
                           do_events(1000);
                           refrain_oracle_say("done\nhere");
                         }),
            0);
  const oracle::LedgerEntries second = oracle::read_ledger(files.ledger);
  ASSERT_EQ(second.streams.size(), 1u);
  const auto& counts = second.streams[0].counts;
  EXPECT_EQ(counts.events, 3000u);
  EXPECT_EQ(counts.expected, 3000u);
  for (std::size_t d = 0; d < counts.right.size(); ++d) {
    // The first 32 events are assessed, and then one in 128.
    EXPECT_GT(counts.predicted[d], 32u);
    EXPECT_LT(counts.predicted[d], 32u + 2 * (3000u - 32) / 128);
    EXPECT_EQ(counts.right[d], counts.predicted[d]);
  }
  ASSERT_EQ(second.said.size(), 1u);
  EXPECT_EQ(second.said[0].text, "done here");
}

// Also of threads that are still there when the process exits.
TEST(OracleEnvironment, EachThreadHasAStream) {
  const Files files;
  ASSERT_EQ(in_a_process(files.recording(),
                         [] {
                           do_events(10);
                           std::thread([] { do_events(20); }).join();
                           std::atomic<bool> done{false};
                           std::thread last([&done] {
                             do_events(30);
                             done = true;
                             ::pause();
                           });
                           last.detach();
                           while (!done) std::this_thread::yield();
                         }),
            0);
  // The last one goes on with the stream of the one before, which has ended.
  EXPECT_EQ(files.lengths(), (Lengths{{{0, 0}, 30}, {{0, 1}, 150}}));
}

TEST(OracleEnvironment, ProcessesAreCountedOrHaveRanks) {
  const Files files;
  for (int times = 1; times <= 3; ++times)
    ASSERT_EQ(in_a_process(files.recording(), [&] { do_events(times); }), 0);
  Variables variables = files.recording();
  variables["PMI_RANK"] = "7";
  ASSERT_EQ(in_a_process(variables, [] { do_events(9); }), 0);
  EXPECT_EQ(files.lengths(), (Lengths{{{0, 0}, 3}, {{1, 0}, 6}, {{2, 0}, 9}, {{7, 0}, 27}}));
}

TEST(OracleEnvironment, AChildIsAnotherProcess) {
  const Files files;
  ASSERT_EQ(in_a_process(files.recording(),
                         [] {
                           do_events(5);
                           EXPECT_EQ(in_a_process({}, [] { do_events(2); }), 0);
                           EXPECT_EQ(in_a_process({}, [] {}), 0);  // writes nothing of its parent's
                           do_events(5);
                         }),
            0);
  EXPECT_EQ(files.lengths(), (Lengths{{{0, 0}, 30}, {{1, 0}, 6}}));
}

// A child and a second program have the rank of the first: they do not write over its record.
TEST(OracleEnvironment, ARankIsOneProcess) {
  const Files files;
  Variables variables = files.recording();
  variables["OMPI_COMM_WORLD_RANK"] = "1";
  ASSERT_EQ(in_a_process(variables,
                         [] {
                           do_events(5);
                           EXPECT_EQ(in_a_process({}, [] { do_events(2); }), 0);
                         }),
            0);
  ASSERT_EQ(in_a_process(variables, [] { do_events(3); }), 0);
  const std::uint32_t others = oracle::Ledger::kOthers;
  EXPECT_EQ(files.lengths(), (Lengths{{{1, 0}, 15}, {{others, 0}, 6}, {{others + 1, 0}, 9}}));
}

// No library ends a stream that others use.
TEST(OracleEnvironment, LeavingWritesAndGoesOn) {
  const Files files;
  ASSERT_EQ(in_a_process(files.recording(),
                         [&] {
                           do_events(5);
                           EXPECT_EQ(refrain_oracle_leave(refrain_oracle_here()), 0);
                           EXPECT_EQ(files.lengths(), (Lengths{{{0, 0}, 15}}));
                           do_events(5);
                         }),
            0);
  EXPECT_EQ(files.lengths(), (Lengths{{{0, 0}, 30}}));
}

TEST(OracleEnvironment, TheProgramsLocaleDoesNotMatter) {
  const Files files;
  ASSERT_EQ(in_a_process(files.recording(), [] { do_events(5000); }), 0);
  { const std::ofstream emptied(files.ledger); }
  ASSERT_EQ(in_a_process(files.following(),
                         [] {
                           struct Grouping : std::numpunct<char> {
                             [[nodiscard]] char do_decimal_point() const override { return ','; }
                             [[nodiscard]] char do_thousands_sep() const override { return '.'; }
                             [[nodiscard]] std::string do_grouping() const override { return "\3"; }
                           };
                           std::locale::global(std::locale(std::locale(), new Grouping));
                           do_events(5000);
                         }),
            0);
  const oracle::LedgerEntries ledger = oracle::read_ledger(files.ledger);
  ASSERT_EQ(ledger.streams.size(), 1u);
  EXPECT_EQ(ledger.streams[0].counts.events, 15'000u);
}

// What the program has closed is not where the oracle writes.
TEST(OracleEnvironment, TheLowestDescriptorsAreThePrograms) {
  const Files files;
  ASSERT_EQ(in_a_process(files.recording(),
                         [] {
                           for (const int descriptor : {0, 1, 2}) ::close(descriptor);
                           do_events(5);
                           for (const int descriptor : {0, 1, 2})
                             EXPECT_EQ(::write(descriptor, "damage", 6), -1);
                         }),
            0);
  EXPECT_EQ(files.lengths(), (Lengths{{{0, 0}, 15}}));
}

// The program writes nothing, so it is not ended by what it may write.
TEST(OracleEnvironment, AFileThatMayNotGrowIsNoReasonToStop) {
  const Files files;
  EXPECT_EQ(in_a_process(files.recording(),
                         [] {
                           const rlimit small{100, 100};
                           ::setrlimit(RLIMIT_FSIZE, &small);
                           do_events(10'000);
                         }),
            0);
}

TEST(OracleEnvironment, ALedgerThatCannotBeUsedIsNoReasonNotToRecord) {
  const Files files;
  Variables variables = files.recording();
  variables["REFRAIN_ORACLE_LEDGER"] = files.folder.path("none");
  EXPECT_EQ(in_a_process(variables, [] { do_events(5); }), 0);
  EXPECT_EQ(files.lengths(), (Lengths{{{0, 0}, 15}}));
}

TEST(OracleEnvironment, AFileThatCannotBeUsedIsNoReasonToStop) {
  const Files files;
  Variables variables = files.following();
  { std::ofstream(files.run) << "no run"; }
  EXPECT_EQ(in_a_process(variables, [] { EXPECT_EQ(refrain_oracle_here(), nullptr); }), 0);
  // It is recorded all the same.
  const std::string other = files.folder.path("other");
  oracle::create_run(other, "a test");
  variables["REFRAIN_ORACLE_RECORD"] = other;
  EXPECT_EQ(in_a_process(variables, [] { do_events(1); }), 0);
  EXPECT_EQ(oracle::read_run(other).threads.size(), 1u);
}

}  // namespace
}  // namespace refrain::environment_test
