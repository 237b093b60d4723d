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

void run_take(Node& node, Execution& execution) {
  if (execution.failure != nullptr) return end_payload<analysis::TakePayload>(node, execution);
  node.payload_as<analysis::TakePayload>().taken->receive(
      exec::complete_later(node, execution, end_payload<analysis::TakePayload>));
}

void run_give(Node& node, Execution& execution) {
  auto& given = node.payload_as<analysis::FoldPayload>();
  if (execution.failure == nullptr)
    given.message->put(given, [&](const std::exception_ptr& error) {
      return exec::fail(node, given.origin, error);
    });
  given.~FoldPayload();
}

}  // namespace

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
  if (!received) node.priority = exec::kUrgent;
  context_.analysis.log_operation(node, origin, &field, instance.memory, instance.memory, points);
  analysis::Edges edges = context_.analysis.edges_to(node);
  context_.analysis.use(edges, field.footprint(points, true), instance,
                        received ? Privilege::write : Privilege::read);
  context_.analysis.note(analysis::MessagePayload{&instance, points, values});
  context_.analysis.publish(edges);
}

std::shared_ptr<Contributions> Transfers::contributions(Contributions::Of of,
                                                        const std::vector<std::size_t>& points,
                                                        std::uint64_t call) {
  auto made = std::make_shared<Contributions>(Contributions::Post{mailbox_, failures_, counters_},
                                              std::move(of), points);
  made->begin(call);
  return made;
}

exec::NodeRef Transfers::take(const std::shared_ptr<Contributions>& incoming,
                              const analysis::Origin& origin) {
  const analysis::TakePayload payload{incoming};
  Node& node = make(exec::NodeKind::other, run_take, info_for("receive", origin), payload);
  const exec::NodeRef ref{&node, node.seq};
  context_.analysis.log_operation(node, origin);
  context_.analysis.note(payload);
  context_.analysis.publish(context_.analysis.edges_to(node));
  return ref;
}

void Transfers::fold(const std::shared_ptr<Contributions>& incoming, const exec::NodeRef& taken,
                     std::uint32_t section, FieldState& field, const IndexSpaceRef& points,
                     const ReductionOp* relaxed, const analysis::Origin& origin) {
  analysis::FoldPayload payload;
  payload.points = points;
  payload.reducer = &incoming->reducer();
  payload.message = incoming;
  payload.section = section;
  context_.analysis.issue_fold(taken, std::move(payload), place(field, points, origin), relaxed,
                               origin);
}

analysis::FoldPayload& Transfers::give(const exec::NodeRef& reducer,
                                       std::shared_ptr<Contributions> outgoing,
                                       std::uint32_t section, const IndexSpaceRef& points,
                                       const analysis::Origin& origin) {
  analysis::FoldPayload payload;
  payload.points = points;
  payload.message = std::move(outgoing);
  payload.section = section;
  Node& node = make(exec::NodeKind::other, run_give, info_for("send", origin), std::move(payload));
  auto& given = node.payload_as<analysis::FoldPayload>();
  node.priority = exec::kUrgent;
  node.record = reducer.node->record;
  given.origin = analysis::failure_origin(node, origin);
  context_.analysis.log_operation(node, origin);
  analysis::Edges edges = context_.analysis.edges_to(node);
  edges.add(reducer);
  context_.analysis.note_give(given, reducer);
  context_.analysis.publish(edges);
  return given;
}

}  // namespace refrain::replication
