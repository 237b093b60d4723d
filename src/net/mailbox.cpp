#include "net/mailbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profile/clock.hpp"

namespace refrain::net {

Mailbox::Mailbox(std::unique_ptr<Transport> transport, Mismatch mismatch, KindName kind_name)
    : transport_(std::move(transport)),
      mismatch_(std::move(mismatch)),
      kind_name_(kind_name),
      sent_(transport_->ranks()),
      received_(transport_->ranks()),
      lines_(transport_->ranks()) {}

Header Mailbox::next_to(Rank rank, std::uint32_t kind, std::uint64_t call, std::uint32_t argument) {
  return {this->rank(), rank, next_to(rank), call, argument, kind, 0};
}

Header Mailbox::next_from(Rank rank, std::uint32_t kind, std::uint64_t call,
                          std::uint32_t argument) {
  return {rank, this->rank(), next_from(rank), call, argument, kind, 0};
}

void Mailbox::send(Message message) {
  const Header header = message.header();
  const bool is_numbered = !served_.contains(header.kind);
  if (is_numbered) all_sent_.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t begin_ns = watch_ ? profile::now_ns() : 0;
  transport_->send(std::move(message));
  if (watch_ && is_numbered) watch_({header, false, {}, begin_ns, profile::now_ns()});
}

void Mailbox::send(const Header& header, std::initializer_list<std::span<const std::byte>> parts) {
  std::size_t bytes = 0;
  for (const auto& part : parts) bytes += part.size();
  Message message = Message::of_size(header, bytes);
  auto to = message.bytes().begin();
  for (const auto& part : parts) to = std::ranges::copy(part, to).out;
  send(std::move(message));
}

void Mailbox::await(const Header& expected, const Where& where, Take take) {
  Awaited awaited{{expected, where}, std::move(take)};
  std::unique_lock lock(mutex_);
  Line& line = lines_[expected.from];
  Line::Slot& slot = line.at(expected.number);
  if (!slot.come) {
    slot.awaited = std::move(awaited);
    lock.unlock();
    return transport_->expect(expected);
  }
  Message message = *std::move(slot.come);
  line.end(expected.number);
  lock.unlock();
  hand_over(awaited, std::move(message));
}

void Mailbox::serve(std::uint32_t kind, Take take) {
  served_[kind] = std::move(take);
  if (!served_[kind]) return;
  for (Message& message : std::exchange(kept_, {})) {
    if (message.header().kind == kind) served_[kind](std::move(message));
    else kept_.push_back(std::move(message));
  }
}

bool Mailbox::poll() {
  for (bool any = false;; any = true) {
    std::optional<Message> found = transport_->poll();
    if (!found) return any;
    Message message = std::move(*found);
    if (const auto served = served_.find(message.header().kind); served != served_.end()) {
      if (served->second) served->second(std::move(message));
      else kept_.push_back(std::move(message));
      continue;
    }
    all_received_.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t number = message.header().number;
    std::unique_lock lock(mutex_);
    Line& line = lines_[message.header().from];
    Line::Slot& slot = line.at(number);
    if (!slot.awaited) {
      slot.come = std::move(message);
      continue;
    }
    const Awaited awaited = *std::move(slot.awaited);
    line.end(number);
    lock.unlock();
    hand_over(awaited, std::move(message));
  }
}

void Mailbox::hand_over(const Awaited& awaited, Message message) {
  const Header& expected = awaited.expected.header;
  Header found = message.header();
  if (expected.kind != found.kind || expected.call != found.call ||
      expected.argument != found.argument || expected.size > found.size)
    return refuse(awaited.expected, message);
  try {
    const std::uint64_t begin_ns = watch_ ? profile::now_ns() : 0;
    awaited.take(std::move(message));
    if (watch_) watch_({found, true, awaited.expected.where, begin_ns, profile::now_ns()});
  } catch (const WrongMessage&) {
    found.size = 0;
    refuse(awaited.expected, Message(found));
  }
}

void Mailbox::refuse(const Expected& expected, const Message& found) {
  if (mismatch_) return mismatch_(expected, found);
  transport_->abort(fmt::format(
      "refrain: the ranks do not make the same calls, as control replication needs them to. Rank "
      "{} expects {}; it is {}",
      rank(), text_of(expected), text_of({found.header(), {}})));
}

std::vector<Expected> Mailbox::awaited() const {
  const std::lock_guard lock(mutex_);
  std::vector<Expected> expected;
  for (const Line& line : lines_)
    for (const Line::Slot& slot : line.slots())
      if (slot.awaited && !slot.over) expected.push_back(slot.awaited->expected);
  return expected;
}

std::string Mailbox::text_of(const Expected& expected) const {
  const auto& [header, where] = expected;
  return fmt::format("{} of call {}, argument {}, of rank {}{}", kind_name_(header.kind),
                     header.call, header.argument, header.from,
                     where.line() == 0 ? std::string() : ", for " + to_string(where));
}

}  // namespace refrain::net
