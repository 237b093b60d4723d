#pragma once
// Writes the file of a run (run_format.hpp): one creates it, then each process of the run appends what its threads have
// recorded so far, again and again. What is complete in the file stays, whoever is killed and when, and if the disk is
// full; not if the machine stops.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "oracle/descriptor.hpp"
#include "oracle/thread_record.hpp"

namespace refrain::oracle {

/// A run of nothing so far. The new file takes the place of another run's or of an empty one that is there, or, after a
/// FileError, does not. What else is there is not replaced, but a FileError.
/// `program`: what the run is of; any bytes.
void create_run(const std::string& path, std::string_view program);

/// Any number of threads and processes append at a time; after fork() the child makes its own.
class RunWriter {
 public:
  /// Of a file that was created. FileError, if it cannot be opened or is none.
  explicit RunWriter(const std::string& path);

  /// From now on nobody else records that process. FileError: somebody has; the same of append(), if somebody does.
  void claim(std::uint32_t process);

  /// Takes the place of what was appended before for the same process and thread. FileError, if it cannot be written or
  /// the run would be too large; the file is then as before, but for a torn end if even that cannot be cut off.
  void append(const ThreadRecord& record);

  [[nodiscard]] FileIdentity file() const { return file_.identity(); }

 private:
  using Thread = std::pair<std::uint32_t, std::uint32_t>;  // its process's number and its own

  void pass_what_others_appended();
  /// The last block of that thread has now so many bytes, unpacked.
  void count(Thread thread, std::uint32_t unpacked);

  const Descriptor file_;
  std::mutex mutex_;  // threads; processes have the file's lock
  std::optional<std::uint32_t> claimed_;
  // As far as is known:
  std::uint64_t end_;                         // of the blocks that are complete
  std::map<Thread, std::uint32_t> unpacked_;  // of those that count
  std::uint64_t all_ = 0;                     // the sum of that
};

/// When to append what a thread has recorded so far: when it has grown by a quarter at least, so that of a killed run
/// four fifths are there; by more, if the grammar is large beside the run, and when it has doubled at the latest. So
/// the size of the file is the logarithm of the run's times the grammar's.
class Snapshots {
 public:
  /// `first`: events before the first.
  explicit Snapshots(std::uint64_t first = 64) : next_(first) {}

  [[nodiscard]] bool due(std::uint64_t events) const { return events >= next_; }
  /// One was appended, of so many events and a grammar of so many symbols.
  void taken(std::uint64_t events, std::uint64_t symbols);

 private:
  std::uint64_t next_;
};

}  // namespace refrain::oracle
