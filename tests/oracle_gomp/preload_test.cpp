// Programs with the library: that they still do what OpenMP says, what is recorded of them, and which sizes their teams
// get. Times are made up (a reference's, by whoever makes it here); nothing depends on how long anything takes.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "refrain/oracle.h"
#include "support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;

/// An empty file of a run, gone in the end.
class RunFile {
 public:
  RunFile() {
    if (refrain_oracle_create(path().c_str(), "test") != 0) ADD_FAILURE() << refrain_oracle_error();
  }

  [[nodiscard]] std::string path() const { return folder_.path("run"); }

 private:
  refrain::test::TemporaryFolder folder_;
};

struct Ended {
  int status;  ///< of exit(), or -1
  std::string output;
};

/// Runs a command with the library; `variables` are of the environment, "A=1 B=2".
Ended run_command(const std::string& command, const std::string& variables) {
  std::fflush(nullptr);
  const std::string line =
      "timeout 200 env OMP_WAIT_POLICY=passive LD_PRELOAD=" REFRAIN_PRELOAD_LIBRARY " " +
      variables + " " + command + " 2>&1";
  FILE* pipe = popen(line.c_str(), "r");
  std::string output;
  for (int c; (c = std::fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  const int status = pclose(pipe);
  EXPECT_NE(status, W_EXITCODE(124, 0)) << "does not end: " << line;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

/// One of the programs here.
Ended run(const std::string& program, const std::string& variables) {
  return run_command(REFRAIN_PROGRAMS + program, variables);
}

std::string record(const RunFile& file) { return "REFRAIN_ORACLE_RECORD=" + file.path() + " "; }
std::string beside(const RunFile& file) { return "REFRAIN_ORACLE_REFERENCE=" + file.path() + " "; }
std::string ledger_in(const std::string& path) { return "REFRAIN_ORACLE_LEDGER=" + path + " "; }

/// A stream of a file, to be read or to be written.
class Stream {
 public:
  Stream(const RunFile& file, bool writes) {
    refrain_oracle_options options{};
    const std::string path = file.path();
    (writes ? options.record : options.reference) = path.c_str();
    options.times = 1;
    oracle_ = refrain_oracle_open(&options);
    stream_ = oracle_ ? refrain_oracle_join(oracle_, 0) : nullptr;
    if (!stream_) throw std::runtime_error(refrain_oracle_error());
  }
  ~Stream() {
    if (refrain_oracle_close(oracle_) != 0) ADD_FAILURE() << refrain_oracle_error();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// A region that takes so long.
  void region(const std::string& name, std::uint64_t ns) {
    submit("parallel " + name);
    now_ += ns;
    submit("end " + name);
    now_ += 100;
  }
  void note(const std::string& name, const std::string& text) {
    EXPECT_EQ(refrain_oracle_set_note(stream_, name.c_str(), text.data(), text.size()), 0);
  }
  std::string note(const std::string& name) {
    std::size_t size = 0;
    const void* bytes = refrain_oracle_note(stream_, name.c_str(), &size);
    return {static_cast<const char*>(bytes), size};
  }
  /// All events, in order.
  std::vector<std::string> events() {
    std::vector<std::string> result;
    while (true) {
      const std::uint32_t next = refrain_oracle_predict(stream_, 1).event;
      if (next == REFRAIN_ORACLE_NONE) return result;
      result.push_back(refrain_oracle_name(stream_, next));
      refrain_oracle_submit(stream_, next);
    }
  }

 private:
  void submit(const std::string& name) {
    refrain_oracle_submit_at(stream_, refrain_oracle_event(stream_, name.c_str()), now_);
  }

  refrain_oracle* oracle_;
  refrain_oracle_stream* stream_;
  std::uint64_t now_ = 1000;
};

const std::string region_a = "a._omp_fn.0", region_b = "b._omp_fn.0", region_c = "c._omp_fn.0";

// ---- What OpenMP says ----

TEST(Preload, SemanticsWithoutOracle) {
  const Ended ended = run("semantics", "OMP_NUM_THREADS=4");
  EXPECT_EQ(ended.status, 0) << ended.output;
}

TEST(Preload, SemanticsWhateverTheSizes) {
  const RunFile file;
  const Ended recorded = run("semantics", "OMP_NUM_THREADS=4 " + record(file));
  ASSERT_EQ(recorded.status, 0) << recorded.output;
  for (const char* how :
       {"OMP_NUM_THREADS=4", "OMP_NUM_THREADS=7 REFRAIN_ORACLE_UNEXPECTED=30",
        "OMP_NUM_THREADS=4 REFRAIN_ORACLE_KEEP_THREADS=no", "OMP_NUM_THREADS=1",
        "OMP_NUM_THREADS=4 REFRAIN_ORACLE_THREADS=thresholds",
        "OMP_NUM_THREADS=4 REFRAIN_ORACLE_THREADS=thresholds REFRAIN_ORACLE_THRESHOLDS=1:1e9",
        "OMP_NUM_THREADS=5 REFRAIN_ORACLE_THREADS=thresholds REFRAIN_ORACLE_THRESHOLDS=3:1e9",
        "OMP_NUM_THREADS=4 OMP_SCHEDULE=guided REFRAIN_ORACLE_THREADS=program",
        "OMP_NUM_THREADS=4 OMP_PROC_BIND=spread", "OMP_NUM_THREADS=4 OMP_SCHEDULE=dynamic,5"}) {
    const Ended ended = run("semantics", beside(file) + how);
    EXPECT_EQ(ended.status, 0) << how << '\n' << ended.output;
  }
}

// ---- What a program can tell ----

/// All regions that are expected to take a while are done by one thread.
const std::string by_one = "REFRAIN_ORACLE_THREADS=thresholds REFRAIN_ORACLE_THRESHOLDS=1:1e9 ";

/// The program's output, which is the same however teams are chosen; and how many regions had fewer threads.
std::string same_output(const std::string& program, const std::string& variables, int& smaller) {
  const RunFile file;
  const refrain::test::TemporaryFolder folder;
  const std::string ledger = folder.path("ledger");
  std::string expected = run(program, variables).output;
  expected = expected.substr(expected.find(" s, ") + 1);  // of what begins with a time
  const Ended recorded = run(program, variables + record(file));
  EXPECT_EQ(recorded.output.substr(recorded.output.find(" s, ") + 1), expected) << "recorded";
  for (const std::string& how : {by_one, std::string("REFRAIN_ORACLE_THREADS=learn ")}) {
    std::ofstream(ledger).flush();
    std::string all = beside(file) + ledger_in(ledger);
    const Ended ended = run(program, all.append(variables).append(" ").append(how));
    EXPECT_EQ(ended.output.substr(ended.output.find(" s, ") + 1), expected) << how;
    if (how != by_one) continue;
    std::stringstream text;
    text << std::ifstream(ledger).rdbuf();
    const std::size_t said = text.str().find("OpenMP: ");
    smaller = said == std::string::npos ? 0 : std::atoi(text.str().c_str() + said + 8);
  }
  return expected;
}

TEST(Preload, NoProgramCanTellItsTeams) {
  int smaller = 0;
  for (const char* variables : {"OMP_NUM_THREADS=2 ", "OMP_NUM_THREADS=5 "}) {
    const std::string output = same_output("tells", variables, smaller);
    EXPECT_NE(output.find("modes "), std::string::npos) << output;
    EXPECT_GT(smaller, 100) << variables;
  }
  for (const char* variables :
       {"OMP_NUM_THREADS=1 ", "OMP_NUM_THREADS=1 OMP_DYNAMIC=true ",
        "OMP_NUM_THREADS=1 OMP_THREAD_LIMIT=1 ", "OMP_NUM_THREADS=2,1 OMP_MAX_ACTIVE_LEVELS=2 "})
    same_output("tells", variables, smaller);
  same_output("tells precision", "OMP_NUM_THREADS=3 ", smaller);
  for (const char* since : {"rounding", "loop", "combined loop"}) {
    same_output(std::string("tells ") + since, "OMP_NUM_THREADS=3 ", smaller);
    EXPECT_EQ(smaller, 0) << "threads have modes of their own since the " << since;
  }
  for (const char* size : {"OMP_STACKSIZE=64M ", "GOMP_STACKSIZE=65536 "}) {
    same_output("tells stacks", size + std::string("OMP_NUM_THREADS=3 "), smaller);
    EXPECT_EQ(smaller, 1) << size;
  }
  same_output("keeps", "OMP_NUM_THREADS=3 ", smaller);
  EXPECT_EQ(smaller, 0) << "threads have variables of their own";
  same_output("locales", "OMP_NUM_THREADS=3 ", smaller);
  EXPECT_EQ(smaller, 0) << "threads have locales of their own";
}

/// A program that asks, line by line, and is answered "7" when it has. One that does not ask, or does not read, is ended
/// after a while.
class Asking {
 public:
  Asking(const std::string& command, const std::string& variables) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    const std::string line = "exec env LD_PRELOAD=" REFRAIN_PRELOAD_LIBRARY
                             " OMP_WAIT_POLICY=passive " +
                             variables + REFRAIN_PROGRAMS + command;
    child_ = fork();
    if (child_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    answers_ = in[1];
    questions_ = out[0];
  }
  ~Asking() {
    close(answers_);
    close(questions_);
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  /// Its next line; what there is of it, if it says no more.
  std::string line() {
    std::string text;
    pollfd next{questions_, POLLIN, 0};
    for (char c = 0; poll(&next, 1, patience_ms) == 1 && ::read(questions_, &c, 1) == 1;) {
      if (c == '\n') break;
      text += c;
    }
    return text;
  }
  void answer() { write(answers_); }
  void answer_by(const std::string& fifo) {
    int file = -1;  // until somebody reads
    for (int waited = 0; file < 0 && waited < patience_ms; waited += 10) {
      file = ::open(fifo.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
      if (file < 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    write(file);
    close(file);
  }

 private:
  static constexpr int patience_ms = 30'000;
  static void write(int file) { EXPECT_EQ(::write(file, "7\n", 2), 2); }

  pid_t child_;
  int answers_, questions_;
};

TEST(Preload, TeamsOfOneAreFoldedWhereLibgompAnswersNothing) {
  for (const char* cancellation : {"", "OMP_CANCELLATION=true "})
    for (const char* kind : {"cancel", "barrier", "doacross", "taskloop", "reduction"}) {
      SCOPED_TRACE(std::string(cancellation) + kind);
      int smaller = 0;
      const std::string variables = std::string(cancellation) + "OMP_NUM_THREADS=2 ";
      EXPECT_NE(same_output(std::string("unanswered ") + kind, variables, smaller), "");
      EXPECT_EQ(smaller, 0);
    }
  const RunFile file;
  EXPECT_EQ(run("folds", "").output.substr(0, 7), "libgomp");
  EXPECT_EQ(run("folds", record(file)).output, "librefrain_oracle_gomp.so\n");
}

// What a command does not fill is no record, and takes the place of none.
TEST(Preload, ARecordIsReplacedByOneWithSomethingInIt) {
  const RunFile file;
  const auto record = [&](const std::string& command) {
    return run_command(REFRAIN_TOOL " oracle record -o " + file.path() + " -- " + command, "");
  };
  EXPECT_EQ(record(REFRAIN_PROGRAMS "folds").status, 0);
  std::stringstream first;
  first << std::ifstream(file.path()).rdbuf();
  EXPECT_GT(first.str().size(), 150U);
  const Ended nothing = record("true");
  EXPECT_EQ(nothing.status, 0);
  EXPECT_NE(
      nothing.output.find("nothing was recorded, so " + file.path() + " is still the earlier"),
      std::string::npos)
      << nothing.output;
  EXPECT_EQ(record("/tmp").status, 126);
  std::stringstream still;
  still << std::ifstream(file.path()).rdbuf();
  EXPECT_EQ(still.str(), first.str());
}

TEST(Preload, WhoeverWaitsForAnAnswerFirstLetsTheOthersAsk) {
  const RunFile file;
  const refrain::test::TemporaryFolder folder;
  const std::string ledger = folder.path("ledger");
  const std::string fifos[] = {folder.path("first"), folder.path("second")};
  for (const std::string& fifo : fifos) ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::ofstream(ledger).flush();
  for (const std::string& how : {record(file), beside(file) + by_one + ledger_in(ledger)}) {
    Asking program("asks " + fifos[0] + " " + fifos[1], "OMP_NUM_THREADS=3 " + how);
    for (const char* question : {"fgets?", "getchar?", "fgetc?", "scanf?", "fread?", "getline?",
                                 "read?", "std::getline?"}) {
      ASSERT_EQ(program.line(), question) << how;
      program.answer();
    }
    for (const auto& [question, fifo] : {std::pair("fopen?", fifos[0]), {"open?", fifos[1]}}) {
      ASSERT_EQ(program.line(), question) << how;
      program.answer_by(fifo);
    }
    ASSERT_EQ(program.line(), "70 in all, 15") << how;
    EXPECT_EQ(program.line(), "") << "it has ended";
  }
  std::stringstream text;
  text << std::ifstream(ledger).rdbuf();
  EXPECT_NE(text.str().find("OpenMP: 5 of the 16"), std::string::npos) << text.str();
}

TEST(Preload, ATimeStepFoundByAllThreadsIsTheSame) {
  int smaller = 0;
  for (const char* size : {"5", "60"}) {
    same_output(std::string("time_steps ") + size + " 20", "OMP_NUM_THREADS=3 ", smaller);
    EXPECT_EQ(smaller, 20 * 32);
  }
  // Where any team may be smaller, too, one thread does what the whole team would do.
  same_output("time_steps 60 20", "OMP_NUM_THREADS=2 REFRAIN_ORACLE_TEAMS=any ", smaller);
  EXPECT_EQ(smaller, 20 * 32);
}

TEST(Preload, UnusualEnds) {
  for (const auto& [how, status] :
       {std::pair("exit", 7), {"worker", 7}, {"main", 0}, {"owners", 0}, {"fork", 0}}) {
    const RunFile file;
    const std::string command = std::string("ends ") + how;
    EXPECT_EQ(run(command, "OMP_NUM_THREADS=3 " + record(file)).status, status) << how;
    EXPECT_EQ(run(command, "OMP_NUM_THREADS=3 " + beside(file)).status, status) << how;
  }
}

// ---- What is recorded ----

TEST(Preload, RecordsRegionsByName) {
  const RunFile file;
  const Ended ended = run("teams a a b c a", "OMP_NUM_THREADS=1 " + record(file));
  EXPECT_EQ(ended.output, "a 1\na 1\nb 1\nc 4\na 1\n");
  const std::vector<std::string> a{"parallel " + region_a, "end " + region_a};
  const std::vector<std::string> b{"parallel " + region_b, "critical of_b", "end " + region_b};
  const std::vector<std::string> c{"parallel " + region_c, "end " + region_c};
  std::vector<std::string> expected;
  for (const auto* region : {&a, &a, &b, &c, &a})
    expected.insert(expected.end(), region->begin(), region->end());
  EXPECT_EQ(Stream(file, false).events(), expected);
}

TEST(Preload, ALibraryThatWasMadeAnewHasItsOwnNames) {
  const RunFile file;
  const refrain::test::TemporaryFolder folder;
  const Ended ended =
      run("reopens " + folder.path("library.so") + " " REFRAIN_MODULES, record(file));
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_EQ(Stream(file, false).events(),
            (std::vector<std::string>{"parallel first._omp_fn.0", "end first._omp_fn.0",
                                      "parallel another._omp_fn.0", "end another._omp_fn.0"}));
}

// ---- Sizes ----

TEST(Preload, AChildsFirstCriticalSectionIsRecorded) {
  const RunFile file;
  const refrain::test::TemporaryFolder folder;
  std::ofstream ledger(folder.path("ledger"));  // it counts processes
  EXPECT_EQ(run("forks", record(file) + ledger_in(folder.path("ledger"))).status, 0);
  for (const std::uint32_t process : {0u, 1u}) {
    refrain_oracle_options options{};
    const std::string path = file.path();
    options.reference = path.c_str();
    options.process = process;
    refrain_oracle* const oracle = refrain_oracle_open(&options);
    refrain_oracle_stream* const stream = refrain_oracle_join(oracle, 0);
    EXPECT_EQ(refrain_oracle_predicts(stream), 1) << process;
    EXPECT_STREQ(refrain_oracle_name(stream, 0), "critical shared") << process;
    refrain_oracle_close(oracle);
  }
}

TEST(Preload, ThresholdsOfExpectedDurationsInContext) {
  const RunFile file;
  {
    Stream stream(file, true);
    stream.region(region_a, 1000);
    stream.region(region_b, 50000);
    stream.region(region_a, 500000);
    stream.region(region_c, 1000);
  }
  const std::string how =
      "OMP_NUM_THREADS=4 REFRAIN_ORACLE_THREADS=thresholds REFRAIN_ORACLE_TEAMS=any "
      "REFRAIN_ORACLE_THRESHOLDS=1:10,2:100 ";
  EXPECT_EQ(run("teams a b a c", how + beside(file)).output, "a 1\nb 2\na 4\nc 4\n");
  EXPECT_EQ(run("teams a b a c", how + "REFRAIN_ORACLE_THREADS=program " + beside(file)).output,
            "a 4\nb 4\na 4\nc 4\n");
  EXPECT_EQ(run("teams a b a c", how).output, "a 4\nb 4\na 4\nc 4\n") << "nothing is known";
}

TEST(Preload, WhatWasLearned) {
  const RunFile file;
  {
    Stream stream(file, true);
    for (int i = 0; i < 2; ++i) {
      stream.region(region_a, 1000);
      stream.region(region_b, 1000000);
      stream.region(region_a, 900000);
      stream.region(region_c, 1000);
    }
    stream.note("threads of " + region_a,
                "1000 1:1e9*3 2:1000*3 4:1e9*3\n900000 1:1e9*3 2:1e9*3 4:900000*3\n");
    stream.note("threads of " + region_b, "1000000 1:1e9*3 2:1e9*3 4:1000000*3\n");
  }
  const Ended ended =
      run("teams a b a c a b a c", "OMP_NUM_THREADS=4 REFRAIN_ORACLE_TEAMS=any " + beside(file));
  EXPECT_EQ(ended.output, "a 2\nb 4\na 4\nc 4\na 2\nb 4\na 4\nc 4\n");
}

TEST(Preload, LearnedIsNoted) {
  const RunFile reference, next;
  {
    Stream stream(reference, true);
    for (int i = 0; i < 40; ++i) stream.region(region_a, 1000);
  }
  std::string command = "teams";
  for (int i = 0; i < 40; ++i) command += " a";
  ASSERT_EQ(
      run(command, "OMP_NUM_THREADS=2 REFRAIN_ORACLE_TEAMS=any " + beside(reference) + record(next))
          .status,
      0);
  EXPECT_NE(Stream(next, false).note("threads of " + region_a), "");
}

TEST(Preload, ClausesAreKeptUnlessThatIsAskedFor) {
  const RunFile file;
  {
    Stream stream(file, true);
    stream.region(region_c, 1000);
  }
  const std::string how = "REFRAIN_ORACLE_THREADS=thresholds " + beside(file);
  EXPECT_EQ(run("teams c", how).output, "c 4\n");
  EXPECT_EQ(run("teams c", how + "REFRAIN_ORACLE_CLAUSES=limit").output, "c 1\n");
  EXPECT_EQ(run("teams c", how + "OMP_DYNAMIC=true").output, "c 1\n");
}

TEST(Preload, SettingsThatAreNotUnderstoodAreNamed) {
  for (const char* setting :
       {"REFRAIN_ORACLE_TEAMS=no", "REFRAIN_ORACLE_THREADS=many", "REFRAIN_ORACLE_THRESHOLDS=1-2",
        "REFRAIN_ORACLE_CLAUSES=1", "REFRAIN_ORACLE_KEEP_THREADS=maybe",
        "REFRAIN_ORACLE_UNEXPECTED=101"}) {
    const RunFile file;
    const Ended ended = run("teams a", "OMP_NUM_THREADS=2 " + record(file) + setting);
    EXPECT_NE(ended.output.find(setting), std::string::npos) << ended.output;
    EXPECT_NE(ended.output.find("a 2\n"), std::string::npos) << ended.output;
  }
}

// ---- Threads that stay ----

/// How many threads of the kernel the program says it had.
int threads_of(const Ended& ended) {
  int threads = 0;
  EXPECT_EQ(std::sscanf(ended.output.c_str(), "%d threads", &threads), 1) << ended.output;
  return threads;
}

TEST(Preload, ThreadsOfAShrunkTeamStayAlive) {
  const RunFile file, another;
  // 100 times two threads are too many. A team may grow before they are back; then there are more of them.
  EXPECT_LT(threads_of(run("shrink", record(file))), 100);
  EXPECT_EQ(threads_of(run("shrink", record(another) + "REFRAIN_ORACLE_KEEP_THREADS=no")), 202);
}

// ---- Programs without OpenMP ----

TEST(Preload, DoesNothingWithoutOpenMP) {
  const RunFile file;
  const auto size = fs::file_size(file.path());
  const Ended ended = run_command("grep Threads /proc/self/status", record(file));
  EXPECT_EQ(ended.output, "Threads:\t1\n");
  EXPECT_EQ(run_command("true", record(file)).output, "");
  EXPECT_EQ(run_command("cat /proc/self/maps", record(file)).output.find("libgomp"),
            std::string::npos);
  EXPECT_EQ(fs::file_size(file.path()), size);
}

}  // namespace
