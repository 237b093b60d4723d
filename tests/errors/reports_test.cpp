// Reports that cannot be written.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "oracle/run_reader.hpp"
#include "support/arguments.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace refrain::test::reports_test {
namespace {

const Task nothing{"nothing", [] {}};

TEST(ReportErrors, AFullDisk) {
  if (!std::ofstream("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  const Trace trace{"trace"};
  for (const char* flag : {"timeline", "graph", "graph-calculus", "stats"}) {
    SCOPED_TRACE(flag);
    const std::string full = "--refrain:" + std::string(flag) + "=/dev/full";
    Arguments args{full.c_str(), "--refrain:workers=0"};
    testing::internal::CaptureStderr();
    const int status = run(args.count, args.values(), [&](Context& context) {
      context.trace(trace, [&] {
        for (int i = 0; i < 5'000; ++i) context.launch(nothing);
      });
    });
    expect_words(testing::internal::GetCapturedStderr(),
                 {"refrain:", "cannot be written to '/dev/full'", "No space left"});
    EXPECT_EQ(status, 1);
  }
}

// The others are written all the same.
TEST(ReportErrors, AFullDiskForOneOfThem) {
  if (!std::ofstream("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  Arguments args{"--refrain:timeline=/dev/full", "--refrain:stats"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(args.count, args.values(), [](Context& context) { context.launch(nothing); }), 1);
  expect_words(testing::internal::GetCapturedStderr(),
               {"Refrain statistics", "the timeline cannot be written"});
}

TEST(ReportErrors, AnExplanationThatCannotBeWritten) {
  Options options = small_machine();
  options.explain = "/nowhere/why";
  EXPECT_THROW(
      {
        try {
          const Runtime runtime(options);
        } catch (const Error& error) {
          expect_words(error.what(), {"--refrain:explain", "cannot write the file",
                                      "'/nowhere/why.txt'", "No such file"});
          throw;
        }
      },
      Error);
}

// Also where it was not a flag.
TEST(ReportErrors, AnExplanationInNoFile) {
  for (const char* prefix : {"/tmp/", "why/"}) {
    Options options = small_machine();
    options.explain = prefix;
    EXPECT_THROW(
        {
          try {
            const Runtime runtime(options);
          } catch (const InputError& error) {
            expect_words(error.what(), {"--refrain:explain", "expected a prefix of files to write",
                                        "not ending in '/'", "'" + std::string(prefix) + "'"});
            throw;
          }
        },
        InputError);
  }
}

Options full_disk() {
  Options options = small_machine();
  options.graph = "/dev/full";
  return options;
}

TEST(ReportErrors, AFullDiskForARuntimeOfTheProgram) {
  if (!std::ofstream("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  testing::internal::CaptureStderr();
  {
    Runtime runtime(full_disk());
    runtime.run([](Context& context) { context.launch(nothing); });
    try {
      runtime.write_reports();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      expect_words(error.what(), {"task graph", "'/dev/full'", "No space left"});
    }
    runtime.write_reports();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");  // it was told
  testing::internal::CaptureStderr();
  { const Runtime silent(full_disk()); }
  expect_words(testing::internal::GetCapturedStderr(), {"refrain: ", "'/dev/full'"});
}

TEST(ReportErrors, BeforeTheEndAndRunsAfterIt) {
  Runtime runtime(small_machine());
  EXPECT_THROW(runtime.run([&](Context&) { runtime.write_reports(); }), UsageError);
  expect_usable(runtime);
  runtime.write_reports();
  try {
    runtime.run([](Context&) { ADD_FAILURE() << "it ran"; });
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) { expect_words(error.what(), {"run: ", "are written"}); }
}

std::string text_of_file(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(ReportErrors, TwoToOneFile) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("sub"));
  std::filesystem::create_symlink(folder.path("sub"), folder.path("link"));
  const auto error_of = [](const std::string& timeline, const std::string& graph) {
    Options options = small_machine();
    options.timeline = timeline;
    options.graph = graph;
    try {
      const Runtime runtime(options);
    } catch (const InputError& error) { return std::string(error.what()); }
    return std::string("no error");
  };
  const std::string file = folder.path("sub/one");
  for (const char* same : {"sub/one", "sub/../sub/./one", "link/one"})
    expect_words(error_of(file, folder.path(same)),
                 {"--refrain:graph and --refrain:timeline write to one file", "'" + file + "'"});
  EXPECT_EQ(error_of(file, folder.path("sub/two")), "no error");
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path("sub"));
  for (const char* relative : {"one", "./one", "../sub/one"})
    expect_words(error_of(relative, file),
                 {"write to one file", std::string("'") + relative + "'"});
  std::filesystem::current_path(before);
  EXPECT_EQ(error_of("/dev/null", "/dev/null"), "no error");
  testing::internal::CaptureStdout();  // in a regular file
  EXPECT_EQ(error_of("/dev/stdout", "/dev/stdout"), "no error");
  testing::internal::GetCapturedStdout();
}

// What a program prints into a file stays there: the report comes between what was printed before and after it.
TEST(ReportErrors, ToTheStandardOutput) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/stdout", folder.path("link"));
  for (const std::string& file :
       {std::string("/dev/stdout"), std::string("/proc/self/fd/1"), folder.path("link")}) {
    SCOPED_TRACE(file);
    Options options = small_machine();
    options.stats = true;
    options.stats_file = file;
    testing::internal::CaptureStdout();
    std::printf("before\n");
    {
      Runtime runtime(options);
      runtime.run([](Context& context) { context.launch(nothing); });
    }
    std::printf("after\n");
    const std::string text = testing::internal::GetCapturedStdout();
    EXPECT_TRUE(text.starts_with("before\n{")) << text;
    EXPECT_TRUE(text.ends_with("}\nafter\n")) << text;
  }
}

// A descriptor of the program's that leads to a file with text in it.
TEST(ReportErrors, ToADescriptor) {
  const TemporaryFolder folder;
  std::FILE* const opened = std::fopen(folder.path("text").c_str(), "w");
  ASSERT_NE(opened, nullptr);
  std::fprintf(opened, "before\n");
  std::fflush(opened);
  Options options = small_machine();
  options.timeline = "/dev/fd/" + std::to_string(fileno(opened));
  {
    Runtime runtime(options);
    runtime.run([](Context& context) { context.launch(nothing); });
  }
  std::fprintf(opened, "after\n");
  std::fclose(opened);
  const std::string text = text_of_file(folder.path("text"));
  expect_words(text, {"before\n", "\"nothing\""});
  EXPECT_TRUE(text.ends_with("after\n")) << text;
}

// Behind another link a file is replaced, and the link stays.
TEST(ReportErrors, BehindALink) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("text")) << "older";
  std::filesystem::create_symlink("text", folder.path("link"));
  Options options = small_machine();
  options.timeline = folder.path("link");
  {
    Runtime runtime(options);
    runtime.run([&](Context& context) {
      context.launch(nothing);
      EXPECT_EQ(text_of_file(folder.path("text")), "older");
    });
  }
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  expect_words(text_of_file(folder.path("text")), {"\"nothing\""});
}

// What was there before stays until there is something in its place.
TEST(ReportErrors, OlderFilesWhileARunGoesOn) {
  const TemporaryFolder folder;
  Options options = small_machine();
  options.timeline = folder.path("timeline");
  options.stats = true;
  options.stats_file = folder.path("stats");
  options.graph = folder.path("graph");
  options.graph_calculus = folder.path("recordings");
  options.autotrace_log = folder.path("log");
  options.explain = folder.path("why");
  const std::vector<std::string> files{options.timeline,      options.stats_file,
                                       options.graph,         options.graph_calculus,
                                       options.autotrace_log, folder.path("why.txt")};
  for (const std::string& file : files) std::ofstream(file) << "older";
  {
    Runtime runtime(options);
    runtime.run([&](Context& context) {
      context.launch(nothing);
      for (const std::string& file : files) EXPECT_EQ(text_of_file(file), "older") << file;
    });
  }
  for (const std::string& file : files) EXPECT_NE(text_of_file(file), "older") << file;
  for (const auto& left : std::filesystem::directory_iterator(folder.path("")))
    EXPECT_EQ(left.path().string().find(".new-"), std::string::npos) << left.path();
}

// Nor is it lost where no file can be made beside it: the name has no room for more.
TEST(ReportErrors, OlderFilesWithNoRoomBesideThem) {
  const TemporaryFolder folder;
  Options options = small_machine();
  options.stats = true;
  options.stats_file = folder.path(std::string(250, 's'));
  options.timeline = folder.path(std::string(250, 't'));
  std::ofstream(options.stats_file) << "older";
  {
    Runtime runtime(options);
    EXPECT_EQ(text_of_file(options.stats_file), "older");
    EXPECT_FALSE(std::filesystem::exists(options.timeline));
    runtime.run([](Context& context) { context.launch(nothing); });
  }
  EXPECT_TRUE(text_of_file(options.stats_file).starts_with("{"));
  expect_words(text_of_file(options.timeline), {"\"nothing\""});
}

// ThreadSanitizer does not stand threads in a process that was forked from one with threads.
#if !defined(__SANITIZE_THREAD__)
/// A child process that runs `program` and is then sent the signal, while it waits in the program for ever.
int status_after(int signal, const Options& options, void (*before)() = nullptr) {
  int ready[2];
  if (pipe(ready) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    if (before != nullptr) before();
    Runtime runtime(options);
    runtime.run([&](Context& context) {
      for (int i = 0; i < 100; ++i) context.launch(nothing);
      context.fence();
      const char byte = 1;
      if (write(ready[1], &byte, 1) != 1) std::_Exit(3);
      for (;;) pause();
    });
  }
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, signal);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  close(ready[0]);
  close(ready[1]);
  return status;
}

TEST(ReportErrors, OfARunThatIsEnded) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const TemporaryFolder folder;
    Options options = small_machine();
    options.timeline = folder.path("timeline");
    options.stats = true;
    options.stats_file = folder.path("stats");
    options.graph = folder.path("graph");
    options.explain = folder.path("why");
    const int status = status_after(signal, options);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    expect_words(text_of_file(options.timeline), {"\"nothing\"", "dropped events"});
    expect_words(text_of_file(options.stats_file), {"\"tasks\": 100"});
    const std::string graph = text_of_file(options.graph);
    expect_words(graph, {"digraph refrain", "nothing #0"});
    EXPECT_TRUE(graph.ends_with("}\n"));
    expect_words(text_of_file(folder.path("why.txt")), {"nothing"});
  }
}

std::size_t calls_recorded(const std::string& path) {
  std::size_t calls = 0;
  for (const auto& thread : oracle::read_run(path).threads)
    thread.grammar.unfold([&](std::uint32_t) { ++calls; });
  return calls;
}

// An older record stays until there is one in its place. Of a killed run, what there is stays beside it.
TEST(ReportErrors, AnOlderRecord) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    const TemporaryFolder folder;
    Options options = small_machine();
    options.record = folder.path("calls");
    const auto left_beside = [&] {
      std::vector<std::string> files;
      for (const auto& file : std::filesystem::directory_iterator(folder.path("")))
        if (file.path() != options.record) files.push_back(file.path().string());
      return files;
    };
    for (const std::size_t before : {0, 2}) {
      Runtime runtime(options);
      runtime.run([&](Context& context) {
        context.launch(nothing);
        context.fence();
        EXPECT_EQ(calls_recorded(options.record), before);
        if (before == 0) context.launch(nothing);
      });
    }
    EXPECT_EQ(calls_recorded(options.record), 1U);
    EXPECT_TRUE(left_beside().empty());
    EXPECT_EQ(WTERMSIG(status_after(signal, options)), signal);
    if (signal == SIGTERM) {
      EXPECT_GE(calls_recorded(options.record), 64U);
      EXPECT_TRUE(left_beside().empty());
    } else {
      EXPECT_EQ(calls_recorded(options.record), 1U);
      ASSERT_EQ(left_beside().size(), 1U);
      EXPECT_GE(calls_recorded(left_beside()[0]), 64U);
    }
  }
}

// A handler of the program's own decides, and a signal that is ignored still is.
TEST(ReportErrors, OfARunWithAHandlerOfItsOwn) {
  const TemporaryFolder folder;
  Options options = small_machine();
  options.timeline = folder.path("timeline");
  const int status = status_after(SIGTERM, options, [] {
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, [](int) {
      raise(SIGINT);
      _exit(42);
    });
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(text_of_file(options.timeline), "");
}

// Where nothing is to be written, no handler is there.
TEST(ReportErrors, NoneAreWritten) {
  const int status = status_after(SIGTERM, small_machine());
  EXPECT_TRUE(WIFSIGNALED(status));
  const Runtime runtime(small_machine());
  struct sigaction found {};
  sigaction(SIGTERM, nullptr, &found);
  EXPECT_EQ(found.sa_handler, SIG_DFL);
}
#endif

}  // namespace
}  // namespace refrain::test::reports_test
