#pragma once
// The operations by which shards send each other what they have, as recordings and replays know them: a message of values
// of an argument is made again by each replay, one of contributions is there once for each replay in flight, an exchange
// about futures is another one in each. Who makes them is replication/.
//
// Threads: Message::next and Contributions::begin are called by the context's thread, in the order of the program's
// messages; the rest by any.

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

#include "data/index_space.hpp"
#include "graph/executor.hpp"
#include "graph/failure.hpp"

namespace refrain::analysis {

struct FoldPayload;
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

/// What launch points contribute to points of one argument that another shard folds, on its way there: a section for each
/// launch point that gives something. The sections are put in by operations of the points; the last one sends the message.
/// Where it comes, one operation awaits it, after which the folds fetch their sections.
class Contributions {
 public:
  virtual ~Contributions() = default;

  /// The same of other replays.
  [[nodiscard]] virtual std::shared_ptr<Contributions> again() const = 0;
  /// For a call of the program: the turn is that of the next message, and nothing has been put in or has come.
  virtual void begin(std::uint64_t call) = 0;

  /// Takes a section from `contribution`, with its failure. What the operator throws becomes the failure that fail() makes.
  virtual void put(FoldPayload& contribution,
                   const std::function<exec::FailureRef(const std::exception_ptr&)>& fail) = 0;
  /// `later`: completed when the message is here.
  virtual void receive(exec::LaterCompletion later) = 0;
  /// Gives a section to `fold`, or its failure. Throws what the operator does.
  virtual void fetch(FoldPayload& fold) = 0;
};

/// What the operation that awaits them works on.
struct TakePayload {
  std::shared_ptr<Contributions> taken;
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
