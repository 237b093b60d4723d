// Files of --refrain:record that cannot be written, and of --refrain:warm-start that cannot be used.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "oracle/error.hpp"
#include "oracle/run_reader.hpp"
#include "oracle/run_writer.hpp"
#include "support/arguments.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_file.hpp"

namespace refrain::test::warm_start_test {
namespace {

constexpr Field<double> value{"value"};
const Task add{"add", [](ReadWrite<double> x) {
                 for (auto p : x.domain()) x[p] += 1;
               }};

/// What it computes, which no file changes.
double sum_of_a_loop(Runtime& runtime) {
  double seen = 0;
  runtime.run([&](Context& context) {
    const auto cells = context.region(Rect1{0, 3}, value);
    for (int i = 0; i < 300; ++i) context.launch(add, cells[value]);
    seen = context.access<Read>(cells[value])[1];
  });
  return seen;
}

/// What is told of a file by a run that starts with it, and computes what it always does.
std::string told_of(const std::string& path) {
  Options options = small_machine();
  options.warm_start = path;
  testing::internal::CaptureStderr();
  Runtime runtime(options);
  EXPECT_EQ(sum_of_a_loop(runtime), 300);
  return testing::internal::GetCapturedStderr();
}

std::string recorded() {
  const TemporaryFile file("recorded");
  {
    Options options = small_machine();
    options.record = file.path();
    Runtime runtime(options);
    EXPECT_EQ(sum_of_a_loop(runtime), 300);
  }
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string told_of_bytes(const std::string& bytes) {
  const TemporaryFile file("bytes", bytes);
  return told_of(file.path());
}

TEST(WarmStartErrors, NoFile) {
  expect_words(told_of("/nowhere/calls"),
               {"refrain: --refrain:warm-start: /nowhere/calls: cannot be opened", "No such file",
                "; starting without it\n"});
  expect_words(told_of("/tmp"), {"/tmp: ", "; starting without it"});
  expect_words(told_of("/dev/null"), {"/dev/null: is no regular file; starting without it"});
}

TEST(WarmStartErrors, NoFileOfARun) {
  expect_words(told_of_bytes(""), {"; starting without it"});
  expect_words(told_of_bytes("a text, and a long one at that"), {"; starting without it"});
}

TEST(WarmStartErrors, AFutureVersion) {
  std::string bytes = recorded();
  bytes[8] = static_cast<char>(bytes[8] + 1);
  expect_words(told_of_bytes(bytes), {"; starting without it"});
}

TEST(WarmStartErrors, AFileWithoutCalls) {
  const TemporaryFile file("no_calls");
  oracle::create_run(file.path(), "another program");
  expect_words(told_of(file.path()),
               {"no call of a program on Refrain is recorded in it; starting"});
  oracle::RunWriter(file.path())
      .append({.process = 0,
               .thread = 0,
               .names = {"MPI_Send 3"},
               .grammar = oracle::Grammar({{{oracle::Symbol::event(0), 50}}}),
               .delays = {},
               .notes = {}});
  expect_words(told_of(file.path()),
               {"no call of a program on Refrain is recorded in it; starting"});
}

bool has_calls(const std::string& bytes) {
  try {
    return !oracle::run_in(bytes, "bytes").threads.empty();
  } catch (const oracle::OracleError&) { return false; }
}

// Cut off behind the first block it is the file of a killed run.
TEST(WarmStartErrors, EveryBeginningAndEveryFlippedBit) {
  const std::string bytes = recorded();
  EXPECT_EQ(told_of_bytes(bytes), "");
  for (std::size_t length = 0; length < bytes.size(); length += 7) {
    const std::string begin = bytes.substr(0, length);
    if (has_calls(begin)) EXPECT_EQ(told_of_bytes(begin), "");
    else expect_words(told_of_bytes(begin), {"; starting without it"});
  }
  for (std::size_t at = 0; at < bytes.size(); at += 5) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1 << at % 8);
    expect_words(told_of_bytes(damaged), {"; starting without it"});
  }
}

TEST(RecordErrors, AFileThatCannotBeMade) {
  for (const char* path : {"/nowhere/calls", "/dev/full", "/tmp", "/dev/stdout"}) {
    Options options = small_machine();
    options.record = path;
    try {
      const Runtime runtime(options);
      ADD_FAILURE() << "no error for " << path;
    } catch (const Error& error) {
      expect_words(error.what(), {"--refrain:record: " + std::string(path)});
    }
  }
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The program's result is there, and the status says that not all is. An older record stays.
void on_a_full_disk(const TemporaryFile& file, const char* told) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit little{100, 100};  // the beginning of the file, and no more
    setrlimit(RLIMIT_FSIZE, &little);
    const std::string flag = "--refrain:record=" + file.path();
    Arguments args{flag.c_str(), "--refrain:workers=0"};
    double seen = 0;
    testing::internal::CaptureStderr();
    const int status = run(args.count, args.values(), [&](Context& context) {
      const auto cells = context.region(Rect1{0, 3}, value);
      for (int i = 0; i < 30'000; ++i) context.launch(add, cells[value]);
      seen = context.access<Read>(cells[value])[1];
    });
    const rlimit enough{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &enough);
    const std::string said = testing::internal::GetCapturedStderr();
    _exit(status == 1 && seen == 30'000 && said.find(told) != std::string::npos ? 0 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(RecordErrors, AFullDisk) {
  const TemporaryFile file("full");
  on_a_full_disk(file, "cannot be written");
}

TEST(RecordErrors, AFullDiskWithAnOlderRecord) {
  const TemporaryFile file("full");
  Options options = small_machine();
  options.record = file.path();
  {
    Runtime runtime(options);
    runtime.run([](Context& context) { context.region(Rect1{0, 3}, value); });
  }
  const std::string older = bytes_of(file.path());
  on_a_full_disk(file, "--refrain:record");  // stderr is cut, too
  EXPECT_EQ(bytes_of(file.path()), older);
  int beside = 0;
  const std::filesystem::path place(file.path());
  for (const auto& entry : std::filesystem::directory_iterator(place.parent_path()))
    if (entry.path().filename().string().starts_with(place.filename().string() + ".new-")) {
      ++beside;
      std::filesystem::remove(entry.path());
    }
  EXPECT_EQ(beside, 1);
}

}  // namespace
}  // namespace refrain::test::warm_start_test
