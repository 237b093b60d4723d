#pragma once
// The operations by which shards send each other what they have, as recordings and replays know them: a message of values
// of an argument is made again by each replay, an exchange about futures is another one in each. Who makes them is
// replication/.
//
// Threads: Message::next is called by the context's thread, in the order of the program's messages; the rest by any.

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

#include "data/index_space.hpp"
#include "graph/executor.hpp"
#include "graph/failure.hpp"

namespace refrain::analysis {

struct Instance;

class Message {
 public:
  virtual ~Message() = default;

  /// What tells the messages of two replays apart.
  struct Turn {
    std::uint64_t number = 0, call = 0;  ///< among those of its sender and receiver; of the program
  };
  /// The turn of the next message like this one.
  virtual Turn next(std::uint64_t call) = 0;

  /// Whether it is awaited here. Else it is sent.
  [[nodiscard]] virtual bool is_received() const = 0;
  virtual void send(const Instance& from, const Turn& turn) const = 0;
  /// `later`: completed when the values are in the instance.
  virtual void receive(const Instance& into, const Turn& turn,
                       exec::LaterCompletion later) const = 0;
};

/// What the operation of a message works on.
struct MessagePayload {
  const Instance* instance = nullptr;
  data::IndexSpaceRef points;
  std::shared_ptr<Message> message;
};

/// An operation by which shards exchange values of futures. It is made once, for the call or for a replay of it.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  virtual ~Exchange() = default;

  /// What its run may ask the operation for.
  struct Running {
    std::function<exec::LaterCompletion()> later;  ///< as exec::complete_later
    std::function<exec::FailureRef(const std::exception_ptr&)> fail;
  };
  /// Any thread.
  virtual void run(const Running& running) = 0;
  /// Whether `run` may ask for it.
  [[nodiscard]] virtual bool completes_later() const { return false; }
};

/// What the operation of such an exchange works on, as far as a recording goes.
struct ExchangePayload {
  bool completes_later = false;
};

}  // namespace refrain::analysis
