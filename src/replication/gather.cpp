#include "replication/gather.hpp"

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "profile/clock.hpp"
#include "replication/message_kind.hpp"
#include "replication/wire.hpp"

namespace refrain::replication {

namespace {

constexpr std::uint32_t kind = number_of(MessageKind::report);

void poll_until(Ranks& ranks, const std::atomic<bool>& done) {
  while (!done)
    if (!ranks.poll()) std::this_thread::yield();
}

/// The next message of a rank.
net::Message receive(Ranks& ranks, net::Rank from) {
  std::atomic<bool> done{false};
  net::Message found{net::Header{}};
  ranks.mailbox().await(ranks.mailbox().next_from(from, kind, 0), Where{},
                        [&](net::Message message) {
                          found = std::move(message);
                          done = true;
                        });
  poll_until(ranks, done);
  return found;
}

void send(Ranks& ranks, net::Rank to, std::span<const std::byte> bytes) {
  ranks.mailbox().send(ranks.mailbox().next_to(to, kind, 0), {bytes});
}

/// The same on all ranks of a machine since it was started.
std::string name_of_machine() {
  std::string name;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), name);
  return name;
}

}  // namespace

std::vector<net::Bytes> gather(Ranks& ranks, net::Bytes own) {
  std::vector<net::Bytes> all;
  if (ranks.mailbox().rank() != 0) {
    send(ranks, 0, own);
    return all;
  }
  all.push_back(std::move(own));
  for (net::Rank rank = 1; rank < ranks.mailbox().ranks(); ++rank) {
    net::Message message = receive(ranks, rank);
    all.emplace_back(message.bytes().begin(), message.bytes().end());
  }
  return all;
}

std::uint64_t time_here(Ranks& ranks, std::uint64_t ns) {
  constexpr int kTrips = 8;
  const std::string machine = name_of_machine();
  if (ranks.mailbox().rank() == 0) {
    for (net::Rank rank = 1; rank < ranks.mailbox().ranks(); ++rank)
      for (int trip = 0; trip < kTrips; ++trip) {
        net::Message message = receive(ranks, rank);
        Writer answer;
        answer.number(profile::now_ns());
        answer.number(ns);
        answer.number(Reader(message.bytes()).text() == machine ? 1 : 0);
        send(ranks, rank, answer.bytes());
      }
    return ns;
  }
  std::uint64_t here = 0, quickest = ~std::uint64_t{0};
  for (int trip = 0; trip < kTrips; ++trip) {
    Writer question;
    question.text(machine);
    const std::uint64_t before = profile::now_ns();
    send(ranks, 0, question.bytes());
    net::Message message = receive(ranks, 0);
    const std::uint64_t took = profile::now_ns() - before;
    Reader answer(message.bytes());
    const std::uint64_t there = answer.number(), wanted = answer.number();
    if (answer.number() == 1) here = wanted;
    else if (took < quickest) here = wanted + (before + took / 2 - there);
    quickest = std::min(quickest, took);
  }
  return here;
}

}  // namespace refrain::replication
