#include "replication/contributions.hpp"

#include <algorithm>
#include <utility>

#include "analysis/movement.hpp"
#include "memory/accumulator.hpp"
#include "replication/message_kind.hpp"

namespace refrain::replication {

using refrain::detail::Accumulator;

Contributions::Contributions(const Post& post, Of of, const std::vector<std::size_t>& points)
    : post_(post), of_(std::move(of)), failed_(points.size()) {
  std::size_t offset = 0;
  offsets_.push_back(0);
  for (const std::size_t count : points) offsets_.push_back(offset += count * of_.op->type->size);
}

void Contributions::begin(std::uint64_t call) {
  net::Mailbox& mailbox = post_.mailbox;
  const std::uint32_t kind = number_of(MessageKind::contributions);
  std::ranges::fill(failed_, nullptr);
  left_.store(sections(), std::memory_order_relaxed);  // published with the operations
  if (of_.received) {
    header_ = mailbox.next_from(of_.peer, kind, call, of_.argument);
    header_.size = size();
    return;
  }
  header_ = mailbox.next_to(of_.peer, kind, call, of_.argument);
  message_ = net::Message::of_size(header_, size());
  ++post_.counters.messages;
  post_.counters.message_bytes += size();
}

// Without either its reducer was given up, and the run is at its end: nobody is told anything.
void Contributions::put(analysis::FoldPayload& contribution,
                        const std::function<exec::FailureRef(const std::exception_ptr&)>& fail) {
  const std::shared_ptr<Accumulator> values = std::exchange(contribution.accumulator, nullptr);
  exec::FailureRef failure = std::exchange(contribution.failure, nullptr);
  if (failure == nullptr && values == nullptr) return;
  const std::size_t section = contribution.section;
  try {
    if (failure == nullptr)
      values->pack(*contribution.points, message_.bytes().data() + offsets_[section]);
  } catch (...) {  // the operator is the program's
    failure = fail(std::current_exception());
  }
  failed_[section] = std::move(failure);
  if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) send();
}

void Contributions::send() {
  net::Message message = std::move(message_);
  Writer trailer;
  for (std::size_t section = 0; section < sections(); ++section) {
    if (failed_[section] == nullptr) continue;
    if (trailer.bytes().empty()) begin_trailer(trailer, size());
    trailer.number(section);
    post_.failures.write(trailer, failed_[section]);
  }
  if (trailer.bytes().empty()) return post_.mailbox.send(std::move(message));
  post_.mailbox.send(header_, {message.bytes(), trailer.bytes()});
}

void Contributions::receive(exec::LaterCompletion later) {
  post_.mailbox.await(header_, of_.reducer.where, [this, later](net::Message message) mutable {
    try {
      take_in(std::move(message));
    } catch (const net::WrongMessage&) {
      throw;  // the mailbox says what is wrong
    } catch (...) { return later.fail(std::current_exception()); }
    later.complete();
  });
}

void Contributions::take_in(net::Message message) {
  Reader trailer = trailer_of(std::as_const(message).bytes(), size());
  while (!trailer.at_end()) {
    const std::size_t section = trailer.number();
    if (section >= sections()) throw net::WrongMessage();
    failed_[section] = post_.failures.read(trailer);
  }
  message_ = std::move(message);
}

void Contributions::fetch(analysis::FoldPayload& fold) {
  fold.failure = failed_[fold.section];
  if (fold.failure == nullptr) {
    fold.accumulator = std::make_shared<Accumulator>(*of_.op, *fold.points);
    fold.accumulator->unpack(*fold.points, message_.bytes().data() + offsets_[fold.section]);
  }
  if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1)
    const net::Message done = std::move(message_);
}

}  // namespace refrain::replication
