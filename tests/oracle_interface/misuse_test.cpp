// What a program does wrong with refrain/oracle.h is an error that says so: nothing is lost in silence, and nothing
// that has ended is touched.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "oracle/interface/c_objects.hpp"
#include "oracle/run_reader.hpp"
#include "refrain/oracle.h"
#include "refrain/oracle.hpp"
#include "support/temporary_folder.hpp"

namespace refrain::misuse_test {
namespace {

using test::TemporaryFolder;

class OracleMisuse : public testing::Test {
 protected:
  OracleMisuse() { Oracle::create(path, "letters"); }

  /// Null: refrain_oracle_error() says why.
  [[nodiscard]] refrain_oracle* open(const std::string& record, std::uint32_t process = 0) const {
    refrain_oracle_options options{};
    options.record = record.c_str();
    options.process = process;
    return refrain_oracle_open(&options);
  }
  [[nodiscard]] refrain_oracle* open() const { return open(path); }

  /// How many events are in the file.
  [[nodiscard]] std::uint64_t recorded() const {
    std::uint64_t events = 0;
    for (const oracle::ThreadRecord& record : oracle::read_run(path).threads)
      events += record.grammar.length(0);
    return events;
  }

  const TemporaryFolder folder;
  const std::string path = folder.path("run");
};

void submit(refrain_oracle_stream* stream, int times) {
  const std::uint32_t event = refrain_oracle_event(stream, "a");
  for (int i = 0; i < times; ++i) refrain_oracle_submit(stream, event);
}

void record(refrain_oracle* oracle, std::uint32_t thread, int events) {
  refrain_oracle_stream* const stream = refrain_oracle_join(oracle, thread);
  ASSERT_NE(stream, nullptr) << refrain_oracle_error();
  submit(stream, events);
  EXPECT_EQ(refrain_oracle_leave(stream), 0);
}

/// The last error has this in it.
void expect_said(const std::string& part) {
  const std::string error = refrain_oracle_error();
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

// ---- Files ----

TEST_F(OracleMisuse, AFileIsOpenedOnceToRecordAProcess) {
  refrain_oracle* const first = open();
  EXPECT_EQ(open(), nullptr);
  expect_said(path + ": is open already, to record process 0");
  const std::string link = folder.path("link");
  std::filesystem::create_hard_link(path, link);
  EXPECT_EQ(open(link), nullptr);
  refrain_oracle* const second =
      open(link, 1);  // another process's part, as in a program of ranks that are threads
  ASSERT_NE(second, nullptr);
  record(first, 0, 300);
  record(second, 0, 300);
  EXPECT_EQ(refrain_oracle_close(first), 0);
  EXPECT_EQ(refrain_oracle_close(second), 0);
  EXPECT_EQ(recorded(), 600u);
}

TEST_F(OracleMisuse, AProcessIsRecordedOnce) {
  refrain_oracle* const first = open();
  record(first, 0, 300);
  EXPECT_EQ(refrain_oracle_close(first), 0);
  EXPECT_EQ(open(), nullptr);
  expect_said(path + ": has a run of process 0 already");
  refrain_oracle* const other = open(path, 1);
  record(other, 0, 200);
  EXPECT_EQ(refrain_oracle_close(other), 0);
  EXPECT_EQ(recorded(), 500u);
  Oracle::create(path, "letters");
  EXPECT_EQ(refrain_oracle_close(open()), 0);
}

TEST_F(OracleMisuse, OfTwoProcessesWithOneNumberTheFirstIsRecorded) {
  refrain_oracle* const oracle = open();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    refrain_oracle* const same = open();
    record(same, 0, 300);
    std::_Exit(refrain_oracle_close(same) == 0 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  refrain_oracle_stream* const stream = refrain_oracle_join(oracle, 0);
  submit(stream, 200);
  EXPECT_EQ(refrain_oracle_leave(stream), -1);
  expect_said("has a run of process 0 already");
  EXPECT_EQ(refrain_oracle_close(oracle), 0);
  EXPECT_EQ(recorded(), 300u);
}

TEST_F(OracleMisuse, TheReferenceIsAnotherFile) {
  record(open(), 0, 300);
  const std::string soft = folder.path("soft"), hard = folder.path("hard"),
                    detour = folder.path("./run");
  std::filesystem::create_symlink(path, soft);
  std::filesystem::create_hard_link(path, hard);
  for (const std::string& same : {path, soft, hard, detour}) {
    refrain_oracle_options options{};
    options.record = same.c_str();
    options.reference = path.c_str();
    options.process = 1;
    EXPECT_EQ(refrain_oracle_open(&options), nullptr);
    expect_said(same + ": is to be recorded in, and is the reference");
  }
}

TEST_F(OracleMisuse, AFileInUseIsNotReplaced) {
  refrain_oracle* const oracle = open();
  EXPECT_EQ(refrain_oracle_create(path.c_str(), "letters"), -1);
  expect_said(path + ": is being recorded in by this process");
  refrain_oracle_stream* const stream = refrain_oracle_join(oracle, 0);
  submit(stream, 300);
  oracle::create_run(path, "another process's");
  EXPECT_EQ(refrain_oracle_leave(stream), -1);
  expect_said("has been removed or replaced since it was opened");
  EXPECT_EQ(refrain_oracle_close(oracle), 0);
}

TEST_F(OracleMisuse, AThreadIsRecordedOnce) {
  refrain_oracle* const oracle = open();
  record(oracle, 0, 300);
  EXPECT_EQ(refrain_oracle_join(oracle, 0), nullptr);
  expect_said("thread 0 has been recorded and has left");
  record(oracle, 1, 300);
  EXPECT_EQ(refrain_oracle_close(oracle), 0);
  EXPECT_EQ(recorded(), 600u);
}

// ---- Names and notes ----

TEST_F(OracleMisuse, WhatHasNoNameOrNoBytes) {
  refrain_oracle* const oracle = open();
  refrain_oracle_stream* const stream = refrain_oracle_join(oracle, 0);
  EXPECT_EQ(refrain_oracle_event(stream, nullptr), REFRAIN_ORACLE_NONE);
  expect_said("the name of an event is not given");
  EXPECT_EQ(refrain_oracle_event(stream, ""), REFRAIN_ORACLE_NONE);
  expect_said("the name of an event is empty");
  EXPECT_EQ(refrain_oracle_set_note(stream, "n", nullptr, 5), -1);
  expect_said("the note's bytes are not given, but there should be 5");
  EXPECT_EQ(refrain_oracle_set_note(stream, "n", nullptr, 0), 0);
  EXPECT_EQ(refrain_oracle_set_note(stream, nullptr, "x", 1), -1);
  expect_said("the name of a note is not given");
  EXPECT_EQ(refrain_oracle_set_note(stream, "", "x", 1), -1);
  expect_said("the name of a note is empty");
  std::size_t size = 5;
  EXPECT_EQ(refrain_oracle_note(stream, nullptr, &size), nullptr);
  EXPECT_EQ(size, 0u);
  expect_said("the name of a note is not given");
  EXPECT_EQ(refrain_oracle_close(oracle), 0);
}

// ---- Handles ----

/// Nobody uses it, whatever for.
void expect_unusable(refrain_oracle_stream* stream, const std::string& why) {
  EXPECT_EQ(refrain_oracle_submit(stream, 0), REFRAIN_ORACLE_FAILED);
  expect_said(why);
  EXPECT_EQ(refrain_oracle_submit_at(stream, 0, 0), REFRAIN_ORACLE_FAILED);
  EXPECT_EQ(refrain_oracle_submit_later(stream, 0, 0), -1);
  EXPECT_EQ(refrain_oracle_predict(stream, 1).event, REFRAIN_ORACLE_NONE);
  EXPECT_EQ(refrain_oracle_predict(stream, 1).probability, -1);
  EXPECT_EQ(refrain_oracle_next(stream, 0).distance, 0u);
  EXPECT_EQ(refrain_oracle_next(stream, 0).probability, -1);
  EXPECT_EQ(refrain_oracle_event(stream, "a"), REFRAIN_ORACLE_NONE);
  EXPECT_EQ(refrain_oracle_name(stream, 0), nullptr);
  EXPECT_EQ(refrain_oracle_predicts(stream), 0);
  EXPECT_EQ(refrain_oracle_set_note(stream, "n", "x", 1), -1);
  EXPECT_EQ(refrain_oracle_note(stream, "n", nullptr), nullptr);
  refrain_oracle_assess(stream);
  EXPECT_EQ(refrain_oracle_leave(stream), -1);
  expect_said(why);
}

TEST_F(OracleMisuse, AStreamThatWasLeft) {
  refrain_oracle* const oracle = open();
  refrain_oracle_stream* const stream = refrain_oracle_join(oracle, 3);
  submit(stream, 300);
  EXPECT_EQ(refrain_oracle_leave(stream), 0);
  for (std::uint32_t other = 4; other < 100; ++other) refrain_oracle_join(oracle, other);
  expect_unusable(stream, "the stream of thread 3 has been left already");
  EXPECT_EQ(refrain_oracle_close(oracle), 0);
  expect_unusable(stream, "the stream of thread 3 has been left already");
  EXPECT_EQ(recorded(), 300u);
}

TEST_F(OracleMisuse, ARunThatWasClosed) {
  refrain_oracle* const oracle = open();
  refrain_oracle_stream* const stream = refrain_oracle_join(oracle, 3);
  submit(stream, 300);
  EXPECT_EQ(refrain_oracle_close(oracle), 0);
  EXPECT_EQ(refrain_oracle_close(oracle), -1);
  expect_said("the run has been closed already");
  EXPECT_EQ(refrain_oracle_join(oracle, 4), nullptr);
  expect_said("the run has been closed already");
  expect_unusable(stream, "the stream of thread 3 has ended, since its run was closed");
  EXPECT_EQ(recorded(), 300u);
}

// Here in the midst of submit(): a stream does not look different to other threads then.
TEST_F(OracleMisuse, AStreamThatAnotherThreadIsUsing) {
  refrain_oracle* const oracle = open();
  refrain_oracle_stream* const first = refrain_oracle_join(oracle, 2);
  refrain_oracle_stream* const stream = refrain_oracle_join(oracle, 3);
  std::thread([&] { ASSERT_TRUE(stream->enter()); }).join();
  expect_unusable(stream, "the stream of thread 3 is used by another thread at the same time");
  EXPECT_EQ(refrain_oracle_close(oracle), -1);
  expect_said("the stream of thread 3 is used by another thread");
  submit(first, 100);
  stream->exit();
  std::thread([&] { submit(stream, 300); }).join();  // one after the other is as it should be
  EXPECT_EQ(refrain_oracle_close(oracle), 0);
  EXPECT_EQ(recorded(), 400u);
}

// Also if it was used in another thread, which the child does not have.
TEST_F(OracleMisuse, WhatTheParentProcessHasOpened) {
  refrain_oracle* const oracle = open();
  refrain_oracle_stream* const stream = refrain_oracle_join(oracle, 3);
  refrain_oracle_stream* const used = refrain_oracle_join(oracle, 4);
  submit(stream, 300);
  ASSERT_TRUE(used->enter());
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    expect_unusable(stream, "the stream of thread 3 is the parent process's: after fork()");
    expect_unusable(used, "the stream of thread 4 is the parent process's: after fork()");
    EXPECT_EQ(refrain_oracle_join(oracle, 5), nullptr);
    expect_said("the run was opened by the parent process");
    EXPECT_EQ(refrain_oracle_close(oracle), -1);
    expect_said("the run was opened by the parent process");
    refrain_oracle* const own = open(path, 1);
    record(own, 3, 100);
    EXPECT_EQ(refrain_oracle_close(own), 0);
    std::_Exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  used->exit();
  submit(stream, 300);
  EXPECT_EQ(refrain_oracle_close(oracle), 0);
  EXPECT_EQ(recorded(), 700u);
}

TEST_F(OracleMisuse, AFreedRunListsNothing) {
  const refrain_oracle_run* const run = refrain_oracle_read(path.c_str());
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(refrain_oracle_list_thread(run, 0), nullptr);
  EXPECT_EQ(refrain_oracle_free(run), 0);
  EXPECT_EQ(run->threads, 0u);
  EXPECT_EQ(refrain_oracle_list_thread(run, 0), nullptr);
  expect_said("the run has been freed already");
  EXPECT_EQ(refrain_oracle_free(run), -1);
  EXPECT_EQ(refrain_oracle_free(nullptr), 0);
  EXPECT_EQ(refrain_oracle_list_rule(nullptr, 0, 0), nullptr);
  expect_said("there is no run");
  EXPECT_EQ(refrain_oracle_read(nullptr), nullptr);
  EXPECT_EQ(refrain_oracle_read(folder.path("none").c_str()), nullptr);
  expect_said("none: cannot be opened");
}

TEST_F(OracleMisuse, InCppItIsThrown) {
  auto oracle = std::make_unique<Oracle>(OracleOptions{.record = path});
  OracleStream stream = oracle->join(0), left = oracle->join(1);
  left.leave();
  EXPECT_THROW(left.leave(), OracleFailure);
  EXPECT_THROW(left.submit(0), OracleFailure);
  EXPECT_THROW(static_cast<void>(left.predict(1)), OracleFailure);
  EXPECT_THROW(static_cast<void>(left.next(0)), OracleFailure);
  EXPECT_THROW(left.event("a"), OracleFailure);
  EXPECT_THROW(stream.event(""), OracleFailure);
  oracle->close();
  EXPECT_THROW(stream.submit(0), OracleFailure);
  oracle.reset();  // before its stream
}

}  // namespace
}  // namespace refrain::misuse_test
