#include "replication/transfers.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "launch/future_state.hpp"
#include "memory/accumulator.hpp"
#include "memory/mover.hpp"
#include "replication/partial_results.hpp"

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

/// What most operations here work on.
struct Values {
  const Instance* instance;
  IndexSpaceRef points;
  std::size_t value_size;
  net::Header header;
  net::Mailbox* mailbox;
  KnownFailures* failures;

  [[nodiscard]] std::size_t bytes() const { return points->volume() * value_size; }
};

/// Everything of `Payload` ends with the node's run, or, where it completes later, with what is left of it.
template <class Payload>
void end_payload(Node& node, Execution& /*execution*/) {
  node.payload_as<Payload>().~Payload();
}

/// Awaits the message that header_of(payload) says, which take_in(payload, message) puts where it belongs.
template <class Payload>
void run_receive(Node& node, Execution& execution) {
  if (execution.failure != nullptr) return end_payload<Payload>(node, execution);
  auto& payload = node.payload_as<Payload>();
  exec::LaterCompletion later = exec::complete_later(node, execution, end_payload<Payload>);
  payload.mailbox->await(header_of(payload), node.info->where,
                         [&payload, later](net::Message message) mutable {
                           try {
                             take_in(payload, std::move(message));
                           } catch (const net::WrongMessage&) {
                             throw;  // the mailbox says what is wrong
                           } catch (...) { return later.fail(std::current_exception()); }
                           later.complete();
                         });
}

void run_send(Node& node, Execution& execution) {
  auto& values = node.payload_as<Values>();
  if (execution.failure == nullptr) {
    Writer trailer;
    if (exec::Failure::any())
      if (const auto poisoned = values.instance->poison.at(values.points); !poisoned.empty()) {
        begin_trailer(trailer, values.bytes());
        write(trailer, poisoned, *values.failures);
      }
    auto message = net::Message::of_size(values.header, values.bytes() + trailer.bytes().size());
    memory::pack(*values.points, *values.instance, values.value_size, message.bytes().data());
    std::ranges::copy(trailer.bytes(), message.bytes().subspan(values.bytes()).begin());
    values.mailbox->send(std::move(message));
  }
  values.~Values();
}

net::Header header_of(const Values& values) { return sized(values.header, values.bytes()); }

void take_in(const Values& values, const net::Message& message) {
  Reader trailer = trailer_of(message.bytes(), values.bytes());
  memory::unpack(*values.points, *values.instance, values.value_size, message.bytes().data());
  if (exec::Failure::any()) values.instance->poison.write(values.points, nullptr);
  if (trailer.at_end()) return;
  for (const analysis::Poisoned& each :
       read_poisoned(trailer, values.points->dim(), *values.failures))
    values.instance->poison.write(each.points, each.failure);
}

struct Take {
  std::shared_ptr<Incoming> incoming;
  net::Header header;
  net::Mailbox* mailbox;
  KnownFailures* failures;
};

net::Header header_of(const Take& take) {
  return sized(take.header, take.incoming->offsets.back());
}

void take_in(const Take& take, net::Message message) {
  Incoming& incoming = *take.incoming;
  Reader trailer = trailer_of(std::as_const(message).bytes(), incoming.offsets.back());
  while (!trailer.at_end()) {
    const std::size_t section = trailer.number();
    if (section >= incoming.failed.size()) throw net::WrongMessage();
    incoming.failed[section] = take.failures->read(trailer);
  }
  incoming.message = std::make_unique<const net::Message>(std::move(message));
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

struct FutureValues {
  AnyFuture future;
  AnyFuture whole;  ///< of what is sent: where it is put, too; may be empty
  std::vector<std::size_t> ranks;
  std::vector<net::Header> headers;  ///< to whom; or the one that is awaited
  net::Mailbox* mailbox;
  KnownFailures* failures;
};

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
void read_values(const FutureValues& values, refrain::detail::FutureState& into, Reader from) {
  for (const std::size_t rank : values.ranks) {
    if (from.number() == 0) {
      read_value(from, into, rank);
    } else {
      from.bytes(size_of(into.type()));
      into.fail(rank, values.failures->read(from));
    }
  }
  if (!from.at_end()) throw net::WrongMessage();
}

void run_send_future(Node& node, Execution& execution) {
  auto& values = node.payload_as<FutureValues>();
  if (execution.failure == nullptr) {
    const refrain::detail::FutureState& state = *values.future.state();
    Writer writer;
    const std::vector<std::byte> none(size_of(state.type()));
    for (std::size_t rank = 0; rank < values.ranks.size(); ++rank) {
      const FailureRef& failure = state.failure(rank);
      writer.number(failure != nullptr ? 1 : 0);
      if (failure == nullptr) {
        write_value(writer, state, rank);
      } else {
        writer.bytes(none);
        values.failures->write(writer, failure);
      }
    }
    for (const net::Header& header : values.headers) values.mailbox->send(header, {writer.bytes()});
    if (values.whole.valid()) read_values(values, *values.whole.state(), Reader(writer.bytes()));
  }
  values.~FutureValues();
}

net::Header header_of(const FutureValues& values) {
  return sized(values.headers.front(), Transfers::bytes_of(values.future, values.ranks.size()));
}

void take_in(const FutureValues& values, const net::Message& message) {
  read_values(values, *values.future.state(), Reader(message.bytes()));
}

/// What comes from a shard below.
struct Below {
  std::shared_ptr<PartialResults> results;
  net::Header header;
  net::Mailbox* mailbox;
  KnownFailures* failures;
};

net::Header header_of(const Below& below) { return below.header; }

void take_in(const Below& below, const net::Message& message) {
  below.results->read(Reader(message.bytes()), *below.failures);
}

struct Reduce {
  SharedReduction reduction;
  std::vector<std::shared_ptr<PartialResults>> below;
  std::optional<net::Header> above;
  exec::Failure::Origin origin;
  net::Mailbox* mailbox;
  KnownFailures* failures;
};

/// False: it is not to end, since the ranks' programs differ, and are about to be told so.
bool reduce(const Reduce& reduce, Node& node) {
  const SharedReduction& reduction = reduce.reduction;
  PartialResults results(*reduction.op, reduction.points);
  try {
    results.add(*reduction.values.state(), reduction.ranks);
    for (const auto& below : reduce.below) results.add(std::move(*below));
    results.combine();
  } catch (...) {  // the operator is the program's
    results.fail(exec::fail(node, reduce.origin, std::current_exception()));
  }
  if (reduce.above) {
    Writer writer;
    results.write(writer, *reduce.failures);
    reduce.mailbox->send(*reduce.above, {writer.bytes()});
    return true;
  }
  refrain::detail::FutureState& made = *reduction.result.state();
  if (results.failure() != nullptr) {
    made.fail(0, results.failure());
    return true;
  }
  if (!results.is_complete() && !reduction.dry) {
    reduction.suspect("refrain: " + std::string(node.info->name) + " at " +
                      to_string(node.info->where) +
                      ": no rank has the values of some points of the launch, so they do "
                      "not agree on who runs which: a mapper's sharding, or a sharding "
                      "function, is not the same on all of them");
    return false;
  }
  results.take(static_cast<std::byte*>(made.storage(0)));
  made.finish(0);
  return true;
}

void run_reduce(Node& node, Execution& execution) {
  auto& payload = node.payload_as<Reduce>();
  if (execution.failure == nullptr && !reduce(payload, node))
    return static_cast<void>(exec::complete_later(node, execution, end_payload<Reduce>));
  payload.~Reduce();
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

void Transfers::send(FieldState& field, const IndexSpaceRef& points, const net::Header& header,
                     const analysis::Origin& origin) {
  Instance& instance = place(field, points, origin);
  analysis::Footprint& footprint = field.footprint(points, true);
  context_.analysis.make_valid(field, footprint, instance, origin);
  Node& node = make(exec::NodeKind::copy, run_send, info_for("send", origin),
                    Values{&instance, points, field.type().size, header, &mailbox_, &failures_});
  context_.analysis.log_operation(node, origin, &field, instance.memory, instance.memory, points);
  analysis::Edges edges = context_.analysis.edges_to(node);
  context_.analysis.use(edges, footprint, instance, Privilege::read);
  context_.analysis.publish(edges);
}

void Transfers::receive(FieldState& field, const IndexSpaceRef& points, const net::Header& header,
                        const analysis::Origin& origin) {
  Instance& instance = place(field, points, origin);
  Node& node = make(exec::NodeKind::copy, run_receive<Values>, info_for("receive", origin),
                    Values{&instance, points, field.type().size, header, &mailbox_, &failures_});
  context_.analysis.log_operation(node, origin, &field, instance.memory, instance.memory, points);
  analysis::Edges edges = context_.analysis.edges_to(node);
  context_.analysis.use(edges, field.footprint(points, true), instance, Privilege::write);
  context_.analysis.publish(edges);
}

exec::NodeRef Transfers::take(const std::shared_ptr<Incoming>& incoming, const net::Header& header,
                              const analysis::Origin& origin) {
  Node& node = make(exec::NodeKind::other, run_receive<Take>, info_for("receive", origin),
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

// --- futures -------------------------------------------------------------------------------------------

std::size_t Transfers::bytes_of(const AnyFuture& future, std::size_t values) {
  return values * (sizeof(std::uint64_t) + size_of(future.state()->type()));
}

void Transfers::send(const AnyFuture& future, const AnyFuture& whole,
                     std::vector<std::size_t> ranks, std::vector<net::Header> headers,
                     const exec::NodeInfo& info) {
  Node& node = make(exec::NodeKind::other, run_send_future, info,
                    FutureValues{future, whole, ranks, std::move(headers), &mailbox_, &failures_});
  const exec::NodeRef ref{&node, node.seq};
  if (whole.valid())
    for (const std::size_t rank : ranks) whole.state()->set_producer(rank, ref);
  context_.analysis.log_operation(node, {context_.calls - 1, 0, -1, &info});
  analysis::Edges edges = context_.analysis.edges_to(node);
  context_.depend_on(edges, *future.state());
  context_.analysis.publish(edges);
}

void Transfers::receive(const AnyFuture& future, std::vector<std::size_t> ranks,
                        const net::Header& header, const exec::NodeInfo& info) {
  Node& node = make(exec::NodeKind::other, run_receive<FutureValues>, info,
                    FutureValues{future, {}, ranks, {header}, &mailbox_, &failures_});
  const exec::NodeRef ref{&node, node.seq};
  for (const std::size_t rank : ranks) future.state()->set_producer(rank, ref);
  context_.analysis.log_operation(node, {context_.calls - 1, 0, -1, &info});
  context_.analysis.publish(context_.analysis.edges_to(node));
}

void Transfers::reduce(const SharedReduction& reduction, std::span<const net::Header> below,
                       const std::optional<net::Header>& above, const exec::NodeInfo& info) {
  std::vector<exec::NodeRef> taken;
  std::vector<std::shared_ptr<PartialResults>> results;
  for (const net::Header& header : below) {
    results.push_back(std::make_shared<PartialResults>(*reduction.op, reduction.points));
    Node& node = make(exec::NodeKind::other, run_receive<Below>,
                      context_.analysis.info_for("receive", info.where),
                      Below{results.back(), header, &mailbox_, &failures_});
    taken.push_back({&node, node.seq});
    context_.analysis.log_operation(node, {context_.calls - 1, 0, -1, node.info});
    context_.analysis.publish(context_.analysis.edges_to(node));
  }
  Node& node = make(exec::NodeKind::other, run_reduce, info,
                    Reduce{reduction, std::move(results), above, {}, &mailbox_, &failures_});
  analysis::Origin origin{context_.calls - 1, 0, -1, &info};
  origin.on_shards = true;
  node.payload_as<Reduce>().origin = analysis::failure_origin(node, origin);
  if (reduction.result.valid()) reduction.result.state()->set_producer(0, {&node, node.seq});
  context_.analysis.log_operation(node, origin);
  analysis::Edges edges = context_.analysis.edges_to(node);
  context_.depend_on(edges, *reduction.values.state());
  for (const exec::NodeRef& each : taken) edges.add(each);
  context_.analysis.publish(edges);
}

}  // namespace refrain::replication
