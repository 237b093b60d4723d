#pragma once
// Whether all ranks make the same calls (control determinism; dynamic control replication, section 5.1). Each call is
// hashed to 128 bits. After every `interval` calls the ranks compare what their hashes make together, by an all-reduce
// that goes on beside the program. Where they differ, rank 0 is sent the calls of that interval by all ranks, and names
// the first that is not the same everywhere.
//
// Threads: the program's thread notes calls. Verdicts come on the thread that polls the mailbox.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
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
  std::uint64_t low = 0, high = 0;  ///< hash of all that the call says
  Where where;
  std::array<char, 40> name{};  ///< as much as fits
};

/// The kinds of its messages; those of others have other numbers.
struct CheckKinds {
  std::uint32_t compare, tell;
};

class ControlCheck {
 public:
  /// Told once, on rank 0, when the ranks differ: the run is to end with this text.
  using Violation = std::function<void(const std::string&)>;

  /// `interval`: calls, at least 1, the same on every rank.
  ControlCheck(net::Mailbox& mailbox, CheckKinds kinds, std::size_t interval, Violation violation);

  /// A call. `what`: all that has to be the same on every rank; `name`, `where`: for the report.
  void note(std::string_view name, const Where& where, std::span<const std::byte> what);
  /// The last call, that the program has ended; what is left is compared.
  void finish(const Where& where);
  /// Comparisons that have begun and not come back. After finish(), 0: all ranks made the same calls. A program that is
  /// far ahead of others waits for it to fall.
  [[nodiscard]] std::size_t open() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->open.size();
  }

 private:
  using Calls = std::vector<NotedCall>;
  enum class Verdict : std::uint8_t { none, agree, differ };
  /// Calls that are being compared.
  struct Comparison {
    std::uint64_t first;  ///< number of the first call
    Calls calls;
    Verdict verdict = Verdict::none;
  };
  /// What verdicts need, which may come after the check has ended. They come in any order, and are looked at in that of
  /// the calls.
  struct Shared {
    net::Mailbox& mailbox;
    CheckKinds kinds;
    Violation violation;
    std::mutex mutex{};
    std::deque<Comparison> open{};  ///< under the mutex, as is what is in it
    bool told = false;              ///< of the first that differs; under the mutex
  };

  void compare();
  static void take_verdict(const std::shared_ptr<Shared>& shared, std::uint64_t first,
                           bool differs);
  static void tell(const std::shared_ptr<Shared>& shared, const Comparison& comparison);

  const std::size_t interval_;
  std::shared_ptr<Shared> shared_;
  std::uint64_t intervals_ = 0, compared_ = 0;  ///< before this one, and their calls
  Calls calls_;                                 ///< of this interval
};

}  // namespace refrain::replication
