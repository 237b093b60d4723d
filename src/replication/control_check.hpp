#pragma once
// Whether all ranks make the same calls (control determinism; dynamic control replication, section 5.1). Each call is
// hashed to 128 bits. After every `interval` calls the ranks compare what their hashes make together, by an all-reduce
// that goes on beside the program. Where they differ, or where something else is wrong that this may be the cause of,
// rank 0 is told by all ranks the calls that are not known to be the same, and names the first that is not.
//
// Threads: the program's thread notes calls, and says how many it has begun; of these all but the last are readable by
// any. What comes from other ranks comes on the thread that polls the mailbox. A lock, held for some instructions, is around
// what both use otherwise.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/mailbox.hpp"
#include "refrain/where.hpp"

namespace refrain::replication {

/// A call, as far as a report about it goes.
struct NotedCall {
  std::uint64_t low, high;  ///< hash of all that the call says, and those before it in its interval
  const char* file;
  std::uint32_t line, name_size;
  std::array<char, 40> name;  ///< as much as fits
};

/// The kinds of its messages; those of others have other numbers. `tell`: beside the others.
struct CheckKinds {
  std::uint32_t compare, tell;
};

class ControlCheck {
 public:
  /// Told once, on rank 0: the run is to end with this text.
  using EndRun = std::function<void(const std::string&)>;

  /// `interval`: calls, at least 1, the same on every rank. Before anything is polled.
  ControlCheck(net::Mailbox& mailbox, CheckKinds kinds, std::size_t interval, EndRun end_run);
  ~ControlCheck();
  ControlCheck(const ControlCheck&) = delete;

  // --- the program's thread ---
  /// A call begins. `name`, `where`: for the report; of these the name has to be the same. Whether it is the first of an
  /// interval.
  bool begin(std::string_view name, const Where& where) noexcept;
  /// Of the call that has begun, something that has to be the same.
  void add(std::uint64_t word) { hash_.add(word); }
  /// The last call; what is left is compared.
  void finish(std::string_view name, const Where& where);
  /// Comparisons that have begun and not come back. After finish(), 0: all ranks made the same calls. A program that is
  /// far ahead of others waits for it to fall.
  [[nodiscard]] std::size_t open() const;
  /// Calls `then` once, when at most so many are open: here, or where the verdict comes. One at a time.
  void when_open(std::size_t most, std::function<void()> then);

  // --- any thread ---
  /// Something is wrong. The ranks tell each other their calls; where these do not differ, the run ends with this text.
  void suspect(const std::string& why);

 private:
  struct Shared;
  static constexpr std::size_t kChunk = 256;  ///< calls
  using Chunk = std::array<NotedCall, kChunk>;
  /// 128 bits, word by word.
  struct Hash {
    std::uint64_t low = 0, high = 0;
    void add(std::uint64_t word) {
      low = mix(low ^ word, 0x9e3779b97f4a7c15u);
      high = mix(high + word, 0xc2b2ae3d27d4eb4fu);
    }
    static std::uint64_t mix(std::uint64_t value, std::uint64_t factor) {
      value *= factor;
      return value ^ value >> 32;
    }
  };
  void end_call();
  bool make_room() noexcept;
  bool try_to_make_room();
  void compare(std::size_t calls);

  const std::size_t interval_;
  const std::shared_ptr<Shared> shared_;  ///< verdicts may come after the check has ended
  Hash hash_;                             ///< of the calls of this interval
  std::uint64_t intervals_ = 0;
  NotedCall none_{};          ///< before the first call
  NotedCall* call_ = &none_;  ///< the last one that has begun
  std::size_t left_ = 0;      ///< calls until an interval ends or a chunk is full
};

}  // namespace refrain::replication
