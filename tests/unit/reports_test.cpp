// What --refrain:graph and --refrain:stats write.

#include <gtest/gtest.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include "base/json.hpp"
#include "base/new_file.hpp"
#include "graph/executor.hpp"
#include "graph/scope.hpp"
#include "machine/machine.hpp"
#include "refrain/error.hpp"
#include "report/listeners.hpp"
#include "report/stats.hpp"
#include "report/termination.hpp"

namespace refrain::runtime::reports_test {
namespace {

class Reports : public testing::Test {
 protected:
  ~Reports() override { std::filesystem::remove(path_); }
  [[nodiscard]] std::string text() const {
    std::ifstream in(path_);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }
  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("refrain_report_" + std::to_string(getpid())))
          .string();
  const Machine machine_ = machine::load("emulated:cpus=1,gpus=1,framebuffer=1MiB");
};

TEST_F(Reports, TheGraphHasAShapePerKind) {
  const exec::NodeInfo step{"say \"hi\"", std::source_location::current()};
  GraphFile graph(path_, machine_);
  analysis::LoggedOperation operation;
  operation.scope = 2;
  operation.seq = 5;
  operation.call = 9;
  operation.rank = 3;
  operation.info = &step;
  graph.operation(operation);
  operation.seq = 4;
  operation.kind = exec::NodeKind::copy;
  operation.field = "u";
  operation.target = machine_.memories(MemoryKind::framebuffer)[0];
  operation.points = data::IndexSpace::dense(Rect<1>{0, 9});
  graph.operation(operation);
  graph.edge(2, 4, 5);
  graph.edge(2, 3, 5);
  graph.close();
  const std::string out = text();
  EXPECT_EQ(out.substr(0, 17), "digraph refrain {");
  EXPECT_EQ(out.substr(out.size() - 2), "}\n");
  const auto holds = [&out](const std::string& part) {
    return out.find(part) != std::string::npos;
  };
  EXPECT_TRUE(holds("s2_5 [label=\"say \\\"hi\\\" #3\",shape=box")) << out;
  EXPECT_TRUE(holds("tooltip=\"" + to_string(step.where) + ", call 9\"")) << out;
  EXPECT_TRUE(holds("s2_4 [label=\"copy u\\n" + data::to_string(*operation.points) + "\\n" +
                    machine_.memory(0).name + " to " + machine_.memory(operation.target).name +
                    "\",shape=ellipse"))
      << out;
  EXPECT_TRUE(holds("s2_4 -> s2_5;"));
  EXPECT_TRUE(holds("s2_3 -> s2_5;"));
}

// Where there is no thread for it, nothing can be written then, which is told.
TEST(Termination, WithNoThreadLeft) {
  testing::internal::CaptureStderr();
  const pid_t child = fork();
  if (child == 0) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{1} << 48);  // more than can be addressed
    pthread_setattr_default_np(&attributes);
    for (int i = 0; i < 2; ++i) {
      const BeforeTermination act([] {});
      struct sigaction found {};
      sigaction(SIGTERM, nullptr, &found);
      if (found.sa_handler != SIG_DFL) _exit(1);
    }
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("without its reports: Resource temporarily unavailable"), std::string::npos)
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_F(Reports, ManyThreadsLogWholeLines) {
  {
    GraphFile graph(path_, machine_);
    const auto work = [&graph](std::uint64_t scope) {
      for (std::uint64_t i = 0; i < 500; ++i) graph.edge(scope, i, i + 1);
    };
    std::thread other(work, 1);
    work(2);
    other.join();
    graph.close();
  }
  std::istringstream in(text());
  int edges = 0;
  for (std::string line; std::getline(in, line);)
    if (line.find("->") != std::string::npos) {
      EXPECT_TRUE(line.ends_with(";")) << line;
      ++edges;
    }
  EXPECT_EQ(edges, 1000);
}

// Each is written beside the file under a name of its own, and the file has the mode of any new one.
TEST_F(Reports, TwoOfOneNameAtOneTime) {
  NewFile first(path_);
  NewFile second(path_);
  { const NewFile tried(path_); }
  first.out() << "first";
  second.out() << "second";
  EXPECT_EQ(first.keep(), 0);
  EXPECT_EQ(text(), "first");
  EXPECT_EQ(second.keep(), 0);
  EXPECT_EQ(text(), "second");
  const auto mode = std::filesystem::status(path_).permissions();
  std::filesystem::remove(path_);
  std::ofstream(path_) << "any";
  EXPECT_EQ(mode, std::filesystem::status(path_).permissions());
}

TEST_F(Reports, FilesThatCannotBeWrittenAreNamed) {
  EXPECT_THROW(
      {
        try {
          GraphFile graph("/nowhere/g.dot", machine_);
        } catch (const Error& e) {
          EXPECT_STREQ(e.what(),
                       "the task graph cannot be written to '/nowhere/g.dot': No such "
                       "file or directory");
          throw;
        }
      },
      Error);
  EXPECT_THROW(
      {
        try {
          ReportFile file("/nowhere/r.txt", "recordings of traces");
        } catch (const Error& e) {
          EXPECT_STREQ(e.what(),
                       "the recordings of traces cannot be written to '/nowhere/r.txt': No such "
                       "file or directory");
          throw;
        }
      },
      Error);
  EXPECT_THROW(
      {
        try {
          report({}, "/nowhere/s.json");
        } catch (const Error& e) {
          EXPECT_STREQ(e.what(),
                       "the statistics cannot be written to '/nowhere/s.json': No such "
                       "file or directory");
          throw;
        }
      },
      Error);
}

Statistics example() {
  Statistics s;
  s.wall_ns = 1'234'567'890;
  s.counters.launches = 1000;
  s.counters.tasks = 1'234'567;
  s.counters.edges = 42;
  s.analysis_ns = 123'456'700;
  s.workers = 3;
  s.idle_share = 0.25;
  s.peak_resident = 64 << 20;
  s.links = {{"sys0", "fb0", "system", "framebuffer", 2, 1024},
             {"sys0", "fb1", "system", "framebuffer", 3, 1024}};
  s.memories = {{"fb0", 64 << 20, 32 << 20}};
  s.counters.instances_alive = 2;
  return s;
}

TEST_F(Reports, StatisticsForPeople) {
  EXPECT_EQ(to_text(example()),
            "Refrain statistics\n"
            "  time                       1.235 s\n"
            "  launches                     1'000\n"
            "  tasks                    1'234'567\n"
            "  edges                           42\n"
            "  copies                           5  2KiB\n"
            "    system to framebuffer          5  2KiB\n"
            "  fills                            0\n"
            "  folds                            0\n"
            "  evictions                        0\n"
            "  analysis per task           100 ns\n"
            "  workers                          3  beside the launching thread\n"
            "  workers idle                25.0 %\n"
            "  nodes stolen                     0\n"
            "  times asleep                     0\n"
            "  peak resident                64MiB\n"
            "  peak in fb0                  32MiB  of 64MiB\n"
            "  alive: regions                   0\n"
            "  alive: instances                 2\n"
            "  alive: nodes                     0\n"
            "  alive: futures                   0\n"
            "  alive: accumulators              0\n"
            "  alive: index spaces              0\n");
  EXPECT_NE(to_text({}).find("analysis per task       0 ns"), std::string::npos) << to_text({});
}

TEST_F(Reports, StatisticsOfTraces) {
  Statistics s;
  s.counters.tasks = 400;
  s.counters.recordings = 2;
  s.counters.rounds = 3;
  s.counters.replays = 1234;
  s.counters.early_exits = 5;
  s.counters.replayed_tasks = 300;
  s.counters.preconditions_failed = 6;
  s.counters.catch_ups = 7;
  s.counters.unexamined_edges = 8;
  s.recording_bytes = 8 << 10;
  const std::string text = to_text(s);
  for (const char* row :
       {"recordings made              2  8KiB at most in one context\n",
        "rounds joined                3\n", "recordings replayed      1'234  5 more in part\n",
        "tasks replayed          75.0 %\n", "preconditions failed         6\n",
        "state caught up              7\n", "edges left unexamined        8\n"})
    EXPECT_NE(text.find(row), std::string::npos) << row << "in\n" << text;
  const std::string json = to_json(s);
  const JsonFile file(json, "stats");
  EXPECT_NEAR(file.root().at("replayed_share").as_number(), 0.75, 1e-9);
  EXPECT_EQ(file.root().at("recording_bytes").as_integer(0, 1 << 20), 8 << 10);
  EXPECT_EQ(file.root().at("unexamined_edges").as_integer(0, 9), 8);
  s.counters.tasks = 0;  // a trace of copies alone
  EXPECT_NE(to_text(s).find(" 0.0 %\n"), std::string::npos) << to_text(s);
}

TEST_F(Reports, StatisticsOfAutomaticTracing) {
  Statistics s;
  s.counters.autotrace.analysed = 500;
  s.counters.autotrace.replayed = 1500;
  EXPECT_NE(to_text(s).find("calls to steady state   not reached\n"), std::string::npos)
      << to_text(s);
  const std::string none = to_json(s);
  EXPECT_TRUE(JsonFile(none, "stats").root().at("autotrace").at("before_steady").value().is_null());
  s.counters.autotrace.before_steady = 480;
  EXPECT_NE(to_text(s).find("calls to steady state       480\n"), std::string::npos) << to_text(s);
  const std::string steady = to_json(s);
  EXPECT_EQ(JsonFile(steady, "stats").root().at("autotrace").at("before_steady").as_integer(0, 999),
            480);
}

TEST_F(Reports, StatisticsForPrograms) {
  report(example(), path_);
  const JsonFile file(text(), "stats");
  const JsonNode& root = file.root();
  EXPECT_EQ(root.at("tasks").as_integer(0, 1 << 30), 1'234'567);
  EXPECT_NEAR(root.at("analysis_ns_per_task").as_number(), 100, 0.01);
  EXPECT_EQ(root.at("links").as_array().size(), 2U);
  EXPECT_EQ(root.at("links").as_array()[1].at("to").as_string(), "fb1");
  EXPECT_EQ(root.at("memories").as_array()[0].at("peak").as_integer(0, 1 << 30), 32 << 20);
  EXPECT_EQ(root.at("alive").at("instances").as_integer(0, 9), 2);
}

// The table of counters is all that has to be told of a new one.
TEST_F(Reports, EveryCounterIsSummedAndShown) {
  Statistics s;
  s.counters.recordings = s.counters.autotrace.analysed = 1;
  const std::string json = to_json(s), text = to_text(s);
  const JsonFile file(json, "stats");
  const auto is_shown = [&](const JsonNode& group) {
    return [&](std::string_view name, std::string_view row, std::uint64_t count) {
      EXPECT_EQ(group.at(std::string(name)).as_integer(0, 1), static_cast<std::int64_t>(count));
      EXPECT_NE(text.find("  " + std::string(row) + "  "), std::string::npos) << row;
    };
  };
  static_cast<LaunchCounters&>(s.counters).each(is_shown(file.root()));
  static_cast<OperationCounters&>(s.counters).each(is_shown(file.root()));
  static_cast<TraceCounters&>(s.counters).each(is_shown(file.root()));
  s.counters.autotrace.each(is_shown(file.root().at("autotrace")));
  OperationCounters sum{1, 2, 3, 4, 5, 6};
  sum += {10, 20, 30, 40, 50, 60};
  std::vector<std::uint64_t> sums;
  sum.each([&](const char*, const char*, std::uint64_t count) { sums.push_back(count); });
  EXPECT_EQ(sums, (std::vector<std::uint64_t>{11, 22, 33, 44, 55, 66}));
}

class Heard final : public Listener {
 public:
  void called(const Call& call) override { text += call.name; }
  void asked(const LaunchPlan&) override { text += "asked"; }
  std::string text;
};

TEST(Listeners, HearTheKindsThatTheyWant) {
  Heard first, second;
  Listeners listeners;
  EXPECT_EQ(listeners.of(Events::calls), nullptr);
  listeners.add(first, {Events::calls, Events::graph});
  EXPECT_EQ(listeners.of(Events::calls), &first);
  EXPECT_EQ(listeners.of(Events::decisions), nullptr);
  listeners.of(Events::calls)->called({1, "a"});
  listeners.add(second, {Events::calls});
  listeners.of(Events::calls)->called({2, "b"});
  listeners.remove(first);
  listeners.of(Events::calls)->called({3, "c"});
  EXPECT_EQ(listeners.of(Events::graph), nullptr);
  EXPECT_EQ(first.text, "ab");
  EXPECT_EQ(second.text, "bc");
}

TEST_F(Reports, PeakResidentIsPlausible) {
  EXPECT_GT(peak_resident_bytes(), std::uint64_t{1} << 20);
  EXPECT_LT(peak_resident_bytes(), std::uint64_t{1} << 40);
}

TEST_F(Reports, NodesAppearOnTheTimelineOfTheirThread) {
  TimelineListener listener(2, 1);
  const exec::NodeInfo info{"step", std::source_location::current()};
  const auto executor = exec::make_seeded_executor(machine_, {}, 1);
  const exec::Scope scope(*executor, nullptr, 1);
  listener.executed({scope, &info, exec::NodeKind::task, 12, 1, 100, 200});
  std::ostringstream out;
  listener.timeline().write(out);
  EXPECT_NE(out.str().find("\"tid\":1,\"ts\":0.0,\"dur\":0.1,\"name\":\"step\",\"cat\":\"task\""),
            std::string::npos)
      << out.str();
}

}  // namespace
}  // namespace refrain::runtime::reports_test
