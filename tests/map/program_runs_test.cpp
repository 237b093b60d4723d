// A real program, and each way in which it can end.

#include "map/program_runs.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "refrain/error.hpp"
#include "support/settings.hpp"
#include "support/temporary_folder.hpp"

namespace refrain::map::program_runs_test {
namespace {

namespace fs = std::filesystem;
using map_search::Outcome;
using Ended = map_search::Run;  // a test has a function of that name
using test::error_of, test::mentions;

const std::string kOnCpus =
    R"({"refrain_mapping": 1, "rules": [{"task": "*", "processor": "cpu"}]})";
const std::string kOnGpus =
    R"({"refrain_mapping": 1, "rules": [{"task": "relax", "processor": "gpu", "distribution": "leader"}]})";
const std::string kInFramebuffer =
    R"({"refrain_mapping": 1, "rules": [{"task": "relax", "processor": "gpu", "arguments": [{"memories": "framebuffer"}]}]})";

class ProgramRunsTest : public testing::Test {
 protected:
  ProgramRunsTest() { set_machine("1MiB"); }
  ~ProgramRunsTest() override { ::unsetenv("REFRAIN_ARGS"); }

  static void set_machine(const std::string& framebuffer) {
    const std::string flags =
        "--refrain:workers=1 --refrain:machine emulated:cpus=2,gpus=1,pinned=1MiB,framebuffer=" +
        framebuffer;
    ::setenv("REFRAIN_ARGS", flags.c_str(), 1);
  }
  [[nodiscard]] std::string folder() const { return folder_.path("a 'folder' of \"runs\""); }
  [[nodiscard]] std::string number_file() const { return folder_.path("number"); }

  ProgramRuns runs(std::vector<std::string> command, const std::string& mapping = kOnCpus,
                   double timeout = 60) const {
    return ProgramRuns(std::move(command),
                       [mapping](const map_search::Mapping&) { return mapping; }, {"look", "relax"},
                       {timeout, folder()});
  }
  Ended run(const std::string& mood, const std::string& mapping = kOnCpus,
            double timeout = 60) const {
    const Ended ended = runs({TEST_PROGRAM, mood, number_file()}, mapping, timeout).run({});
    EXPECT_GT(ended.cost, 0);
    EXPECT_EQ(ended.text.empty(), ended.outcome == Outcome::ok) << ended.text;
    EXPECT_TRUE(fs::is_empty(folder())) << "files of the run are left";
    return ended;
  }
  void expect(const Ended& ended, Outcome outcome, const std::vector<std::string>& parts) const {
    EXPECT_EQ(map_search::name(ended.outcome), map_search::name(outcome)) << ended.text;
    EXPECT_TRUE(mentions(ended.text, parts));
  }

  /// The process whose number the program has written; waits for it.
  pid_t number() const {
    for (int i = 0; i < 1000 && !fs::exists(number_file()); ++i) pause();
    pid_t number = 0;
    std::ifstream(number_file()) >> number;
    EXPECT_GT(number, 0);
    return number;
  }
  /// It does not run, or will not in a moment. Nobody may have asked for its status.
  static bool is_gone(pid_t process) {
    for (int i = 0; i < 500; ++i, pause()) {
      std::ifstream file("/proc/" + std::to_string(process) + "/stat");
      std::string text;
      if (!std::getline(file, text) || text[text.rfind(')') + 2] == 'Z') return true;
    }
    return false;
  }
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

  test::TemporaryFolder folder_;
};

TEST_F(ProgramRunsTest, AGoodRunIsMeasured) {
  const Ended on_cpus = run("good");
  expect(on_cpus, Outcome::ok, {});
  EXPECT_GT(on_cpus.seconds, 0);
  EXPECT_LT(on_cpus.seconds, on_cpus.cost);
  EXPECT_EQ(on_cpus.bytes, 0U);
  // `look` runs on a cpu, and what it reads was written in the framebuffer.
  const Ended on_gpus = run("good", kOnGpus);
  expect(on_gpus, Outcome::ok, {});
  EXPECT_EQ(on_gpus.bytes, 40'000 * sizeof(double));
}

TEST_F(ProgramRunsTest, ACrashSaysHow) {
  expect(run("signal"), Outcome::crashed, {"ended by SIGKILL"});
  expect(run("no runtime"), Outcome::crashed, {"status 3", "moods: the input is wrong"});
}

TEST_F(ProgramRunsTest, AFullMemoryIsKnownHoweverTheProgramTellsIt) {
  set_machine("64KiB");
  for (const char* mood : {"good", "caught", "uncaught"})
    expect(run(mood, kInFramebuffer), Outcome::out_of_memory, {"'relax'", "no memory for"});
  expect(run("good", kOnGpus), Outcome::ok, {});  // what has no room there goes elsewhere
}

TEST_F(ProgramRunsTest, AMappingThatIsRefusedIsInvalid) {
  expect(run("good", "{"), Outcome::invalid, {"refrain: mapping.json:1:"});
  expect(run("good", R"({"refrain_mapping": 1, "rules": [{"task": "look", "processor": "gpu"}]})"),
         Outcome::invalid, {"mapping.json:1:64", "no body"});
}

TEST_F(ProgramRunsTest, OtherTasksThanThoseOfTheSpaceAreAChange) {
  expect(run("more"), Outcome::changed, {"another task, 'other'"});
  expect(run("fewer"), Outcome::changed, {"did not launch the task 'look'"});
  expect(run("good", R"({"refrain_mapping": 1, "rules": [{"task": "gone", "processor": "cpu"}]})"),
         Outcome::changed, {"no task is called 'gone'"});
}

TEST_F(ProgramRunsTest, WithoutARuntimeThereIsNoOutput) {
  expect(run("nothing"), Outcome::no_output, {"no statistics"});
  expect(runs({"true"}).run({}), Outcome::no_output, {"no statistics"});  // found in PATH
}

TEST_F(ProgramRunsTest, ARunThatTakesTooLongIsEnded) {
  const Ended hanging = run("hang", kOnCpus, 0.5);
  expect(hanging, Outcome::timeout, {"longer than 0.5 s"});
  EXPECT_GE(hanging.cost, 0.5);
  EXPECT_LT(hanging.cost, 10);
  const Ended stubborn = run("stubborn", kOnCpus, 0.5);
  expect(stubborn, Outcome::timeout, {"longer than 0.5 s"});
  EXPECT_GE(stubborn.cost, 1.5) << "it is killed a second after it was told to end";
  EXPECT_TRUE(is_gone(number()));
}

TEST_F(ProgramRunsTest, WhatTheProgramHasStartedEndsWithIt) {
  expect(run("child"), Outcome::ok, {});
  EXPECT_TRUE(is_gone(number()));
}

TEST_F(ProgramRunsTest, AKilledSearchLeavesNoProcessBehind) {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    fs::remove(number_file());
    const pid_t search = ::fork();
    if (search == 0) {
      static_cast<void>(runs({TEST_PROGRAM, "stubborn", number_file()}, kOnCpus, 0).run({}));
      ::_exit(0);
    }
    const pid_t program = number();
    ::kill(search, signal);
    int status = 0;
    ::waitpid(search, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    EXPECT_TRUE(is_gone(program)) << "after signal " << signal;
  }
}

TEST_F(ProgramRunsTest, WhatMakesEveryRunUselessIsThrown) {
  const auto error_of_run = [&](const std::string& program) {
    return error_of<Error>([&] { static_cast<void>(runs({program}).run({})); });
  };
  EXPECT_EQ(error_of_run("/nonexistent/x"),
            "the program '/nonexistent/x' cannot be started: No such file or directory");
  EXPECT_EQ(error_of_run("no_such_program_in_path"),
            "the program 'no_such_program_in_path' cannot be started: No such file or directory");
  const std::string text = folder_.path("text");
  std::ofstream(text) << "no program\n";
  EXPECT_EQ(error_of_run(text), "the program '" + text + "' cannot be started: Permission denied");
  ProgramRuns gone = runs({"true"});
  fs::remove_all(folder());
  EXPECT_TRUE(mentions(error_of<Error>([&] { static_cast<void>(gone.run({})); }),
                       {"no folder can be made in", folder(), "No such file"}));
}

TEST_F(ProgramRunsTest, WhatCannotWorkIsRefusedBefore) {
  EXPECT_EQ(error_of<Error>([&] { runs({}); }), "there is no program to run");
  for (const char* word : {"--refrain:mapping", "--refrain:stats=x", "--refrain:write-mapping"})
    EXPECT_TRUE(mentions(error_of<Error>([&] {
                           runs({TEST_PROGRAM, word, "x"});
                         }),
                         {"--refrain:", "leave it out"}));
  std::ofstream(folder_.path("file")) << "x";
  EXPECT_TRUE(mentions(error_of<Error>([&] {
                         ProgramRuns({"true"}, {}, {}, {0, folder_.path("file/runs")});
                       }),
                       {"file/runs", "cannot be made", "Not a directory"}));
}

TEST_F(ProgramRunsTest, ReportsThatCannotBeWrittenEndTheSearch) {
  const std::vector<std::string> command{
      "sh", "-c", "cd \"$1\"/run.* && mkdir statistics.json && exec \"$0\" good", TEST_PROGRAM,
      folder()};
  EXPECT_TRUE(mentions(error_of<Error>([&] { static_cast<void>(runs(command).run({})); }),
                       {"cannot write its reports", "--refrain:stats", "statistics.json"}));
}

}  // namespace
}  // namespace refrain::map::program_runs_test
