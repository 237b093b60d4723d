#pragma once
// How messages get from rank to rank. Implementations: in one process (net/in_process.hpp), to nobody (net/dry.hpp), and
// MPI, a library of its own that is loaded when a launcher of MPI has started the program (net/launcher.hpp).

#include <optional>
#include <string>

#include "net/message.hpp"

namespace refrain::net {

/// One rank's end. The thread that opened it destroys it, when no other uses it. That is collective: it waits for what
/// has been sent, and for the other ranks to do the same. Before, each rank has to have polled all that was sent to it;
/// where a program ends otherwise, it calls abort().
class Transport {
 public:
  virtual ~Transport() = default;

  [[nodiscard]] virtual Rank rank() const = 0;
  [[nodiscard]] virtual Rank ranks() const = 0;

  /// Any thread; returns at once. The message goes from this rank to another one, and arrives whole and once; it may
  /// overtake others.
  virtual void send(Message message) = 0;
  /// Any thread. A message with this header, or more bytes, is awaited, and has not come.
  virtual void expect(const Header& /*header*/) {}
  /// Any thread; returns at once. A message that has arrived, if there is one. Messages in flight get on only while
  /// both ranks call this now and then.
  virtual std::optional<Message> poll() = 0;
  /// Whether a message may be on its way to this rank.
  [[nodiscard]] virtual bool may_come() const { return true; }
  /// Ends all ranks, with an error status, after the text went to standard error.
  [[noreturn]] virtual void abort(const std::string& text) noexcept = 0;
};

}  // namespace refrain::net
