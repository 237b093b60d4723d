#include "replication/exchanges.hpp"

#include <cstring>
#include <utility>

#include "launch/future_state.hpp"
#include "refrain/error.hpp"

namespace refrain::replication {

using analysis::Exchange;
using exec::FailureRef;
using refrain::detail::FutureState;

namespace {

/// Of a value in a message; of one that is packed, at least.
std::size_t size_of(const ResultType& type) { return type.packing == nullptr ? type.size : 0; }

void write_value(Writer& to, const refrain::detail::FutureState& state, std::size_t rank) {
  const ResultType& type = state.type();
  if (type.packing == nullptr)
    return to.bytes({static_cast<const std::byte*>(state.value(rank)), type.size});
  Packer packer;
  type.packing->pack(packer, state.value(rank));
  to.number(packer.packed().size());
  to.bytes(packer.packed());
}

/// Makes the value that write_value() has written.
void read_value(Reader& from, refrain::detail::FutureState& state, std::size_t rank) {
  const ResultType& type = state.type();
  if (type.packing == nullptr) {
    std::memcpy(state.storage(rank), from.bytes(type.size).data(), type.size);
  } else {
    Unpacker unpacker(from.bytes(from.number()));
    type.packing->unpack(unpacker, state.storage(rank));
    state.constructed(rank);
    if (unpacker.left() > 0)
      throw UsageError("Unpacker: " + std::to_string(unpacker.left()) +
                       " bytes left: a type is not unpacked as it was packed");
  }
  state.finish(rank);
}

/// Settles values, or their failures.
void read_values(Reader from, FutureState& into, const std::vector<std::size_t>& ranks,
                 KnownFailures& failures) {
  for (const std::size_t rank : ranks) {
    if (from.number() == 0) {
      read_value(from, into, rank);
    } else {
      from.bytes(size_of(into.type()));
      into.fail(rank, failures.read(from));
    }
  }
  if (!from.at_end()) throw net::WrongMessage();
}

class SendValues final : public Exchange {
 public:
  SendValues(net::Mailbox& mailbox, KnownFailures& failures, const AnyFuture& future,
             const AnyFuture& whole, std::vector<std::size_t> ranks,
             std::vector<net::Header> headers)
      : mailbox_(mailbox),
        failures_(failures),
        future_(future),
        whole_(whole),
        ranks_(std::move(ranks)),
        headers_(std::move(headers)) {}

  void run(const Running& /*running*/) override {
    const FutureState& state = *future_.state();
    Writer writer;
    const std::vector<std::byte> none(size_of(state.type()));
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const FailureRef& failure = state.failure(rank);
      writer.number(failure != nullptr ? 1 : 0);
      if (failure == nullptr) {
        write_value(writer, state, rank);
      } else {
        writer.bytes(none);
        failures_.write(writer, failure);
      }
    }
    for (const net::Header& header : headers_) mailbox_.send(header, {writer.bytes()});
    if (whole_.valid()) read_values(Reader(writer.bytes()), *whole_.state(), ranks_, failures_);
  }

 private:
  net::Mailbox& mailbox_;
  KnownFailures& failures_;
  const AnyFuture future_, whole_;
  const std::vector<std::size_t> ranks_;
  const std::vector<net::Header> headers_;
};

/// Awaits a message, which `take_in` puts where it belongs.
class Receive final : public Exchange {
 public:
  using TakeIn = std::function<void(const net::Message&)>;
  Receive(net::Mailbox& mailbox, const Where& where, const net::Header& header, TakeIn take_in)
      : mailbox_(mailbox), where_(where), header_(header), take_in_(std::move(take_in)) {}

  [[nodiscard]] bool completes_later() const override { return true; }
  void run(const Running& running) override {
    mailbox_.await(header_, where_,
                   [self = shared_from_this(), this,
                    later = running.later()](const net::Message& message) mutable {
                     try {
                       take_in_(message);
                     } catch (const net::WrongMessage&) {
                       throw;  // the mailbox says what is wrong
                     } catch (...) { return later.fail(std::current_exception()); }
                     later.complete();
                   });
  }

 private:
  net::Mailbox& mailbox_;
  const Where where_;
  const net::Header header_;
  const TakeIn take_in_;
};

class ReduceValues final : public Exchange {
 public:
  ReduceValues(net::Mailbox& mailbox, KnownFailures& failures, SharedReduction reduction,
               std::vector<std::shared_ptr<PartialResults>> below, std::optional<net::Header> above)
      : mailbox_(mailbox),
        failures_(failures),
        reduction_(std::move(reduction)),
        below_(std::move(below)),
        above_(above) {}

  [[nodiscard]] bool completes_later() const override { return true; }
  void run(const Running& running) override {
    PartialResults results(*reduction_.op, reduction_.points);
    try {
      results.add(*reduction_.values.state(), reduction_.ranks);
      for (const auto& below : below_) results.add(std::move(*below));
      results.combine();
    } catch (...) {  // the operator is the program's
      results.fail(running.fail(std::current_exception()));
    }
    if (above_) {
      Writer writer;
      results.write(writer, failures_);
      return mailbox_.send(*above_, {writer.bytes()});
    }
    FutureState& made = *reduction_.result.state();
    if (results.failure() != nullptr) return made.fail(0, results.failure());
    if (!results.is_complete() && !reduction_.dry) {
      static_cast<void>(running.later());  // it does not end: the ranks are told why
      return reduction_.suspect("refrain: reduce at " + to_string(reduction_.where) +
                                ": no rank has the values of some points of the launch, so they do "
                                "not agree on who runs which: a mapper's sharding, or a sharding "
                                "function, is not the same on all of them");
    }
    results.take(static_cast<std::byte*>(made.storage(0)));
    made.finish(0);
  }

 private:
  net::Mailbox& mailbox_;
  KnownFailures& failures_;
  const SharedReduction reduction_;
  const std::vector<std::shared_ptr<PartialResults>> below_;
  const std::optional<net::Header> above_;
};

}  // namespace

std::size_t bytes_of(const AnyFuture& future, std::size_t values) {
  return values * (sizeof(std::uint64_t) + size_of(future.state()->type()));
}

std::shared_ptr<Exchange> send_values(net::Mailbox& mailbox, KnownFailures& failures,
                                      const AnyFuture& future, const AnyFuture& whole,
                                      std::vector<std::size_t> ranks,
                                      std::vector<net::Header> headers) {
  return std::make_shared<SendValues>(mailbox, failures, future, whole, std::move(ranks),
                                      std::move(headers));
}

std::shared_ptr<Exchange> receive_values(net::Mailbox& mailbox, KnownFailures& failures,
                                         const Where& where, const AnyFuture& future,
                                         std::vector<std::size_t> ranks,
                                         const net::Header& header) {
  net::Header sized = header;
  sized.size = bytes_of(future, ranks.size());
  return std::make_shared<Receive>(
      mailbox, where, sized,
      [&failures, future, ranks = std::move(ranks)](const net::Message& message) {
        read_values(Reader(message.bytes()), *future.state(), ranks, failures);
      });
}

std::shared_ptr<Exchange> receive_results(net::Mailbox& mailbox, KnownFailures& failures,
                                          const Where& where,
                                          std::shared_ptr<PartialResults> results,
                                          const net::Header& header) {
  return std::make_shared<Receive>(
      mailbox, where, header,
      [&failures, results = std::move(results)](const net::Message& message) {
        results->read(Reader(message.bytes()), failures);
      });
}

std::shared_ptr<Exchange> reduce_values(net::Mailbox& mailbox, KnownFailures& failures,
                                        SharedReduction reduction,
                                        std::vector<std::shared_ptr<PartialResults>> below,
                                        std::optional<net::Header> above) {
  return std::make_shared<ReduceValues>(mailbox, failures, std::move(reduction), std::move(below),
                                        above);
}

}  // namespace refrain::replication
