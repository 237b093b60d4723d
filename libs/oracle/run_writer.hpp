#pragma once
// Writes the file of a run (run_format.hpp): one creates it, then each process of the run appends what its threads have
// recorded so far, again and again. What is complete in the file stays, whoever is killed and when, and if the disk is
// full; not if the machine stops.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "oracle/descriptor.hpp"
#include "oracle/run_format.hpp"
#include "oracle/thread_record.hpp"

namespace refrain::oracle {

/// FileError: what is there is no file of a run and not empty, and so is not to be replaced.
void check_replaceable(const std::string& path);

/// A run of nothing so far. The new file takes the place of another run's or of an empty one that is there, or, after a
/// FileError, does not. What else is there is not replaced, but a FileError.
/// `program`: what the run is of; any bytes.
void create_run(const std::string& path, std::string_view program);

/// Any number of threads and processes append at a time; after fork() the child makes its own.
///
/// What has been superseded is taken out of the file now and then: in place, since others have it open. The blocks that
/// count are first copied to the end, if they are not all behind what does not; then the gap at the beginning of the
/// file is made to cover all that is before them; then they are copied into the gap, and another gap behind them; then
/// the first gap is closed, and the file cut off. At each moment all that counts is in the file once, at least, and the
/// later copies count, which are the same. A gap is closed or opened by writing 32 bytes within a page, in which no
/// process is killed halfway.
class RunWriter {
 public:
  /// Of a file that was created. FileError, if it cannot be opened or is none.
  explicit RunWriter(const std::string& path);

  /// From now on nobody else records that process. FileError: somebody has; the same of append(), if somebody does.
  void claim(std::uint32_t process);

  enum class Kind : std::uint8_t {
    snapshot,  ///< more is to come: half of the file may be of what was superseded
    last       ///< an eighth may
  };
  /// Takes the place of what was appended before for the same process and thread. FileError, if it cannot be written or
  /// the run would be too large; the file is then as before, but for a torn end if even that cannot be cut off.
  void append(const ThreadRecord& record, Kind kind = Kind::last);

  [[nodiscard]] FileIdentity file() const { return file_.identity(); }

 private:
  using Thread = std::pair<std::uint32_t, std::uint32_t>;  // its process's number and its own
  /// The last one of a thread.
  struct Block {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  ///< with its header
    std::uint32_t unpacked = 0;
  };

  void pass_what_others_did();
  void pass(const BlockHeader& header);
  void compact();
  void open_gap(std::uint64_t end);
  [[nodiscard]] std::string blocks_at(std::uint64_t offset) const;
  [[nodiscard]] std::uint64_t first_block() const { return begin_ + BlockHeader::kSize; }

  const Descriptor file_;
  const std::uint64_t begin_;  // of the first gap
  std::mutex mutex_;           // threads; processes have the file's lock
  std::optional<std::uint32_t> claimed_;
  std::set<std::uint64_t> own_;  // checksums of what was appended here, a few for each thread
  // As far as is known:
  std::uint64_t end_ = 0;    // of the blocks that are complete; 0: nothing is known
  std::uint32_t moved_ = 0;  // the first gap's number
  std::map<Thread, Block> last_;
  std::uint64_t size_ = 0, unpacked_ = 0;  // of those, in all
};

/// When to append what a thread has recorded so far: when it has grown by a quarter at least, so that of a killed run
/// four fifths are there, if none is put off; by more, if the grammar is large beside the run, and when it has doubled at the latest. So
/// the size of the file is the logarithm of the run's times the grammar's.
class Snapshots {
 public:
  /// `first`: events before the first.
  explicit Snapshots(std::uint64_t first = 64) : next_(first) {}

  [[nodiscard]] bool due(std::uint64_t events) const { return events >= next_; }
  /// One was appended, of so many events and a grammar of so many symbols.
  void taken(std::uint64_t events, std::uint64_t symbols);
  /// It is too soon after the last one. Asked again after a few events: time is waited for, and not their number.
  void put_off(std::uint64_t events) { next_ = events + kFew; }

 private:
  static constexpr std::uint64_t kFew = 64;

  std::uint64_t next_;
};

}  // namespace refrain::oracle
