// The file of all runs: searches that are killed, files that are of no use, disks that take no more.

#include "map_search/database.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "map_search/search.hpp"
#include "map_search/synthetic.hpp"
#include "support/temporary_folder.hpp"

namespace refrain::map_search::test::database_test {
namespace {

using refrain::test::TemporaryFolder;

/// Runs of the same mapping differ; the n-th run of a mapping is always the same. `made` is kept for as long as the test
/// lasts, as the noise of a real program does not begin anew with a process.
class Noisy final : public Evaluator {
 public:
  explicit Noisy(const Program& program) : program_(program) {}
  map_search::Run run(const Mapping& mapping) override {
    if (made == most) ::_exit(0);  // killed: nothing is closed
    ++made;
    map_search::Run result = program_.run(mapping);
    const int number = first_[mapping] + runs[mapping]++;
    const std::uint64_t noise =
        refrain::test::mix(MappingHash()(mapping), static_cast<std::uint64_t>(number));
    result.seconds *= 1 + 0.01 * static_cast<double>(noise % 10);
    if (noise % 50 == 0) result = {Outcome::crashed, 0, 0, 0.5, "signal 11"};
    return result;
  }
  /// So many runs of this mapping were made before.
  void begin_at(const Mapping& mapping, int number) { first_[mapping] = number; }

  int made = 0;
  int most = std::numeric_limits<int>::max();
  std::unordered_map<Mapping, int, MappingHash> runs;

 private:
  const Program& program_;
  std::unordered_map<Mapping, int, MappingHash> first_;
};

/// Runs a function in a process of its own, which ends with it; true if that was well.
template <class Function>
bool in_a_process(Function function) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      ::_exit(function() ? 0 : 1);
    } catch (...) { ::_exit(2); }
  }
  int status = 1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

class MapDatabase : public testing::Test {
 protected:
  MapDatabase() {
    Random random(11);
    program_ = random_program(random, 256);
  }

  [[nodiscard]] std::string path() const { return folder_.path("search.db"); }
  [[nodiscard]] const Space& space() const { return program_.space; }
  [[nodiscard]] static Options options_of(Algorithm algorithm) {
    Options options;
    options.algorithm = algorithm;
    options.limits.runs = 3;
    options.limits.budget = 60;
    options.finalists = 2;
    options.final_runs = 4;
    return options;
  }
  /// What opening the file complains about, without the name of the file.
  [[nodiscard]] std::string complaint(const Space& of) const {
    try {
      const Database database(path(), of);
    } catch (const DatabaseError& error) {
      const std::string text = error.what();
      EXPECT_TRUE(text.starts_with(path() + ": ")) << text;
      return text.substr(path().size() + 2);
    }
    return "none";
  }
  void execute(const char* statements) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, statements, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  TemporaryFolder folder_;
  Program program_;
};

void expect_same(const Result& a, const Result& b) {
  ASSERT_EQ(a.finalists.size(), b.finalists.size());
  for (std::size_t i = 0; i < a.finalists.size(); ++i) {
    EXPECT_EQ(a.finalists[i].mapping, b.finalists[i].mapping);
    EXPECT_EQ(a.finalists[i].measured.seconds.mean, b.finalists[i].measured.seconds.mean);
  }
  EXPECT_EQ(a.counts.proposed, b.counts.proposed);
  EXPECT_EQ(a.counts.evaluated, b.counts.evaluated);
  EXPECT_EQ(a.counts.failed, b.counts.failed);
  EXPECT_EQ(a.spent, b.spent);
}

TEST_F(MapDatabase, KeepsRunsAsTheyAre) {
  const std::string mapping = text(space(), starting_point(space()));
  const std::vector<map_search::Run> runs{
      {Outcome::ok, 1.0 / 3, 1ull << 60, 2.5, ""},
      {Outcome::timeout, 0, 0, 30, "no end after 30 s, 'quoted'"}};
  {
    Database database(path(), space());
    for (std::size_t i = 0; i < runs.size(); ++i) database.add(mapping, Phase::search, i, runs[i]);
    EXPECT_EQ(database.runs(mapping, Phase::search), runs);
  }
  const Database database(path(), space());
  EXPECT_EQ(database.runs(mapping, Phase::search), runs);
  EXPECT_TRUE(database.runs(mapping, Phase::final).empty());
  EXPECT_TRUE(database.runs("another", Phase::search).empty());
}

/// After each number of runs (some of them, for most algorithms) the process is killed; the search that is begun again comes to the same result, and makes
/// those runs only that are missing.
TEST_F(MapDatabase, LetsASearchGoOnWhereItWasKilled) {
  for (const Algorithm algorithm :
       {Algorithm::ccd, Algorithm::ensemble, Algorithm::annealing, Algorithm::exhaustive}) {
    Options options = options_of(algorithm);
    options.limits.budget = 30;
    Noisy whole(program_);
    const Result expected = search(space(), whole, nullptr, options);
    ASSERT_GT(whole.made, 30);
    for (int killed = 0; killed <= whole.made; killed += algorithm == Algorithm::ccd ? 1 : 11) {
      SCOPED_TRACE("killed after " + std::to_string(killed) + " runs");
      std::filesystem::remove(path());
      ASSERT_TRUE(in_a_process([&] {
        Noisy part(program_);
        part.most = killed;
        Database database(path(), space());
        (void)search(space(), part, &database, options);
        return killed == whole.made;
      }));

      Noisy rest(program_);
      Database database(path(), space());
      for (const auto& [mapping, runs] : whole.runs) {
        const std::string name = text(space(), mapping);
        rest.begin_at(mapping, static_cast<int>(database.runs(name, Phase::search).size() +
                                                database.runs(name, Phase::final).size()));
      }
      const Result result = search(space(), rest, &database, options);
      expect_same(result, expected);
      EXPECT_EQ(rest.made, whole.made - killed);
      EXPECT_EQ(result.counts.recorded, static_cast<std::size_t>(killed));
    }
  }
}

TEST_F(MapDatabase, HasRunsForALongerSearchAndForMoreRuns) {
  Database database(path(), space());
  Options options = options_of(Algorithm::cd);
  options.final_runs = 0;
  Calls first(program_), again(program_), more(program_);
  const Result short_one = search(space(), first, &database, options);
  options.algorithm = Algorithm::ccd;
  const Result long_one = search(space(), again, &database, options);
  EXPECT_EQ(long_one.counts.runs + long_one.counts.recorded, 3 * long_one.counts.evaluated);
  EXPECT_GT(long_one.counts.recorded, 0u) << "the starting point at least";
  EXPECT_EQ(short_one.counts.recorded, 0u);
  options.limits.runs = 5;
  options.limits.budget = 100;
  (void)search(space(), more, &database, options);
  EXPECT_EQ(more.made, static_cast<int>(2 * long_one.counts.evaluated));
}

TEST_F(MapDatabase, RefusesASecondSearch) {
  const Database first(path(), space());
  const std::string expected = "another search has it open; wait for its end, or name another file";
  EXPECT_EQ(complaint(space()), expected);
  EXPECT_EQ(complaint(space()), expected) << "being refused takes nobody's lock";
  EXPECT_TRUE(in_a_process([&] { return complaint(space()) == expected; }));
}

TEST_F(MapDatabase, IsFreeAgainWhenItsSearchIsKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Database database(path(), space());
    const std::ofstream open(folder_.path("open"));
    for (;;) ::pause();
  }
  while (!std::filesystem::exists(folder_.path("open"))) ::usleep(1000);
  EXPECT_NE(complaint(space()), "none");
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(complaint(space()), "none");
}

TEST_F(MapDatabase, RefusesAnotherProgramsMeasurements) {
  Space other = space();
  other.program = "another input";
  { const Database database(path(), other); }
  EXPECT_EQ(complaint(space()),
            "it holds measurements of another program, input or machine (search space " +
                fingerprint(other) + ", this one is " + fingerprint(space()) +
                "); name another file");
  EXPECT_EQ(complaint(other), "none") << "nothing was changed";
}

TEST_F(MapDatabase, RefusesAnotherVersion) {
  { const Database database(path(), space()); }
  execute("PRAGMA user_version = 7");
  EXPECT_EQ(complaint(space()),
            "it is of version 7, and this program knows version 1 only; name another file");
}

TEST_F(MapDatabase, RefusesADatabaseOfSomethingElse) {
  execute("CREATE TABLE bookmarks (address TEXT); INSERT INTO bookmarks VALUES ('x')");
  EXPECT_EQ(complaint(space()), "it is a database of something else than a mapping search");
  execute("UPDATE bookmarks SET address = 'y'");
}

TEST_F(MapDatabase, RefusesAFileThatIsNoDatabase) {
  std::ofstream(path()) << std::string(5000, 'x');
  EXPECT_EQ(complaint(space()), "it is not a database; name another file");
  EXPECT_EQ(std::filesystem::file_size(path()), 5000u);
}

TEST_F(MapDatabase, SaysSoWhenItIsDamaged) {
  const std::string mapping = text(space(), starting_point(space()));
  {
    Database database(path(), space());
    for (std::size_t i = 0; i < 200; ++i) database.add(mapping, Phase::search, i, {});
  }
  {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(8192, '\x5a');
  }
  EXPECT_EQ(complaint(space()), "database disk image is malformed");
}

/// A machine that loses its power may lose the end of the log.
TEST_F(MapDatabase, GoesOnWithoutTheEndOfItsLog) {
  const Options options = options_of(Algorithm::cd);
  Calls whole(program_);
  const Result expected = search(space(), whole, nullptr, options);
  for (const double part : {0.0, 0.3, 0.7, 0.99}) {
    std::filesystem::remove(path());
    ASSERT_TRUE(in_a_process([&] {
      Calls calls(program_);
      Database database(path(), space());
      (void)search(space(), calls, &database, options);
      ::_exit(0);  // without closing the file, which would fold the log into it
      return true;
    }));
    const std::string log = path() + "-wal";
    ASSERT_TRUE(std::filesystem::exists(log));
    std::filesystem::resize_file(
        log,
        static_cast<std::uintmax_t>(part * static_cast<double>(std::filesystem::file_size(log))));
    Calls rest(program_);
    Database database(path(), space());
    expect_same(search(space(), rest, &database, options), expected);
    EXPECT_LE(rest.made, whole.made);
  }
}

TEST_F(MapDatabase, NamesTheReasonWhenItCannotBeMade) {
  const std::string missing = folder_.path("missing/search.db");
  try {
    const Database database(missing, space());
    FAIL() << "a folder that is not there";
  } catch (const DatabaseError& error) {
    EXPECT_EQ(error.what(), missing + ": its folder does not exist");
  }
}

/// No rights stop root, so this is tried as another user where it has to be.
TEST_F(MapDatabase, NamesTheReasonWhenItMustNotBeWritten) {
  const auto without_rights = [&](mode_t of_file, mode_t of_folder) {
    const std::string folder = std::filesystem::path(path()).parent_path();
    ::chmod(path().c_str(), of_file);
    ::chmod(folder.c_str(), of_folder);
    const bool root = ::geteuid() == 0;
    EXPECT_TRUE(!root || ::seteuid(65534) == 0);
    const std::string text = complaint(space());
    EXPECT_TRUE(!root || ::seteuid(0) == 0);
    ::chmod(folder.c_str(), 0755);
    return text;
  };
  const std::string forbidden =
      "its permissions, those of its folder, or its file system forbid writing it";
  EXPECT_EQ(without_rights(0, 0555), forbidden) << "nothing is there yet";
  { const Database database(path(), space()); }
  EXPECT_EQ(without_rights(0444, 0777), forbidden);
  EXPECT_EQ(without_rights(0666, 0555), forbidden) << "the log cannot be made";
}

/// A limit for the size of files stands for a full disk.
TEST_F(MapDatabase, KeepsWhatItHasWhenThereIsNoRoom) {
  Options options = options_of(Algorithm::exhaustive);
  options.limits.budget = 10'000;
  Calls whole(program_), part(program_), rest(program_);
  const Result expected = search(space(), whole, nullptr, options);

  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{200'000, before.rlim_max};
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  std::string text;
  {
    Database database(path(), space());
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    try {
      (void)search(space(), part, &database, options);
    } catch (const DatabaseError& error) { text = error.what(); }
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  }
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(text, path() + ": disk I/O error");

  Database database(path(), space());
  expect_same(search(space(), rest, &database, options), expected);
  EXPECT_EQ(rest.made, whole.made - part.made + 1) << "but for the run that could not be written";
}

}  // namespace
}  // namespace refrain::map_search::test::database_test
