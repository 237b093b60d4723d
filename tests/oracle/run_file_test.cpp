// What was recorded, in a file and back; and whatever a file may be instead.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "oracle/brief_time.hpp"
#include "oracle/bytes.hpp"
#include "oracle/error.hpp"
#include "oracle/names.hpp"
#include "oracle/reduction.hpp"
#include "oracle/run_format.hpp"
#include "oracle/run_reader.hpp"
#include "oracle/run_writer.hpp"
#include "oracle/support/random_events.hpp"
#include "oracle/support/slow_reduction.hpp"
#include "oracle/timed_reduction.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_budget.hpp"

namespace refrain::oracle::run_file_test {
namespace {

using test::Random;
using test::TestBudget;

/// A place for a file, which is gone afterwards.
class Place {
 public:
  [[nodiscard]] std::string folder() const { return folder_.path(""); }
  [[nodiscard]] std::string path() const { return folder_.path("run"); }
  [[nodiscard]] std::string bytes() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(std::string_view bytes) const { std::ofstream(path(), std::ios::binary) << bytes; }

 private:
  test::TemporaryFolder folder_;
};

/// The mean as near as files have it; of no event there is none.
bool same(const Delays::Recorded& a, const Delays::Recorded& b) {
  if (a.context != b.context || a.count != b.count) return false;
  return a.count == 0 || std::abs(a.sum - b.sum) <= kBriefTimeError * a.sum;
}
bool same(const ThreadRecord& a, const ThreadRecord& b) {
  return a.process == b.process && a.thread == b.thread && a.names == b.names &&
         a.grammar == b.grammar && a.notes == b.notes &&
         std::ranges::equal(a.delays, b.delays,
                            [](const auto& x, const auto& y) { return same(x, y); });
}
bool same(const std::vector<ThreadRecord>& a, const std::vector<ThreadRecord>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return same(x, y); });
}

/// The message, or "" if there is no FileError.
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const FileError& error) { return error.what(); }
  return "";
}
void expect_error(const std::string& part, const std::function<void()>& action) {
  const std::string message = error_of(action);
  EXPECT_NE(message.find(part), std::string::npos) << "\"" << message << "\" has no: " << part;
}

std::uint64_t number(Random& random) { return random.next() >> random.below(64); }

std::string random_name(Random& random) {
  std::string name(static_cast<std::size_t>(random.below(random.percent(5) ? 300 : 12)), '\0');
  for (char& letter : name) letter = static_cast<char>(random.below(256));
  return name;
}

/// Some use of the rule that a position is in, or none.
std::uint32_t around(Random& random, const Reference& reference, std::uint32_t position) {
  std::vector<std::uint32_t> uses{Delays::kUnknown};
  for (std::uint32_t use = 0; use < reference.grammar().uses().size(); ++use)
    if (reference.use(use).symbol == Symbol::rule(reference.rule_of(position))) uses.push_back(use);
  return random.pick(uses);
}

std::vector<Delays::Recorded> random_delays(Random& random, const Grammar& grammar) {
  const Reference reference(grammar);
  std::vector<Delays::Recorded> delays;
  for (std::uint32_t position = 0; position < grammar.uses().size(); ++position) {
    if (reference.use(position).symbol.is_rule() || random.percent(20)) continue;
    Delays::Context context{position, around(random, reference, position)};
    if (context.around != Delays::kUnknown)
      context.outermost = around(random, reference, context.around);
    context.again = random.percent(30);
    const std::uint64_t count = number(random) >> 16;
    const double mean = std::ldexp(1 + random.below(1000) * 1e-3, random.between(-7, 55));
    delays.push_back({context, mean * static_cast<double>(count), count});
  }
  return delays;
}

Grammar random_recording(Random& random) {
  if (random.percent(50)) return test::random_grammar(random, number(random) / 2 + 4);
  Reduction reduction;
  for (const std::uint32_t event : random_events(random)) reduction.add(event);
  return reduction.grammar();
}

ThreadRecord random_record(Random& random, std::uint32_t process, std::uint32_t thread) {
  ThreadRecord record{process, thread, {}, {}, {}, {}};
  if (!random.percent(5)) record.grammar = random_recording(random);
  record.names.resize(record.grammar.events() + static_cast<std::size_t>(random.below(3)));
  Names names;
  while (names.size() < record.names.size()) names.number(random_name(random));
  for (std::uint32_t event = 0; event < names.size(); ++event) record.names[event] = names[event];
  if (random.percent(60)) record.delays = random_delays(random, record.grammar);
  Names notes;
  for (int i = random.percent(40) ? random.below(4) : 0; i > 0; --i)
    notes.number(random_name(random));
  for (std::uint32_t i = 0; i < notes.size(); ++i)
    record.notes.push_back({notes[i], random_name(random)});
  return record;
}

/// A record that says which of a thread's it is.
ThreadRecord numbered(std::uint32_t process, std::uint32_t thread, std::uint64_t which) {
  return {process, thread, {"an event"}, Grammar({{{Symbol::event(0), which + 1}}}), {}, {}};
}
std::uint64_t number_of(const ThreadRecord& record) { return record.grammar.length(0) - 1; }

/// Three blocks of two threads, and how it came about: after how many bytes which records were there.
struct SmallFile {
  Place place;
  std::string bytes;
  std::vector<std::pair<std::size_t, std::vector<ThreadRecord>>> states;

  SmallFile() {
    create_run(place.path(), "a program");
    note({});
    RunWriter writer(place.path());
    const ThreadRecord first{0,
                             0,
                             {"a", "b"},
                             Grammar({{{Symbol::event(0), 3}, {Symbol::event(1)}}}),
                             {{{0}, 12, 3}},
                             {{"a note", "1"}}};
    const ThreadRecord other{0, 1, {"x"}, Grammar({{{Symbol::event(0), 100}}}), {}, {}};
    ThreadRecord second = first;
    second.grammar = Grammar(
        {{{Symbol::rule(1), 2}, {Symbol::event(0)}}, {{Symbol::event(0)}, {Symbol::event(1), 9}}});
    second.delays = {{{1}, 7, 1}, {{3, 0}, 1.5, 2}};
    writer.append(first);
    note({first});
    writer.append(other);
    note({first, other});
    writer.append(second);
    note({second, other});
    bytes = place.bytes();
  }

 private:
  void note(std::vector<ThreadRecord> records) {
    states.emplace_back(std::filesystem::file_size(place.path()), std::move(records));
  }
};

/// As few bytes as zstd can have them in: as they are.
std::string stored(const std::string& bytes) {
  std::string frame("\x28\xb5\x2f\xfd\xa0", 5);  // one segment, its size in 4 bytes
  store(frame, static_cast<std::uint32_t>(bytes.size()));
  const auto last_block = static_cast<std::uint32_t>(bytes.size() << 3 | 1);
  for (int shift = 0; shift < 24; shift += 8) frame += static_cast<char>(last_block >> shift);
  return frame + bytes;
}
/// Puts a block with right checksums at the end of a file.
void append_block(std::string& file, const std::string& contents, std::uint32_t unpacked) {
  const auto packed = static_cast<std::uint32_t>(contents.size());
  file += block_header({packed, unpacked, 0, 0, checksum(contents)}, file.size()) + contents;
}
void append_block(std::string& file, const std::string& record) {
  append_block(file, stored(record), static_cast<std::uint32_t>(record.size()));
}

std::string mutated(Random& random, std::string bytes) {
  for (int changes = random.between(1, 4); changes > 0; --changes) {
    const auto size = static_cast<int>(bytes.size());
    if (size == 0) return bytes;
    const auto at = static_cast<std::size_t>(random.below(size));
    const auto length = static_cast<std::size_t>(random.between(1, 9));
    const auto byte = [&] { return static_cast<char>(random.next()); };
    switch (random.below(7)) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ 1 << random.below(8)); break;
      case 1: bytes[at] = byte(); break;
      case 2: bytes.erase(at, length); break;
      case 3: bytes.insert(at, length, byte()); break;
      case 4: bytes.resize(at); break;
      case 5:
        bytes.insert(at, bytes.substr(static_cast<std::size_t>(random.below(size)), length));
        break;
      default: bytes[at] = random.percent(50) ? '\xff' : '\0'; break;
    }
  }
  return bytes;
}

TEST(OracleRunFile, RoundTrip) {
  for (TestBudget budget{1000}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    Random random(budget.seed());
    const Place place;
    const std::string program = random_name(random);
    create_run(place.path(), program);
    const auto processes = static_cast<std::uint32_t>(random.between(1, 3));
    std::vector<std::unique_ptr<RunWriter>> writers;
    for (std::uint32_t p = 0; p < processes; ++p)
      writers.push_back(std::make_unique<RunWriter>(place.path()));
    std::map<std::pair<std::uint32_t, std::uint32_t>, ThreadRecord> last;
    for (int blocks = random.below(10); blocks > 0; --blocks) {
      const auto process = static_cast<std::uint32_t>(random.next() % processes);
      const auto thread = static_cast<std::uint32_t>(random.below(3));
      ThreadRecord record = random_record(random, process, thread);
      writers[process]->append(record);
      last.insert_or_assign({process, thread}, std::move(record));
    }
    std::vector<ThreadRecord> expected;
    expected.reserve(last.size());
    for (const auto& [thread, record] : last) expected.push_back(record);
    const RunRecord run = read_run(place.path(), program);
    ASSERT_EQ(run.program, program);
    ASSERT_EQ(run.torn, 0u);
    ASSERT_TRUE(same(run.threads, expected));
  }
}

TEST(OracleRunFile, IsReadAsItIsWritten) {
  const Place place;
  create_run(place.path(), "");
  EXPECT_TRUE(read_run(place.path()).threads.empty());
  RunWriter writer(place.path());
  for (std::uint64_t i = 0; i < 10; ++i) {
    writer.append(numbered(7, 8, i));
    const RunRecord run = read_run(place.path());
    ASSERT_EQ(run.threads.size(), 1u);
    EXPECT_TRUE(same(run.threads[0], numbered(7, 8, i)));
  }
}

TEST(OracleRunFile, ManyThreadsOfAProcess) {
  const Place place;
  create_run(place.path(), "");
  RunWriter writer(place.path());
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t t = 0; t < 8; ++t)
      threads.emplace_back([&writer, t] {
        for (std::uint64_t i = 0; i <= 100; ++i) writer.append(numbered(0, t, i));
      });
  }
  const RunRecord run = read_run(place.path());
  ASSERT_EQ(run.threads.size(), 8u);
  for (const ThreadRecord& record : run.threads) EXPECT_EQ(number_of(record), 100u);
}

/// Runs in a process of its own, which ends with it.
pid_t in_child(const std::function<void()>& action) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    action();
  } catch (...) { ::_exit(1); }
  ::_exit(0);
}
int status_of(pid_t child) {
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(OracleRunFile, ManyProcesses) {
  const Place place;
  create_run(place.path(), "");
  std::vector<pid_t> children;
  for (std::uint32_t p = 0; p < 4; ++p)
    children.push_back(in_child([&place, p] {
      RunWriter writer(place.path());
      for (std::uint64_t i = 0; i <= 200; ++i)
        for (std::uint32_t t = 0; t < 2; ++t) writer.append(numbered(p, t, i));
    }));
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
  const RunRecord run = read_run(place.path());
  ASSERT_EQ(run.threads.size(), 8u);
  EXPECT_EQ(run.torn, 0u);
  for (const ThreadRecord& record : run.threads) EXPECT_EQ(number_of(record), 200u);
}

// Records of many pages, so that some writes are cut short.
TEST(OracleRunFile, OfARunThatIsKilled) {
  const Place place;
  create_run(place.path(), "");
  std::string noise;
  Random random(1);
  for (int i = 0; i < 200'000; ++i) noise += static_cast<char>(random.next());
  for (TestBudget budget{50, 3}; budget.more(); budget.next()) {
    const auto process = static_cast<std::uint32_t>(budget.seed());
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = in_child([&] {
      RunWriter writer(place.path());
      for (std::uint64_t i = 0; i < 1000; ++i) {
        ThreadRecord record = numbered(process, 0, i);
        record.names.push_back(noise);
        writer.append(record);
        if (::write(ends[1], "", 1) != 1) return;
      }
    });
    ::close(ends[1]);
    std::uint64_t appended = 0;  // at least
    char byte = 0;
    for (const int wanted = random.between(1, 4); std::cmp_less(appended, wanted); ++appended)
      ASSERT_EQ(::read(ends[0], &byte, 1), 1);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    status_of(child);
    while (::read(ends[0], &byte, 1) == 1) ++appended;
    ::close(ends[0]);
    const RunRecord run = read_run(place.path());
    ASSERT_EQ(run.threads.size(), process);
    ASSERT_EQ(run.threads.back().process, process);
    ASSERT_GE(number_of(run.threads.back()) + 1, appended);
    ASSERT_EQ(run.threads.back().names.back(), noise);
  }
}

TEST(OracleRunFile, TruncatedAnywhere) {
  const SmallFile small;
  for (std::size_t size = 0; size < small.bytes.size(); ++size) {
    SCOPED_TRACE("after " + std::to_string(size) + " bytes");
    const std::string_view beginning = std::string_view(small.bytes).substr(0, size);
    if (size < small.states[0].first) {
      EXPECT_NE(error_of([&] { (void)run_in(beginning, "file"); }), "");
      continue;
    }
    const auto* state = &small.states[0];
    for (const auto& other : small.states)
      if (other.first <= size) state = &other;
    const RunRecord run = run_in(beginning, "file");
    EXPECT_EQ(run.torn, size - state->first);
    EXPECT_TRUE(same(run.threads, state->second));
  }
}

TEST(OracleRunFile, TornEndsAreCutOffByTheNextToAppend) {
  const SmallFile small;
  const std::size_t begin = small.states[2].first;
  for (std::size_t size = begin; size < small.bytes.size(); ++size) {
    const Place place;
    place.put(small.bytes.substr(0, begin));
    RunWriter writer(place.path());
    place.put(small.bytes.substr(0, size));
    writer.append(numbered(0, 0, 5));
    const RunRecord run = read_run(place.path());
    EXPECT_EQ(run.torn, 0u);
    ASSERT_EQ(run.threads.size(), 2u);
    EXPECT_EQ(number_of(run.threads[0]), 5u);
    EXPECT_TRUE(same(run.threads[1], small.states[2].second[1]));
  }
}

TEST(OracleRunFile, WithAnyBitFlipped) {
  const SmallFile small;
  for (std::size_t bit = 0; bit < 8 * small.bytes.size(); ++bit) {
    std::string bytes = small.bytes;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    EXPECT_NE(error_of([&] { (void)run_in(bytes, "file"); }), "") << "bit " << bit;
  }
}

TEST(OracleRunFile, WithBlocksGoneOrInOtherPlaces) {
  const SmallFile small;
  const std::size_t first = small.states[0].first, second = small.states[1].first;
  std::string bytes = small.bytes;
  bytes.erase(first, second - first);
  expect_error("file: at byte " + std::to_string(first) + ": the header of a block is damaged",
               [&] { (void)run_in(bytes, "file"); });
  bytes = small.bytes + small.bytes.substr(first);
  expect_error("at byte " + std::to_string(small.bytes.size()),
               [&] { (void)run_in(bytes, "file"); });
}

TEST(OracleRunFile, OfAnotherKindVersionOrProgram) {
  const SmallFile small;
  std::string bytes = small.bytes;
  bytes[8] = 1;
  expect_error("file: has version 1 of the format, not 3", [&] { (void)run_in(bytes, "file"); });
  expect_error("file: has version 1 of the format, not 3",
               [&] { (void)run_in(std::string_view(bytes).substr(0, 14), "file"); });
  expect_error("file: is not a file of the oracle", [&] { (void)run_in("#!/bin/sh\n", "file"); });
  expect_error("file: is not a file of the oracle", [&] { (void)run_in("x", "file"); });
  expect_error("file: is empty", [&] { (void)run_in("", "file"); });
  EXPECT_EQ(read_run(small.place.path(), "a program").threads.size(), 2u);
  expect_error(": is of \"a program\", not of \"another\"",
               [&] { (void)read_run(small.place.path(), "another"); });
}

TEST(OracleRunFile, ThatIsNoneOrCannotBeOpened) {
  const Place place;
  const std::string nowhere = place.folder() + "/missing/run";
  const auto all = [](const std::string& path, const std::string& message) {
    expect_error(path + ": " + message, [&] { (void)read_run(path); });
    expect_error(path + ": ", [&] { RunWriter writer(path); });
  };
  all(nowhere, "cannot be opened: No such file or directory");
  expect_error("cannot be opened: No such file", [&] { create_run(nowhere, ""); });
  all(place.folder(), "is no regular file");
  expect_error("is no regular file", [&] { create_run(place.folder(), ""); });
  all("/dev/full", "is no regular file");
  expect_error("is no regular file", [&] { create_run("/dev/full", ""); });
  all("/dev/zero", "is no regular file");
  place.put("");
  all(place.path(), "is empty");
  std::filesystem::resize_file(place.path(), 1ull << 40);  // of no blocks on the disk
  expect_error("has 1099511627776 bytes, more than", [&] { (void)read_run(place.path()); });
}

// What was superseded does not stay, whoever appends: also for those who do not know that blocks were moved.
TEST(OracleRunFile, IsNoLargerThanWhatCounts) {
  for (TestBudget budget{30, 3}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    Random random(budget.seed());
    const Place place;
    create_run(place.path(), "");
    RunWriter one(place.path()), another(place.path());
    std::map<std::uint32_t, ThreadRecord> last;
    for (int blocks = 30; blocks > 0; --blocks) {
      const auto thread = static_cast<std::uint32_t>(random.below(4));
      const bool is_last = random.percent(50);
      ThreadRecord record = random_record(random, 0, thread);
      record.notes = {{"noise", std::string(static_cast<std::size_t>(random.below(3000)), 'x')}};
      for (char& byte : record.notes[0].bytes) byte = static_cast<char>(random.next());
      (random.percent(50) ? one : another)
          .append(record, is_last ? RunWriter::Kind::last : RunWriter::Kind::snapshot);
      last.insert_or_assign(thread, std::move(record));
      const RunRecord run = read_run(place.path());
      ASSERT_EQ(run.torn, 0u);
      ASSERT_EQ(run.threads.size(), last.size());
      for (const ThreadRecord& found : run.threads) ASSERT_TRUE(same(found, last.at(found.thread)));
      const Place fresh;
      create_run(fresh.path(), "");
      RunWriter writer(fresh.path());
      for (const auto& [number, counts] : last) writer.append(counts);
      const std::size_t counts = fresh.bytes().size();
      ASSERT_LE(place.bytes().size(), (is_last ? counts + counts / 8 : 2 * counts) + 256);
    }
  }
}

// Whoever moves blocks may be killed at any moment: a file system that takes no more writes looks like that.
TEST(OracleRunFile, WhereMovingBlocksEnds) {
  for (std::size_t writes = 0; writes < 6; ++writes) {
    SCOPED_TRACE(writes);
    const SmallFile small;
    RunWriter writer(small.place.path());
    std::string bytes = small.place.bytes();
    // The file as it is after so many of the steps, made by hand.
    const std::uint64_t begin = header_size("a program"), first = begin + BlockHeader::kSize;
    const auto gap_at_begin = [&](std::uint64_t end, std::uint32_t number) {
      bytes.replace(
          begin, BlockHeader::kSize,
          block_header(BlockHeader::gap(static_cast<std::uint32_t>(end - first), number), begin));
    };
    const auto block = [&](std::size_t from, std::size_t to, std::uint64_t at) {
      const std::string_view moved = std::string_view(small.bytes).substr(from, to - from);
      BlockHeader header = block_header_in("file", moved.substr(0, BlockHeader::kSize), from);
      return block_header(header, at) + std::string(moved.substr(BlockHeader::kSize));
    };
    const std::size_t end = small.bytes.size();
    const auto copies = [&](std::uint64_t at) {
      std::string all = block(small.states[2].first, end, at);
      return all + block(small.states[1].first, small.states[2].first, at + all.size());
    };
    if (writes > 0) bytes += copies(end);
    if (writes > 1) gap_at_begin(end, 1);
    if (writes > 2) {
      std::string moved = copies(first);
      const std::uint64_t behind = first + moved.size();
      const auto rest = static_cast<std::uint32_t>(bytes.size() - behind - BlockHeader::kSize);
      moved += block_header(BlockHeader::gap(rest), behind);
      bytes.replace(first, writes > 3 ? moved.size() : moved.size() / 2,
                    writes > 3 ? moved : moved.substr(0, moved.size() / 2));
    }
    if (writes > 4) gap_at_begin(first, 2);
    small.place.put(bytes);
    EXPECT_TRUE(same(read_run(small.place.path()).threads, small.states[3].second));
    writer.append(numbered(3, 0, 5));
    const RunRecord run = read_run(small.place.path());
    ASSERT_EQ(run.threads.size(), 3u);
    EXPECT_EQ(run.torn, 0u);
    EXPECT_TRUE(same(run.threads[0], small.states[3].second[0]));
    EXPECT_TRUE(same(run.threads[1], small.states[3].second[1]));
  }
}

TEST(OracleRunFile, CreatedAnew) {
  const SmallFile small;
  RunWriter old(small.place.path());
  create_run(small.place.path(), "another");
  expect_error("has been removed or replaced", [&] { old.append(numbered(0, 0, 1)); });
  const RunRecord run = read_run(small.place.path());
  EXPECT_EQ(run.program, "another");
  EXPECT_TRUE(run.threads.empty());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(small.place.folder()), {}), 1);
}

TEST(OracleRunFile, ThatSomebodyElseChanged) {
  const SmallFile small;
  RunWriter writer(small.place.path());
  small.place.put("short");
  expect_error("at byte 5: the file has become shorter", [&] { writer.append(numbered(0, 0, 1)); });
  EXPECT_EQ(small.place.bytes(), "short");
  const std::string damaged = small.bytes.substr(0, small.states[0].first) + std::string(100, 'x');
  small.place.put(damaged);
  expect_error("the header of a block is damaged", [&] { writer.append(numbered(0, 0, 1)); });
  EXPECT_EQ(small.place.bytes(), damaged);
}

/// No file can grow beyond that; what is written there fails as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(std::size_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(OracleRunFile, OnAFullDisk) {
  const SmallFile small;
  const ThreadRecord more = numbered(0, 2, 1);
  for (std::size_t room = 0; room < 40; ++room) {
    RunWriter writer(small.place.path());
    std::string message;
    {
      const FullDisk full(small.bytes.size() + room);
      message = error_of([&] { writer.append(more); });
    }
    EXPECT_NE(message.find("cannot be written: File too large"), std::string::npos) << message;
    EXPECT_EQ(small.place.bytes(), small.bytes) << room;
  }
  RunWriter writer(small.place.path());
  std::string message;
  {
    const FullDisk full(small.bytes.size() + 1);
    message = error_of([&] { writer.append(more); });
  }
  EXPECT_NE(message, "");
  writer.append(more);  // there is room again
  EXPECT_EQ(read_run(small.place.path()).threads.size(), 3u);
  {
    const FullDisk full(10);
    message = error_of([&] { create_run(small.place.path(), "another"); });
  }
  EXPECT_NE(message, "");
  EXPECT_EQ(read_run(small.place.path()).program, "a program");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(small.place.folder()), {}), 1);
}

TEST(OracleRunFile, ThatSaysMoreThanItHas) {
  const std::string header = run_header("file", "");
  const auto read = [](const std::string& bytes) {
    return [bytes] { (void)run_in(bytes, "file"); };
  };
  std::string file = header;
  append_block(file, stored("x"), std::numeric_limits<std::uint32_t>::max());
  expect_error("a record should have 4294967295 bytes", read(file));
  file = header;
  append_block(file, stored("x"), 1000);
  expect_error("a record has 1 bytes, and should have 1000", read(file));
  file = header;
  append_block(file, stored("xyz"), 1);
  expect_error("cannot be unpacked", read(file));
  file = header;
  append_block(file, "not by zstd", 100);
  expect_error("cannot be unpacked", read(file));
  file = header;
  for (std::uint32_t thread = 0; thread < 5; ++thread)
    file += block_header({0, kLargestRecord, 0, thread, checksum("")}, file.size());
  expect_error("the records should have 335544320 bytes", read(file));
  // More is torn, not believed.
  file = header + block_header({0xffffffff, 1, 0, 0, 0}, header.size()) + "x";
  EXPECT_EQ(run_in(file, "file").torn, BlockHeader::kSize + 1);

  const std::string huge("\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9);
  for (const std::string& record : {huge, '\0' + huge, std::string("\0\1", 2) + huge,
                                    std::string("\0\1\0", 3) + huge, '\1' + huge}) {
    file = header;
    append_block(file, record);
    expect_error("there should be 9223372036854775807 things in 0 bytes", read(file));
  }
  file = header;
  append_block(file, std::string(10, '\xff'));
  expect_error("a number has more than 64 bits", read(file));
  expect_error("program's name should have", [&] {
    std::string bytes = header;
    bytes.replace(12, 4, "\xff\xff\xff\xff", 4);
    (void)run_in(bytes, "file");
  });
}

// What cannot be read again is not written.
TEST(OracleRunFile, OfAsManyRecordsAsThereMayBe) {
  const Place place;
  create_run(place.path(), "a program");
  RunWriter writer(place.path()), another(place.path());
  const auto record = [](std::uint32_t thread, std::size_t size) {
    return ThreadRecord{0, thread, {}, {}, {}, {{"large", std::string(size, 'x')}}};
  };
  constexpr std::size_t most = kLargestRecord - 100;
  for (std::uint32_t thread = 0; thread < 4; ++thread)
    (thread % 2 == 0 ? writer : another).append(record(thread, most));
  expect_error("the records would have 268435",
               [&] { writer.append(record(4, kLargestRun - 4 * most)); });
  writer.append(record(3, most));  // in the place of the last one
  another.append(record(3, most / 2));
  writer.append(record(4, most / 2));
  EXPECT_EQ(read_run(place.path()).threads.size(), 5u);
}

TEST(OracleRunFile, HasTimesAsNearAsItSays) {
  EXPECT_EQ(mean_of(brief(0)), 0);
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const double time = std::ldexp(1 + random.below(1 << 20) * 0x1p-20, random.between(-7, 55));
    ASSERT_LE(std::abs(mean_of(brief(time)) - time), kBriefTimeError * time) << time;
  }
  for (int code = 0; code <= UINT16_MAX; ++code)
    ASSERT_EQ(brief(mean_of(static_cast<BriefTime>(code))), code);
  EXPECT_EQ(brief(0x1p-10), 0);
  EXPECT_EQ(brief(1e300), UINT16_MAX);
}

/// Events with a loop that drifts, and times that depend on the event and on chance, as a record has them.
ThreadRecord drifting_with_times() {
  Random random(3);
  std::vector<std::uint32_t> loop(32);
  for (std::uint32_t& event : loop) event = static_cast<std::uint32_t>(random.below(40));
  ThreadRecord record;
  TimedReduction reduction;
  while (reduction.events() < 100'000) {
    for (int round = 0; round < 20; ++round)
      for (const std::uint32_t event : loop)
        reduction.add(event, 1000 + 100 * event + random.below(200));
    loop[static_cast<std::size_t>(random.below(32))] = static_cast<std::uint32_t>(random.below(40));
  }
  TimedGrammar timed = reduction.grammar();
  record.grammar = std::move(timed.grammar);
  record.delays = std::move(timed.delays);
  for (std::uint32_t event = 0; event < record.grammar.events(); ++event)
    record.names.push_back(std::to_string(event));
  return record;
}

// They were 8.4 with times of eight bytes, and contexts of whole numbers.
TEST(OracleRunFile, ADelayHasFewBytes) {
  const Place place;
  const auto size_of = [&](const ThreadRecord& record) {
    create_run(place.path(), "p");
    RunWriter(place.path()).append(record);
    return place.bytes().size();
  };
  ThreadRecord record = drifting_with_times();
  const auto delays = static_cast<double>(record.delays.size());
  const std::size_t timed = size_of(record);
  record.delays.clear();
  EXPECT_LE(static_cast<double>(timed - size_of(record)) / delays, 3);
}

TEST(OracleRunFile, OfRecordsThatAreNone) {
  const ThreadRecord record{
      0, 0, {"a", "b"}, Grammar({{{Symbol::event(0)}, {Symbol::event(1)}}}), {{{0}, 1, 1}}, {}};
  const Grammar two_rules({{{Symbol::rule(1), 2}}, {{Symbol::event(0), 2}}});
  const auto expect = [](const std::string& bytes, const std::string& message) {
    std::string file = run_header("file", "");
    append_block(file, bytes);
    expect_error("a record is none: " + message, [&] { (void)run_in(file, "file"); });
  };
  const std::string right = encoded(record);
  expect(right + 'x', "1 bytes follow");
  EXPECT_THROW((void)decoded(""), InvalidRecord);
  std::string bytes = right;
  bytes[2] = 'c';  // a name: nothing is wrong
  EXPECT_NO_THROW((void)decoded(bytes));
  bytes[2] = 'b';
  expect(bytes, "two events have the name \"b\"");
  bytes = right;
  bytes.replace(0, 5, "\1\1a", 3);
  expect(bytes, "there are 1 names for 2 events");
  bytes = right;
  bytes[7] = 3;
  expect(bytes, "rule 0 uses rule 1, which is not there");
  bytes = right;
  bytes[8] = 0;
  expect(bytes, "rule 0 has a symbol that does not come");
  bytes = right;
  bytes[12] = 4;  // twice the position
  expect(bytes, "a number is 4, and has to be below 4");
  bytes = right;
  bytes[13] = 1;  // of the uses around
  expect(bytes, "a number is 1, and has to be below 1");
  bytes = encoded({0, 0, {"a"}, two_rules, {{{1}, 1, 1}}, {}});
  bytes[bytes.size() - 6] = 0;  // the position
  expect(bytes, "there are delays of a rule, and not of an event");
  bytes = encoded({0, 0, {"a"}, two_rules, {{{1}, 1, 1}, {{1, 0}, 1, 1}}, {}});
  std::swap(bytes[bytes.size() - 10], bytes[bytes.size() - 9]);  // what is around the two
  expect(bytes, "delays are not in order");
  bytes = encoded({0, 0, {}, {}, {}, {{"n", "1"}, {"m", "2"}}});
  bytes[bytes.size() - 3] = 'n';
  expect(bytes, "two notes have the name \"n\"");
  EXPECT_THROW((void)encoded({0, 0, {"a"}, record.grammar, {}, {}}), InvalidRecord);
  EXPECT_THROW((void)encoded({0, 0, {"a", "a"}, record.grammar, {}, {}}), InvalidRecord);
}

TEST(OracleRunFile, TakesThePlaceOfNothingElse) {
  const Place place;
  place.put("int main() {}");
  expect_error("is there, and not a file of the oracle",
               [&] { create_run(place.path(), "a program"); });
  EXPECT_EQ(place.bytes(), "int main() {}");
  for (const std::string_view begin : {std::string_view(), kMagic.substr(0, 5)}) {
    place.put(begin);
    create_run(place.path(), "a program");
    EXPECT_EQ(read_run(place.path()).program, "a program");
  }
}

TEST(OracleRunFile, ALinkStaysOne) {
  const Place place;
  const std::string target = place.folder() + "/target";
  create_run(target, "before");
  std::filesystem::create_symlink(target, place.path());
  create_run(place.path(), "after");
  EXPECT_TRUE(std::filesystem::is_symlink(place.path()));
  EXPECT_EQ(read_run(target).program, "after");
  EXPECT_EQ(read_run(place.path()).program, "after");
}

// Files: their damage has to be found.
TEST(OracleRunFile, Fuzzed) {
  const SmallFile small;
  std::uint64_t read = 0;
  for (TestBudget budget{1'000'000}; budget.more(); budget.next()) {
    Random random(budget.seed());
    const std::string bytes = mutated(random, small.bytes);
    try {
      const RunRecord run = run_in(bytes, "file");
      ++read;
      bool known = false;
      for (const auto& [size, records] : small.states) known |= same(run.threads, records);
      ASSERT_TRUE(known) << "seed " << budget.seed();
      ASSERT_EQ(run.program, "a program");
    } catch (const FileError&) {}
  }
  EXPECT_GT(read, 0u);
}

/// Of small records.
std::vector<std::string> some_encoded() {
  std::vector<std::string> all;
  for (std::uint64_t seed = 1; all.size() < 50; ++seed) {
    Random random(seed);
    std::string bytes = encoded(random_record(random, 0, 0));
    if (bytes.size() < 150) all.push_back(std::move(bytes));
  }
  return all;
}

// Behind right checksums there is anything: it is refused, or it is a record.
TEST(OracleRunFile, FuzzedRecords) {
  const std::vector<std::string> right = some_encoded();
  std::uint64_t records = 0;
  for (TestBudget budget{1'000'000}; budget.more(); budget.next()) {
    Random random(budget.seed());
    try {
      const ThreadRecord record = decoded(mutated(random, random.pick(right)));
      ++records;
      ASSERT_TRUE(same(decoded(encoded(record)), record)) << "seed " << budget.seed();
    } catch (const OracleError&) {}
  }
  EXPECT_GT(records, 0u);
}

TEST(OracleRunFile, FuzzedBehindTheChecksums) {
  const std::vector<std::string> right = some_encoded();
  std::uint64_t read = 0;
  for (TestBudget budget{100'000}; budget.more(); budget.next()) {
    Random random(budget.seed());
    const std::string record = random.pick(right);
    std::string file = run_header("file", "");
    if (random.percent(50)) {
      const std::string changed = mutated(random, record);
      if (changed.empty()) continue;  // a gap
      append_block(file, changed);
    } else
      append_block(file, mutated(random, stored(record)),
                   static_cast<std::uint32_t>(record.size()));
    try {
      const RunRecord run = run_in(file, "file");
      ++read;
      ASSERT_EQ(run.threads.size(), 1u) << "seed " << budget.seed();
    } catch (const FileError&) {}
  }
  EXPECT_GT(read, 0u);
}

TEST(OracleRunFile, SnapshotsAreFewAndLeaveLittleOut) {
  for (const bool large_grammar : {false, true}) {
    Snapshots snapshots(1000);
    std::uint64_t last = 0;
    int taken = 0;
    for (std::uint64_t events = 1; events <= 10'000'000; ++events) {
      if (snapshots.due(events)) {
        last = events;
        ++taken;
        snapshots.taken(events, large_grammar ? events / 3 : 15);
      }
      if (events >= 1000) { ASSERT_GE(last, large_grammar ? events / 2 : events / 5 * 4); }
    }
    EXPECT_LE(taken, large_grammar ? 15 : 45);
  }
}

}  // namespace
}  // namespace refrain::oracle::run_file_test
