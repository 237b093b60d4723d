#pragma once
// Messages that are awaited, and messages that have come: each pair of ranks numbers its messages, and both ends know
// from the program's calls which message has which number. So a message is matched by its number alone, and what its
// header says beside has to be what was expected. Messages beside these, of kinds that are *served*, have no number and
// are taken when they come.
//
// Threads: numbers are given out by one thread, in the order of the program's calls; all else by any. A lock is held
// while tables are looked at, not while a message is taken.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "net/transport.hpp"
#include "refrain/where.hpp"

namespace refrain::net {

/// A message that is to come, and the line of the program's call that awaits it.
struct Expected {
  Header header;
  Where where;
};

/// A message with a number that has been sent, or has come and been taken in; nanoseconds of profile/clock.hpp.
struct Passed {
  const Header& header;
  bool received;
  Where where;  ///< of the call that has awaited it
  std::uint64_t begin_ns, end_ns;
};

/// What a kind of message is called in reports, as in "values".
using KindName = std::string (*)(std::uint32_t kind);
inline std::string kind_by_number(std::uint32_t kind) { return "kind " + std::to_string(kind); }

/// The bytes of a message cannot be what its header says: the ranks' programs differ.
class WrongMessage : public std::runtime_error {
 public:
  WrongMessage() : std::runtime_error("a message has other bytes than are expected") {}
};

class Mailbox {
 public:
  /// What becomes of a message. It may send and await others. WrongMessage: then it is not what was expected.
  using Take = std::function<void(Message)>;
  /// Told of a message that is not what was expected: then the ranks' programs differ, and all that follows is void.
  /// Ends the run, by Transport::abort unless told otherwise.
  using Mismatch = std::function<void(const Expected& expected, const Message& found)>;

  using Watch = std::function<void(const Passed&)>;

  explicit Mailbox(std::unique_ptr<Transport> transport, Mismatch mismatch = nullptr,
                   KindName kind_name = kind_by_number);

  [[nodiscard]] Rank rank() const { return transport_->rank(); }
  [[nodiscard]] Rank ranks() const { return transport_->ranks(); }
  [[nodiscard]] Transport& transport() { return *transport_; }
  [[nodiscard]] const Transport& transport() const { return *transport_; }

  /// The number of the next message to a rank, and from one.
  [[nodiscard]] std::uint64_t next_to(Rank rank) { return sent_[rank]++; }
  [[nodiscard]] std::uint64_t next_from(Rank rank) { return received_[rank]++; }
  /// Its header; the size is the sender's to fill in.
  [[nodiscard]] Header next_to(Rank rank, std::uint32_t kind, std::uint64_t call,
                               std::uint32_t argument = 0);
  [[nodiscard]] Header next_from(Rank rank, std::uint32_t kind, std::uint64_t call,
                                 std::uint32_t argument = 0);

  void send(Message message);
  /// These bytes, part after part. OutOfMemory as of Message::of_size.
  void send(const Header& header, std::initializer_list<std::span<const std::byte>> parts);
  /// The message, which has at least as many bytes as `expected` says, is taken when it comes, on the thread that polls,
  /// or here if it has come.
  void await(const Header& expected, const Where& where, Take take);
  /// While nobody polls: messages of this kind have no number. Null: they are kept for who serves the kind next.
  void serve(std::uint32_t kind, Take take);
  /// The header of one.
  [[nodiscard]] Header beside(Rank to, std::uint32_t kind) const {
    return {.from = rank(), .to = to, .kind = kind};
  }
  /// Takes in what has arrived. Whether there was anything.
  bool poll();
  /// Who is told of each message, on the thread that sends or polls; null: nobody. While nothing is sent, and nobody polls.
  void set_watch(Watch watch) { watch_ = std::move(watch); }

  /// The messages that are awaited, by rank and number.
  [[nodiscard]] std::vector<Expected> awaited() const;
  /// "values of call 12, argument 1, of rank 0, for main.cpp:33".
  [[nodiscard]] std::string text_of(const Expected& expected) const;
  /// Messages with numbers, so far.
  [[nodiscard]] std::uint64_t sent() const { return all_sent_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t received() const {
    return all_received_.load(std::memory_order_relaxed);
  }

 private:
  struct Awaited {
    Expected expected;
    Take take;
  };
  /// The messages of one rank that are awaited or have come, but not both yet, by number.
  class Line {
   public:
    struct Slot {
      std::optional<Message> come{};
      std::optional<Awaited> awaited{};
      bool over = false;
    };
    Slot& at(std::uint64_t number) {
      while (first_ + slots_.size() <= number) slots_.emplace_back();
      return slots_[number - first_];
    }
    /// Both are there.
    void end(std::uint64_t number) {
      slots_[number - first_].over = true;
      for (; !slots_.empty() && slots_.front().over; ++first_) slots_.pop_front();
    }
    [[nodiscard]] const std::deque<Slot>& slots() const { return slots_; }

   private:
    std::uint64_t first_ = 0;
    std::deque<Slot> slots_;
  };

  void hand_over(const Awaited& awaited, Message message);
  void refuse(const Expected& expected, const Message& found);

  const std::unique_ptr<Transport> transport_;
  const Mismatch mismatch_;
  const KindName kind_name_;
  Watch watch_;
  std::map<std::uint32_t, Take> served_;                      ///< by kind
  std::vector<Message> kept_;                                 ///< of kinds whose Take is null
  std::vector<std::uint64_t> sent_, received_;                ///< numbers given out, by rank
  std::atomic<std::uint64_t> all_sent_{0}, all_received_{0};  ///< relaxed: counts
  mutable std::mutex mutex_;
  std::vector<Line> lines_;  ///< by rank; under the mutex
};

}  // namespace refrain::net
