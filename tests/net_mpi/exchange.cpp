// A rank of a run of MPI that tests the transport: exchange MODE RANKS. Ends with 0 if all is as it should be.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "net/agreement.hpp"
#include "net/launcher.hpp"
#include "refrain/error.hpp"
#include "support/random.hpp"

namespace refrain::net {
namespace {

constexpr std::uint64_t kMessages = 200;  // of each pair

void expect(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(std::string("expected: ") + what);
}

std::uint64_t seed_of(Rank from, Rank to, std::uint64_t number) {
  return test::mix(test::mix(from, to), number);
}

// Mostly small ones, some that MPI sends only once the receiver is there.
std::size_t size_of(std::uint64_t seed) {
  return seed % 32 == 0 ? (seed >> 8) % 3000000 : (seed >> 8) % 2000;
}

Message make(Rank from, Rank to, std::uint64_t number) {
  const std::uint64_t seed = seed_of(from, to, number);
  Message message({.from = from, .to = to, .number = number, .call = seed, .size = size_of(seed)});
  for (std::size_t i = 0; i < message.bytes().size(); ++i)
    message.bytes()[i] = static_cast<std::byte>(test::mix(seed, i / 64));
  return message;
}

void check(const Message& message, Rank me) {
  const Header& header = message.header();
  const std::uint64_t seed = seed_of(header.from, me, header.number);
  expect(header.to == me && header.call == seed, "the header that was sent");
  expect(message.bytes().size() == size_of(seed), "the size that was sent");
  for (std::size_t i = 0; i < message.bytes().size(); ++i)
    expect(message.bytes()[i] == static_cast<std::byte>(test::mix(seed, i / 64)),
           "the bytes that were sent");
}

/// Everybody sends everybody messages, on two threads.
void exchange(Transport& transport) {
  const Rank me = transport.rank(), ranks = transport.ranks();
  const std::uint64_t wanted = kMessages * (ranks - 1);
  std::atomic<std::uint64_t> received{0};
  const auto work = [&](std::uint64_t first) {
    for (std::uint64_t number = first; number < kMessages; number += 2)
      for (Rank to = 0; to < ranks; ++to)
        if (to != me) transport.send(make(me, to, number));
    while (received < wanted) {
      const auto message = transport.poll();
      if (!message) {
        std::this_thread::yield();
        continue;
      }
      check(*message, me);
      ++received;
    }
  };
  std::thread other([&] {
    try {
      work(1);
    } catch (const std::exception& error) { transport.abort(error.what()); }
  });
  work(0);
  other.join();
  expect(received == wanted, "each message once");
  expect(!transport.poll(), "no more messages");
}

void differ(std::unique_ptr<Transport> transport) {
  Mailbox mailbox(std::move(transport));
  const std::vector<Item> same{{"the build", "1"}, {"the value of --flag", "a\nb"}};
  agree(mailbox, 1, same);
  std::vector<Item> other = same;
  if (mailbox.rank() + 1 == mailbox.ranks()) other[1].value = "c";
  try {
    agree(mailbox, 1, other);
  } catch (const InputError& error) {
    const std::string text = error.what();
    expect(text.find("the value of --flag on rank ") != std::string::npos &&
               text.find("on rank " + std::to_string(mailbox.ranks() - 1) + " 'c'") !=
                   std::string::npos,
           "the text of the error");
    return;
  }
  expect(false, "an error on each rank");
}

int run(const std::string& mode, Rank ranks) {
  std::unique_ptr<Transport> transport = connect();
  if (ranks == 0) {
    expect(transport == nullptr, "a program that nobody launched to be alone");
    return 0;
  }
  expect(transport != nullptr && transport->ranks() == ranks, "the number of ranks");
  if (mode == "exchange") exchange(*transport);
  else if (mode == "differ") differ(std::move(transport));
  else if (mode == "abort" && transport->rank() == 1) transport->abort("rank 1 has had enough");
  else if (mode == "abort")
    while (true) std::this_thread::yield();  // until it is ended
  return 0;
}

}  // namespace
}  // namespace refrain::net

int main(int argc, char** argv) {
  try {
    return argc == 3
               ? refrain::net::run(argv[1], static_cast<refrain::net::Rank>(std::atoi(argv[2])))
               : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
