// What `refrain oracle` prints.

#include "oracle_report.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "oracle/reduction.hpp"
#include "oracle_json.hpp"
#include "support/temporary_folder.hpp"

namespace refrain::tools::oracle_report_test {
namespace {

using oracle::ThreadRecord;

ThreadRecord record_of(std::uint32_t process, std::uint32_t thread, const std::string& letters) {
  ThreadRecord record{process, thread, {"Wait", "Isend 3", "caf\xc3\xa9"}, {}, {}, {}};
  oracle::Reduction reduction;
  for (const char letter : letters) reduction.add(static_cast<std::uint32_t>(letter - 'a'));
  record.grammar = reduction.grammar();
  return record;
}

TEST(OracleReport, GrammarsAreAsInFigure7) {
  oracle::RunRecord run;
  for (const std::uint32_t thread : {0, 1, 2, 5})
    run.threads.push_back(record_of(0, thread, "bacbac"));
  run.threads.push_back(record_of(1, 0, "aaa"));
  run.threads.push_back(record_of(2, 1, "bacbac"));
  EXPECT_EQ(reference_fault(run, "a.run"), "");
  EXPECT_EQ(run_summary(run), "33 events in 6 streams of 3 processes: 11 rules");
  EXPECT_EQ(run_grammars(run),
            "process 0, threads 0-2, 5; process 2, thread 1: 6 events\n"
            "R -> A^2\n"
            "A -> \"Isend 3\" Wait \"caf\\xc3\\xa9\"\n"
            "\n"
            "process 1, thread 0: 3 events\n"
            "R -> Wait^3\n"
            "\n");
}

TEST(OracleReport, NamesThatLookLikeSomethingElse) {
  oracle::RunRecord run;
  run.threads.push_back(record_of(0, 0, "abc"));
  run.threads[0].names = {"A1", "a^2", "a\"\n"};
  EXPECT_EQ(run_grammars(run),
            "process 0, thread 0: 3 events\n"
            "R -> \"A1\" \"a^2\" \"a\\\"\\x0a\"\n"
            "\n");
}

TEST(OracleReport, TimesAreBehindSymbolsAndNotesBelow) {
  oracle::RunRecord run;
  run.threads.push_back(record_of(0, 0, "abab"));  // R -> A^2, A -> a b
  run.threads[0].delays = {{{2}, 14.0, 1}, {{1, 0, oracle::Delays::kUnknown, true}, 1.4e6, 1}};
  run.threads[0].notes = {{"a note", "1:2*3\n\t4\n"}, {"none", ""}};
  run.threads.push_back(record_of(0, 1, "a"));
  EXPECT_EQ(run_grammars(run, true),
            "process 0, thread 0: 4 events\n"
            "R -> A^2 (1.4 ms)\n"
            "A -> Wait (1.4 ms) \"Isend 3\" (14 ns)\n"
            "\n"
            "process 0, thread 1: 1 event\n"
            "R -> Wait\n"
            "\n");
  EXPECT_EQ(run_notes(run),
            "process 0, thread 0: 2 notes\n"
            "\"a note\": 9 bytes\n"
            "  1:2*3\n"
            "  \\x094\n"
            "none: 0 bytes\n"
            "\n");
}

// Read by a program of another language; whatever is in names and notes.
TEST(OracleReport, JsonIsForOtherPrograms) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("run"), json = folder.path("run.json");
  Oracle::create(path, "caf\xe9 \"1\"\n");
  {
    Oracle oracle({.record = path, .process = 3, .times = true});
    OracleStream stream = oracle.join(0);
    std::uint64_t now = 0;
    for (int i = 0; i < 3; ++i)
      for (const char* const name : {"caf\xc3\xa9", "\xff\"\\", "\xff'\\"})
        stream.submit(stream.event(name), now += 1000);
    stream.set_note("text", "a\tb");
    stream.set_note("bytes", std::string_view("\0\x80", 2));
    OracleStream without = oracle.join(1);
  }
  std::ofstream(json) << run_json(OracleRun(path));
  FILE* const python =
      ::popen((TEST_PYTHON " " TEST_FOLDER "/unfold_oracle_json.py " + json).c_str(), "r");
  std::string output;
  for (int c = 0; (c = std::fgetc(python)) != EOF;) output += static_cast<char>(c);
  EXPECT_EQ(::pclose(python), 0);
  const std::string round = R"( b'caf\xc3\xa9' b'\xff"\\' b"\xff'\\")";
  EXPECT_EQ(output, "b'caf\\xe9 \"1\"\\n' 0\n3 0" + round + round + round +
                        "\n3000 1000 1000 1000 ns\n"
                        "note b'text' b'a\\tb'\n"
                        "note b'bytes' b'\\x00\\x80'\n"
                        "3 1\n");
}

TEST(OracleReport, OfNothing) {
  EXPECT_EQ(run_summary({}), "0 events in 0 streams of 0 processes: 0 rules");
  EXPECT_EQ(run_grammars({}), "");
  EXPECT_EQ(reference_fault({}, "a.run"),
            "refrain oracle: no thread is recorded in a.run, so nothing can be predicted\n");
  EXPECT_EQ(accuracy_report({}),
            "no process has told how much was right: none has come to its end, or none uses MPI or "
            "GNU OpenMP\n");
}

TEST(OracleReport, AddsStreamsUp) {
  oracle::LedgerEntries ledger;
  for (std::uint32_t process = 0; process < 2; ++process) {
    oracle::Assessment::Counts counts;
    counts.events = 1000;
    counts.expected = 900;
    counts.unexpected = 75;
    counts.unknown = 25;
    counts.seconds = 0.001;
    counts.predicted.fill(100);
    counts.right.fill(process == 0 ? 100 : 99);
    ledger.streams.push_back({process, 0, counts});
  }
  ledger.said.push_back({1, "2 threads"});
  EXPECT_EQ(
      accuracy_report(ledger),
      "2'000 events in 2 streams: 90.0% expected, 7.5% unexpected, 2.5% never in the reference\n"
      "right at distance       1      2      4      8     16     32     64    128\n"
      "          percent    99.5   99.5   99.5   99.5   99.5   99.5   99.5   99.5\n"
      "0.002 s in the oracle, 1000 ns per event\n"
      "process 1: 2 threads\n");
}

}  // namespace
}  // namespace refrain::tools::oracle_report_test
