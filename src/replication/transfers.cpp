#include "replication/transfers.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "memory/accumulator.hpp"
#include "memory/mover.hpp"

namespace refrain::replication {

using analysis::FieldState;
using analysis::Instance;
using data::IndexSpaceRef;
using exec::Execution;
using exec::FailureRef;
using exec::Node;

namespace {

net::Header sized(net::Header header, std::size_t bytes) {
  header.size = bytes;
  return header;
}

/// Values of an argument, sent to a shard or received from it once, or in each replay.
class Values final : public analysis::Message {
 public:
  Values(IndexSpaceRef points, std::size_t value_size, net::Rank peer, std::uint32_t argument,
         bool received, const Where& where, net::Mailbox& mailbox, KnownFailures& failures,
         ShardCounters& counters)
      : points_(std::move(points)),
        bytes_(points_->volume() * value_size),
        value_size_(value_size),
        peer_(peer),
        argument_(argument),
        received_(received),
        where_(where),
        mailbox_(mailbox),
        failures_(failures),
        counters_(counters) {}

  Turn next(std::uint64_t call) override {
    if (received_) return {mailbox_.next_from(peer_), call};
    ++counters_.messages;
    counters_.message_bytes += bytes_;
    return {mailbox_.next_to(peer_), call};
  }
  [[nodiscard]] bool is_received() const override { return received_; }

  void send(const Instance& from, const Turn& turn) const override {
    Writer trailer;
    if (exec::Failure::any())
      if (const auto poisoned = from.poison.at(points_); !poisoned.empty()) {
        begin_trailer(trailer, bytes_);
        write(trailer, poisoned, failures_);
      }
    auto message = net::Message::of_size(header(turn), bytes_ + trailer.bytes().size());
    memory::pack(*points_, from, value_size_, message.bytes().data());
    std::ranges::copy(trailer.bytes(), message.bytes().subspan(bytes_).begin());
    mailbox_.send(std::move(message));
  }
  void receive(const Instance& into, const Turn& turn, exec::LaterCompletion later) const override {
    mailbox_.await(header(turn), where_, [this, &into, later](const net::Message& message) mutable {
      try {
        take_in(into, message);
      } catch (const net::WrongMessage&) {
        throw;  // the mailbox says what is wrong
      } catch (...) { return later.fail(std::current_exception()); }
      later.complete();
    });
  }

 private:
  [[nodiscard]] net::Header header(const Turn& turn) const {
    const net::Rank me = mailbox_.rank();
    return {.from = received_ ? peer_ : me,
            .to = received_ ? me : peer_,
            .number = turn.number,
            .call = turn.call,
            .argument = argument_,
            .kind = number_of(MessageKind::values),
            .size = bytes_};
  }
  void take_in(const Instance& into, const net::Message& message) const {
    Reader trailer = trailer_of(message.bytes(), bytes_);
    memory::unpack(*points_, into, value_size_, message.bytes().data());
    if (exec::Failure::any()) into.poison.write(points_, nullptr);
    if (trailer.at_end()) return;
    for (const analysis::Poisoned& each : read_poisoned(trailer, points_->dim(), failures_))
      into.poison.write(each.points, each.failure);
  }

  const IndexSpaceRef points_;
  const std::size_t bytes_, value_size_;
  const net::Rank peer_;
  const std::uint32_t argument_;
  const bool received_;
  const Where where_;
  net::Mailbox& mailbox_;
  KnownFailures& failures_;
  ShardCounters& counters_;
};

/// What the operation of such a message works on.
struct ValuesPayload {
  const Instance* instance;
  std::shared_ptr<Values> values;
  Values::Turn turn;
};

/// Everything of `Payload` ends with the node's run, or, where it completes later, with what is left of it.
template <class Payload>
void end_payload(Node& node, Execution& /*execution*/) {
  node.payload_as<Payload>().~Payload();
}

void run_values(Node& node, Execution& execution) {
  auto& payload = node.payload_as<ValuesPayload>();
  if (execution.failure == nullptr) {
    if (payload.values->is_received())
      return payload.values->receive(
          *payload.instance, payload.turn,
          exec::complete_later(node, execution, end_payload<ValuesPayload>));
    payload.values->send(*payload.instance, payload.turn);
  }
  payload.~ValuesPayload();
}

struct Take {
  std::shared_ptr<Incoming> incoming;
  net::Header header;
  net::Mailbox* mailbox;
  KnownFailures* failures;
};

void take_in(Incoming& incoming, net::Message message, KnownFailures& failures) {
  Reader trailer = trailer_of(std::as_const(message).bytes(), incoming.offsets.back());
  while (!trailer.at_end()) {
    const std::size_t section = trailer.number();
    if (section >= incoming.failed.size()) throw net::WrongMessage();
    incoming.failed[section] = failures.read(trailer);
  }
  incoming.message = std::make_unique<const net::Message>(std::move(message));
}

void run_take(Node& node, Execution& execution) {
  if (execution.failure != nullptr) return end_payload<Take>(node, execution);
  auto& take = node.payload_as<Take>();
  exec::LaterCompletion later = exec::complete_later(node, execution, end_payload<Take>);
  take.mailbox->await(sized(take.header, take.incoming->offsets.back()), node.info->where,
                      [&take, later](net::Message message) mutable {
                        try {
                          take_in(*take.incoming, std::move(message), *take.failures);
                        } catch (const net::WrongMessage&) {
                          throw;  // the mailbox says what is wrong
                        } catch (...) { return later.fail(std::current_exception()); }
                        later.complete();
                      });
}

struct RemoteFold {
  analysis::FoldPayload fold;
  exec::NodeInfo reducer;  ///< the launch's own may be gone
  std::shared_ptr<Incoming> incoming;
  std::size_t section;
  const ReductionOp* op;
};

void run_remote_fold(Node& node, Execution& execution) {
  auto& remote = node.payload_as<RemoteFold>();
  if (execution.failure == nullptr) {
    const Incoming& incoming = *remote.incoming;
    remote.fold.failure = incoming.failed[remote.section];
    try {
      if (remote.fold.failure == nullptr) {
        remote.fold.accumulator =
            std::make_shared<refrain::detail::Accumulator>(*remote.op, *remote.fold.points);
        remote.fold.accumulator->unpack(*remote.fold.points, incoming.message->bytes().data() +
                                                                 incoming.offsets[remote.section]);
      }
    } catch (...) {  // the operator is the program's
      remote.fold.failure = exec::fail(node, remote.fold.origin, std::current_exception());
    }
    remote.fold.run([&](const std::exception_ptr& error, const exec::Failure::Who& who) {
      return exec::fail(node, remote.fold.origin, error, who);
    });
  }
  remote.~RemoteFold();
}

/// Its contribution comes first: the reducer knows it as a fold.
struct Give {
  analysis::FoldPayload contribution;
  std::shared_ptr<Outgoing> outgoing;
  std::size_t section;
  net::Mailbox* mailbox;
  KnownFailures* failures;
};

void run_give(Node& node, Execution& execution) {
  auto& give = node.payload_as<Give>();
  analysis::FoldPayload& contribution = give.contribution;
  // Without either its reducer was given up, and the run is at its end: nobody is told anything.
  const bool reducer_ran = contribution.failure != nullptr || contribution.accumulator != nullptr;
  if (execution.failure == nullptr && reducer_ran) {
    try {
      if (contribution.failure == nullptr)
        contribution.accumulator->pack(*contribution.points, give.outgoing->bytes_of(give.section));
    } catch (...) {  // the operator is the program's
      contribution.failure = exec::fail(node, contribution.origin, std::current_exception());
    }
    give.outgoing->put(give.section, contribution.failure, *give.mailbox, *give.failures);
  }
  give.~Give();
}

}  // namespace

// --- contributions -------------------------------------------------------------------------------------

Outgoing::Outgoing(const net::Header& header, std::size_t value_size,
                   std::span<const std::size_t> points)
    : header_(header), failed_(points.size()), left_(points.size()) {
  std::size_t offset = 0;
  for (const std::size_t count : points) {
    offsets_.push_back(offset);
    offset += count * value_size;
  }
  bytes_.resize(offset);
}

void Outgoing::put(std::size_t section, const FailureRef& failure, net::Mailbox& mailbox,
                   KnownFailures& failures) {
  failed_[section] = failure;
  if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) send(mailbox, failures);
}

void Outgoing::send(net::Mailbox& mailbox, KnownFailures& failures) {
  Writer trailer;
  for (std::size_t section = 0; section < failed_.size(); ++section) {
    if (failed_[section] == nullptr) continue;
    if (trailer.bytes().empty()) begin_trailer(trailer, bytes_.size());
    trailer.number(section);
    failures.write(trailer, failed_[section]);
  }
  mailbox.send(header_, {bytes_, trailer.bytes()});
}

// --- making operations -----------------------------------------------------------------------------------

template <class Payload>
Node& Transfers::make(exec::NodeKind kind, void (*run)(Node&, Execution&),
                      const exec::NodeInfo& info, Payload payload) {
  Node& node = context_.scope.allocate(sizeof(Payload));
  ::new (node.payload()) Payload(std::move(payload));
  node.kind = kind;
  node.run = run;
  node.info = &info;
  return node;
}

Instance& Transfers::place(FieldState& field, const IndexSpaceRef& points,
                           const analysis::Origin& origin) {
  context_.analysis.widen(field, points, origin);
  context_.analysis.begin_point();
  Instance& instance = context_.analysis.instance_for(
      field, points, {context_.runtime.machine().memories(MemoryKind::system)}, origin);
  context_.analysis.touch(instance);
  return instance;
}

void Transfers::send(FieldState& field, const IndexSpaceRef& points, net::Rank to,
                     std::uint32_t argument, const analysis::Origin& origin) {
  Instance& instance = place(field, points, origin);
  context_.analysis.make_valid(field, field.footprint(points, true), instance, origin);
  move(field, points, instance, to, argument, false, origin);
}

void Transfers::receive(FieldState& field, const IndexSpaceRef& points, net::Rank from,
                        std::uint32_t argument, const analysis::Origin& origin) {
  move(field, points, place(field, points, origin), from, argument, true, origin);
}

void Transfers::move(FieldState& field, const IndexSpaceRef& points, Instance& instance,
                     net::Rank peer, std::uint32_t argument, bool received,
                     const analysis::Origin& origin) {
  const auto values = std::make_shared<Values>(points, field.type().size, peer, argument, received,
                                               origin.info->where, mailbox_, failures_, counters_);
  Node& node =
      make(exec::NodeKind::copy, run_values, info_for(received ? "receive" : "send", origin),
           ValuesPayload{&instance, values, values->next(origin.call)});
  context_.analysis.log_operation(node, origin, &field, instance.memory, instance.memory, points);
  analysis::Edges edges = context_.analysis.edges_to(node);
  context_.analysis.use(edges, field.footprint(points, true), instance,
                        received ? Privilege::write : Privilege::read);
  if (context_.analysis.is_recorded()) context_.analysis.note_message({&instance, points, values});
  context_.analysis.publish(edges);
}

exec::NodeRef Transfers::take(const std::shared_ptr<Incoming>& incoming, const net::Header& header,
                              const analysis::Origin& origin) {
  Node& node = make(exec::NodeKind::other, run_take, info_for("receive", origin),
                    Take{incoming, header, &mailbox_, &failures_});
  const exec::NodeRef ref{&node, node.seq};
  context_.analysis.log_operation(node, origin);
  context_.analysis.publish(context_.analysis.edges_to(node));
  return ref;
}

void Transfers::fold(const std::shared_ptr<Incoming>& incoming, const exec::NodeRef& taken,
                     std::size_t section, FieldState& field, const IndexSpaceRef& points,
                     const ReductionOp& op, bool relaxed, const analysis::Origin& origin) {
  Instance& instance = place(field, points, origin);
  analysis::Footprint& footprint = field.footprint(points, true);
  context_.analysis.make_valid(field, footprint, instance, origin);
  analysis::FoldPayload payload;
  payload.target = &instance;
  payload.points = points;
  payload.relaxed = relaxed ? op.fold : nullptr;
  payload.argument = origin.argument;

  Node& node = make(exec::NodeKind::fold, run_remote_fold, info_for("fold", origin),
                    RemoteFold{std::move(payload), *origin.info, incoming, section, &op});
  auto& placed = node.payload_as<RemoteFold>();
  placed.fold.reducer = &placed.reducer;
  placed.fold.origin = analysis::failure_origin(node, origin);
  context_.analysis.log_operation(node, origin, &field, instance.memory, instance.memory, points);
  analysis::Edges edges = context_.analysis.edges_to(node);
  edges.add(taken);
  if (relaxed) context_.analysis.use_relaxed(edges, footprint, instance, op.fold);
  else context_.analysis.use(edges, footprint, instance, Privilege::read_write);
  context_.analysis.publish(edges);
}

analysis::FoldPayload& Transfers::give(const exec::NodeRef& reducer,
                                       std::shared_ptr<Outgoing> outgoing, std::size_t section,
                                       const IndexSpaceRef& points,
                                       const analysis::Origin& origin) {
  analysis::FoldPayload contribution;
  contribution.points = points;
  Node& node =
      make(exec::NodeKind::other, run_give, info_for("send", origin),
           Give{std::move(contribution), std::move(outgoing), section, &mailbox_, &failures_});
  node.record = reducer.node->record;
  node.payload_as<Give>().contribution.origin = analysis::failure_origin(node, origin);
  context_.analysis.log_operation(node, origin);
  analysis::Edges edges = context_.analysis.edges_to(node);
  edges.add(reducer);
  context_.analysis.publish(edges);
  return node.payload_as<Give>().contribution;
}

}  // namespace refrain::replication
