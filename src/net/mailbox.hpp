#pragma once
// Messages that are awaited, and messages that have come: each pair of ranks numbers its messages, and both ends know
// from the program's calls which message has which number. So a message is matched by its number alone, and what its
// header says beside has to be what was expected.
//
// Threads: numbers are given out by one thread, in the order of the program's calls; all else by any. A lock is held
// while tables are looked at, not while a message is taken.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "net/transport.hpp"

namespace refrain::net {

class Mailbox {
 public:
  /// What becomes of a message. It may send and await others.
  using Take = std::function<void(Message)>;
  /// Told of a message that is not what was expected: then the ranks' programs differ, and all that follows is void.
  /// Ends the run, by Transport::abort unless told otherwise.
  using Mismatch = std::function<void(const Header& expected, const Header& found)>;

  explicit Mailbox(std::unique_ptr<Transport> transport, Mismatch mismatch = nullptr);

  [[nodiscard]] Rank rank() const { return transport_->rank(); }
  [[nodiscard]] Rank ranks() const { return transport_->ranks(); }
  [[nodiscard]] Transport& transport() { return *transport_; }
  [[nodiscard]] const Transport& transport() const { return *transport_; }

  /// The header of the next message to a rank, and from one; the size is the sender's to fill in.
  [[nodiscard]] Header next_to(Rank rank, std::uint32_t kind, std::uint64_t call,
                               std::uint32_t argument = 0);
  [[nodiscard]] Header next_from(Rank rank, std::uint32_t kind, std::uint64_t call,
                                 std::uint32_t argument = 0);

  void send(Message message) { transport_->send(std::move(message)); }
  /// The message is taken when it comes, on the thread that polls, or here if it has come.
  void await(const Header& expected, Take take);
  /// Takes in what has arrived. Whether there was anything.
  bool poll();
  /// The messages that are awaited, by rank and number.
  [[nodiscard]] std::vector<Header> awaited() const;

 private:
  struct Awaited {
    Header header;
    Take take;
  };
  using Key = std::pair<Rank, std::uint64_t>;  ///< from whom, and the number

  void hand_over(const Awaited& awaited, Message message);

  const std::unique_ptr<Transport> transport_;
  const Mismatch mismatch_;
  std::vector<std::uint64_t> sent_, received_;  ///< numbers given out, by rank
  mutable std::mutex mutex_;
  std::map<Key, Awaited> awaited_;  ///< under the mutex
  std::map<Key, Message> come_;     ///< and not awaited yet; under the mutex
};

}  // namespace refrain::net
