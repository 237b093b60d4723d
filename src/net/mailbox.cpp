#include "net/mailbox.hpp"

#include <fmt/format.h>

namespace refrain::net {

Mailbox::Mailbox(std::unique_ptr<Transport> transport, Mismatch mismatch)
    : transport_(std::move(transport)),
      mismatch_(std::move(mismatch)),
      sent_(transport_->ranks()),
      received_(transport_->ranks()) {}

Header Mailbox::next_to(Rank rank, std::uint32_t kind, std::uint64_t call, std::uint32_t argument) {
  return {this->rank(), rank, sent_[rank]++, call, argument, kind, 0};
}

Header Mailbox::next_from(Rank rank, std::uint32_t kind, std::uint64_t call,
                          std::uint32_t argument) {
  return {rank, this->rank(), received_[rank]++, call, argument, kind, 0};
}

void Mailbox::await(const Header& expected, Take take) {
  Awaited awaited{expected, std::move(take)};
  const Key key(expected.from, expected.number);
  std::unique_lock lock(mutex_);
  auto come = come_.extract(key);
  if (come.empty()) {
    awaited_.emplace(key, std::move(awaited));
    return;
  }
  lock.unlock();
  hand_over(awaited, std::move(come.mapped()));
}

bool Mailbox::poll() {
  for (bool any = false;; any = true) {
    std::optional<Message> found = transport_->poll();
    if (!found) return any;
    Message message = std::move(*found);
    const Key key(message.header().from, message.header().number);
    std::unique_lock lock(mutex_);
    const auto awaited = awaited_.extract(key);
    if (awaited.empty()) {
      come_.emplace(key, std::move(message));
      continue;
    }
    lock.unlock();
    hand_over(awaited.mapped(), std::move(message));
  }
}

void Mailbox::hand_over(const Awaited& awaited, Message message) {
  const Header &expected = awaited.header, &found = message.header();
  if (expected.kind == found.kind && expected.call == found.call &&
      expected.argument == found.argument)
    return awaited.take(std::move(message));
  if (mismatch_) return mismatch_(expected, found);
  transport_->abort(fmt::format(
      "refrain: message {} of rank {} to rank {} was expected to be of call {}, argument "
      "{}, kind {}; it is of call {}, argument {}, kind {}",
      expected.number, expected.from, rank(), expected.call, expected.argument, expected.kind,
      found.call, found.argument, found.kind));
}

std::vector<Header> Mailbox::awaited() const {
  const std::lock_guard lock(mutex_);
  std::vector<Header> headers;
  headers.reserve(awaited_.size());
  for (const auto& [key, each] : awaited_) headers.push_back(each.header);
  return headers;
}

}  // namespace refrain::net
