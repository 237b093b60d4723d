#include "map_search/database.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace refrain::map_search {

namespace {

/// "RfMs", in the file's header: SQLite files of other programs have other numbers, most of them 0.
constexpr std::int64_t our_files = 0x52664d73;
/// Of the tables below. Files of another version are refused, not converted: a search can be made again.
constexpr std::int64_t version = 1;

constexpr const char* not_permitted =
    "its permissions, those of its folder, or its file system forbid writing it";

constexpr const char* tables = R"(
  CREATE TABLE space (fingerprint TEXT NOT NULL);
  CREATE TABLE runs (
    mapping TEXT NOT NULL, phase INTEGER NOT NULL, number INTEGER NOT NULL, outcome TEXT NOT NULL,
    seconds REAL NOT NULL, bytes INTEGER NOT NULL, cost REAL NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (mapping, phase, number)) WITHOUT ROWID;
)";

void bind_text(sqlite3_stmt* statement, int at, const std::string& text) {
  sqlite3_bind_text(statement, at, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

std::string text_column(sqlite3_stmt* row, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  return text == nullptr
             ? std::string()
             : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
}

/// A statement is used again and again; it must not keep its locks and values in between.
struct Reset {
  sqlite3_stmt* statement;
  ~Reset() { sqlite3_reset(statement); }
};

}  // namespace

void Database::Close::operator()(sqlite3* database) const { sqlite3_close(database); }
void Database::Close::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Database::Database(std::string file, const Space& space) : file_(std::move(file)) {
  sqlite3* opened = nullptr;
  const int result =
      sqlite3_open_v2(file_.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  database_.reset(opened);
  if (result != SQLITE_OK) fail();
  sqlite3_extended_result_codes(opened, 1);
  // SQLite opens what it must not write for reading, and fails at the first lock without a reason.
  if (sqlite3_db_readonly(opened, "main") == 1) throw DatabaseError(file_, not_permitted);
  // The first access takes the lock, and keeps it.
  execute("PRAGMA locking_mode = EXCLUSIVE");
  execute("BEGIN EXCLUSIVE");
  const std::string own = fingerprint(space);
  if (number_of("SELECT count(*) FROM sqlite_master") == 0) make(own);
  else check_owner(own);
  // A write, so that it is known now and not after the first run whether the file takes any.
  execute("UPDATE space SET fingerprint = fingerprint");
  execute("COMMIT");
  execute("PRAGMA journal_mode = WAL");
  // The log is forced to the disk at checkpoints, not after each row: a killed process loses nothing by that.
  execute("PRAGMA synchronous = NORMAL");
  select_ = prepare(
      "SELECT number, outcome, seconds, bytes, cost, text FROM runs WHERE mapping = ? AND phase = "
      "? "
      "ORDER BY number");
  insert_ = prepare("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
}

void Database::make(const std::string& fingerprint_of_space) {
  execute(("PRAGMA application_id = " + std::to_string(our_files)).c_str());
  execute(("PRAGMA user_version = " + std::to_string(version)).c_str());
  execute(tables);
  const Statement insert = prepare("INSERT INTO space VALUES (?)");
  bind_text(insert.get(), 1, fingerprint_of_space);
  if (sqlite3_step(insert.get()) != SQLITE_DONE) fail();
}

void Database::check_owner(const std::string& fingerprint_of_space) const {
  if (number_of("PRAGMA application_id") != our_files)
    throw DatabaseError(file_, "it is a database of something else than a mapping search");
  if (const std::int64_t found = number_of("PRAGMA user_version"); found != version)
    throw DatabaseError(file_, "it is of version " + std::to_string(found) +
                                   ", and this program knows version " + std::to_string(version) +
                                   " only; name another file");
  const Statement select = prepare("SELECT fingerprint FROM space");
  if (sqlite3_step(select.get()) != SQLITE_ROW) fail();
  if (const std::string found = text_column(select.get(), 0); found != fingerprint_of_space)
    throw DatabaseError(
        file_, "it holds measurements of another program, input or machine (search space " + found +
                   ", this one is " + fingerprint_of_space + "); name another file");
}

std::vector<Run> Database::runs(const std::string& mapping, Phase phase) const {
  const Reset reset{select_.get()};
  bind_text(select_.get(), 1, mapping);
  sqlite3_bind_int(select_.get(), 2, static_cast<int>(phase));
  std::vector<Run> found;
  int result = SQLITE_OK;
  while ((result = sqlite3_step(select_.get())) == SQLITE_ROW) {
    const auto outcome = std::ranges::find(outcome_names, text_column(select_.get(), 1));
    if (sqlite3_column_int64(select_.get(), 0) != static_cast<std::int64_t>(found.size()) ||
        outcome == outcome_names.end())
      throw DatabaseError(file_,
                          "its runs of mapping '" + mapping + "' are damaged; name another file");
    found.push_back({static_cast<Outcome>(outcome - outcome_names.begin()),
                     sqlite3_column_double(select_.get(), 2),
                     static_cast<std::uint64_t>(sqlite3_column_int64(select_.get(), 3)),
                     sqlite3_column_double(select_.get(), 4), text_column(select_.get(), 5)});
  }
  if (result != SQLITE_DONE) fail();
  return found;
}

void Database::add(const std::string& mapping, Phase phase, std::size_t number, const Run& run) {
  const Reset reset{insert_.get()};
  bind_text(insert_.get(), 1, mapping);
  sqlite3_bind_int(insert_.get(), 2, static_cast<int>(phase));
  sqlite3_bind_int64(insert_.get(), 3, static_cast<std::int64_t>(number));
  bind_text(insert_.get(), 4, std::string(name(run.outcome)));
  sqlite3_bind_double(insert_.get(), 5, run.seconds);
  sqlite3_bind_int64(insert_.get(), 6, static_cast<std::int64_t>(run.bytes));
  sqlite3_bind_double(insert_.get(), 7, run.cost);
  bind_text(insert_.get(), 8, run.text);
  if (sqlite3_step(insert_.get()) != SQLITE_DONE) fail();
}

Database::Statement Database::prepare(const char* text) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), text, -1, &statement, nullptr) != SQLITE_OK) fail();
  return Statement(statement);
}

void Database::execute(const char* text) const {
  if (sqlite3_exec(database_.get(), text, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

std::int64_t Database::number_of(const char* query) const {
  const Statement statement = prepare(query);
  if (sqlite3_step(statement.get()) != SQLITE_ROW) fail();
  return sqlite3_column_int64(statement.get(), 0);
}

void Database::fail() const {
  switch (sqlite3_errcode(database_.get()) & 0xff) {
    case SQLITE_BUSY:
      throw DatabaseError(file_,
                          "another search has it open; wait for its end, or name another file");
    case SQLITE_NOTADB: throw DatabaseError(file_, "it is not a database; name another file");
    case SQLITE_FULL:
      throw DatabaseError(file_,
                          "the disk is full; all measurements before are in the file, and the "
                          "search goes on from them once there is room");
    case SQLITE_READONLY: throw DatabaseError(file_, not_permitted);
    case SQLITE_CANTOPEN: {
      const std::filesystem::path folder = std::filesystem::path(file_).parent_path();
      const bool there = folder.empty() || std::filesystem::exists(folder);
      throw DatabaseError(file_, there ? not_permitted : "its folder does not exist");
    }
    default: throw DatabaseError(file_, sqlite3_errmsg(database_.get()));
  }
}

}  // namespace refrain::map_search
