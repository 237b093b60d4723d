#pragma once
// Whether all ranks make the same calls (control determinism; dynamic control replication, section 5.1). After every
// `interval` calls the ranks compare what the hash of their calls is, by an all-reduce that goes on beside the program.
// Where they differ, or where something else is wrong that this may be the cause of, rank 0 is told by all ranks the calls
// that are not known to be the same, and names the first that is not.
//
// The same messages carry proposals, which ranks may make at different calls: what all of them have proposed is agreed,
// at the same call on each.
//
// Threads: the program's thread notes calls (launch/call_log.hpp). What comes from other ranks comes on the thread that
// polls the mailbox. A lock is around what both use otherwise: held for some instructions, but for a report, which copies
// the calls that are not known to be the same.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launch/call_log.hpp"
#include "net/mailbox.hpp"
#include "refrain/where.hpp"

namespace refrain::replication {

/// The kinds of its messages; those of others have other numbers. `tell`: beside the others.
struct CheckKinds {
  std::uint32_t compare, tell;
};

class ControlCheck final : public runtime::CallLog {
 public:
  /// Told once, on rank 0: the run is to end with this text.
  using EndRun = std::function<void(const std::string&)>;

  /// `interval`: calls, at least 1, the same on every rank. Before anything is polled.
  ControlCheck(net::Mailbox& mailbox, CheckKinds kinds, std::size_t interval, EndRun end_run);
  ~ControlCheck();
  ControlCheck(const ControlCheck&) = delete;

  // --- the program's thread ---
  /// Called when the first call of an interval has begun, which does nothing before.
  void at_intervals(std::function<void(const Where&)> then) { at_interval_ = std::move(then); }
  /// The last call of a program; what is left is compared. Another program may go on.
  void finish(runtime::CallName name, const Where& where);
  /// Comparisons that have begun and not come back. After finish(), 0: all ranks made the same calls. A program that is
  /// far ahead of others waits for it to fall.
  [[nodiscard]] std::size_t open() const;
  /// Calls `then` once, when at most so many are open: here, or where the verdict comes. One at a time.
  void when_open(std::size_t most, std::function<void()> then);
  /// After finish(), none is open: what was proposed and is not agreed is forgotten, as the next program may mean something
  /// else by it.
  void end_program();
  /// This rank proposes it, once until it is agreed.
  void propose(std::uint64_t what) { proposed_.push_back(what); }
  /// What is agreed since the last time, first what was agreed first: the same on every rank that asks at the beginning of
  /// the same interval, with at most most_open() open.
  [[nodiscard]] std::vector<std::uint64_t> take_agreed();
  /// Comparisons that a program may be ahead of others.
  [[nodiscard]] std::size_t most_open() const {
    constexpr std::size_t kCalls = 4096;
    return std::clamp<std::size_t>(kCalls / interval_, 2, 16);
  }

  // --- any thread ---
  /// Something is wrong. The ranks tell each other their calls; where these do not differ, the run ends with this text.
  void suspect(const std::string& why);

 private:
  struct Shared;
  static constexpr std::size_t kChunk = 256;  ///< calls
  using Chunk = std::array<runtime::NotedCall, kChunk>;
  ControlCheck(std::shared_ptr<Shared> shared, std::size_t interval);
  void begin_with_room(const char* name, const Where& where) noexcept override;
  void make_room();
  void compare();

  const std::size_t interval_;
  const std::shared_ptr<Shared> shared_;          ///< verdicts may come after the check has ended
  std::uint64_t comparisons_ = 0, compared_ = 0;  ///< begun, and the calls before the last one
  std::vector<std::uint64_t> proposed_;           ///< since then
  std::function<void(const Where&)> at_interval_;
};

}  // namespace refrain::replication
