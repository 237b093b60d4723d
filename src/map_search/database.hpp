#pragma once
// Every measurement of a search, in an SQLite file (the paper's profiles database, section 3). A row is a run. A row is
// written when its run has ended, in a transaction of its own, to a write-ahead log: a search that is killed loses the
// run it was in, and nothing else. What a crash of the whole machine takes may be some of the last rows.
//
// A file belongs to one space (fingerprint) and, while it is open, to one search: a second one is refused. The lock is
// one of the operating system's, so it ends with its process, however that ends. Owner: one thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "map_search/evaluator.hpp"
#include "map_search/space.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace refrain::map_search {

/// Why a file is of no use, or takes no more measurements: one sentence that names the file and the reason. What is in
/// the file stays.
class DatabaseError : public std::runtime_error {
 public:
  DatabaseError(const std::string& file, const std::string& reason)
      : std::runtime_error(file + ": " + reason) {}
};

/// What a run was made for. Runs of the final comparison are not mixed with those that chose its candidates, which look
/// better than they are.
enum class Phase : std::uint8_t { search, final };

class Database {
 public:
  /// Opens the file, or makes it. DatabaseError: it cannot be written, is damaged, is of another version, holds another
  /// space's measurements, or another search has it open.
  Database(std::string file, const Space& space);

  /// The runs of a mapping (its text), in the order in which they were made.
  [[nodiscard]] std::vector<Run> runs(const std::string& mapping, Phase phase) const;
  /// `number`: of this run among the mapping's, from 0. DatabaseError when the disk is full, for instance.
  void add(const std::string& mapping, Phase phase, std::size_t number, const Run& run);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  [[nodiscard]] Statement prepare(const char* text) const;
  /// Runs statements that have no results.
  void execute(const char* text) const;
  /// The first column of the only row.
  [[nodiscard]] std::int64_t number_of(const char* query) const;
  void make(const std::string& fingerprint_of_space);
  void check_owner(const std::string& fingerprint_of_space) const;
  [[noreturn]] void fail() const;

  std::string file_;
  std::unique_ptr<sqlite3, Close> database_;
  Statement select_, insert_;
};

}  // namespace refrain::map_search
