#include "replication/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "net/all_reduce.hpp"
#include "net/launcher.hpp"
#include "profile/clock.hpp"
#include "replication/message_kind.hpp"

namespace refrain::replication {

namespace {

/// The process's; what keeps it from having one is thrown again to whoever asks later.
struct OfProcess {
  std::mutex mutex;
  bool tried = false;
  std::unique_ptr<Connection> connection;
  std::exception_ptr error;
  std::atomic<Connection*> made{nullptr};  ///< release: who sees it sees all of it
};
OfProcess& of_process() {
  static OfProcess process;
  return process;
}

/// A hash of the program's file.
std::string build_of_process() {
  std::ifstream file("/proc/self/exe", std::ios::binary | std::ios::ate);
  std::string bytes(static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0)), '\0');
  file.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string text_in(const net::Message& message) {
  return {reinterpret_cast<const char*>(message.bytes().data()), message.bytes().size()};
}

}  // namespace

Connection* Connection::get() { return of_process().made.load(std::memory_order_acquire); }

Connection* Connection::make() {
  OfProcess& process = of_process();
  const std::lock_guard lock(process.mutex);
  if (!std::exchange(process.tried, true)) {
    try {
      if (std::unique_ptr<net::Transport> transport = net::connect();
          transport != nullptr && transport->ranks() > 1) {
        process.connection = std::make_unique<Connection>(std::move(transport));
        process.made.store(process.connection.get(), std::memory_order_release);
      }
    } catch (...) { process.error = std::current_exception(); }
  }
  if (process.error) std::rethrow_exception(process.error);
  return process.connection.get();
}

Connection::Connection(std::unique_ptr<net::Transport> transport)
    : mailbox_(
          std::move(transport),
          [this](const net::Expected& expected, const net::Message& found) {
            suspect(text_of(expected, found));
          },
          name_of_kind),
      hang_watch_(mailbox_, number_of(MessageKind::hang),
                  [this](const std::string& text) { suspect(text); }) {
  // A rank that has begun its program may ask before the check of this one is there.
  mailbox_.serve(number_of(MessageKind::differing_calls), nullptr);
}

std::string Connection::text_of(const net::Expected& expected, const net::Message& found) {
  const auto ended = [](net::Rank rank, net::Rank other, const std::string& error) {
    return fmt::format("refrain: rank {} has ended with an error that rank {} has not: {}", rank,
                       other, error);
  };
  if (found.header().kind == number_of(MessageKind::error))
    return ended(found.header().from, rank(), text_in(found));
  const std::lock_guard lock(mutex_);
  if (expected.header.kind == number_of(MessageKind::error))
    return ended(rank(), expected.header.from, error_);
  const net::Header &wanted = expected.header, &got = found.header();
  const bool is_of_another_size =
      wanted.kind == got.kind && wanted.call == got.call && wanted.argument == got.argument;
  return fmt::format(
      "refrain: the ranks do not make the same calls, as control replication needs them to: rank "
      "{} waits for {}; what it has got is {}{}",
      rank(), mailbox_.text_of(expected), mailbox_.text_of({got, {}}),
      is_of_another_size ? ", for another number of points" : "");
}

void Connection::note_error(const std::string& error) {
  const std::lock_guard lock(mutex_);
  error_ = error;
}

void Connection::suspect(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (suspects_.exchange(true, std::memory_order_relaxed)) return;
    why_ = why;
    suspects_since_ = profile::now_ns();
  }
  if (suspect_) return suspect_(why);
  mailbox_.transport().abort(why);
}

void Connection::look() {
  if (!suspects_.load(std::memory_order_relaxed)) return;
  constexpr std::uint64_t kMost = 3'000'000'000;
  const std::lock_guard lock(mutex_);
  if (profile::now_ns() - suspects_since_ > kMost) mailbox_.transport().abort(why_);
}

bool Connection::poll() {
  const std::unique_lock lock(polling_, std::try_to_lock);
  if (!lock) return false;
  look();
  return mailbox_.poll();
}

void Connection::rest() {
  const std::unique_lock lock(polling_, std::try_to_lock);
  if (lock) hang_watch_.rest(profile::now_ns());
}

template <class Done>
void Connection::poll_until(const Done& done) {
  while (!done()) {
    if (poll()) continue;
    // A runtime that lives polls, too, and says when it rests.
    if (!is_used()) rest();
    std::this_thread::yield();
  }
}

void Connection::agree(std::span<const net::Item> items, std::span<std::uint64_t> least) {
  static const std::string build = build_of_process();
  std::vector<net::Item> all{{"the program's file", build}};
  all.insert(all.end(), items.begin(), items.end());
  net::agree(mailbox_, number_of(MessageKind::start), all, least, [this] {
    look();
    rest();
  });
  has_agreed_ = true;
}

std::shared_ptr<net::Mailbox> Connection::use() {
  REFRAIN_ASSERT(!is_used(), "one program at a time has the connection");
  std::shared_ptr<net::Mailbox> lent(&mailbox_, [](net::Mailbox*) {});
  used_ = lent;
  return lent;
}

void Connection::tell(const std::string& error) {
  note_error(error);
  const auto bytes = std::as_bytes(std::span(error));
  // Of texts that are not the same one character is left.
  const auto combine = [](net::Bytes& into, std::span<const std::byte> next) {
    if (!std::ranges::equal(into, next)) into.assign(1, std::byte{0});
  };
  bool same = false;
  std::atomic<bool> done{false};
  net::all_reduce(mailbox_, {number_of(MessageKind::error)}, {bytes.begin(), bytes.end()}, combine,
                  [&](const net::Bytes& result) {
                    same = std::ranges::equal(result, bytes);
                    done = true;
                  });
  poll_until([&] { return done.load(); });
  if (same && rank() != 0) return;
  const std::string who = same ? std::string() : fmt::format("rank {}: ", rank());
  std::fprintf(stderr, "%s%s\n", who.c_str(), error.c_str());
}

Connection::~Connection() {
  if (is_used()) {
    mailbox_.transport().abort(fmt::format(
        "refrain: rank {} has ended its process while {}", rank(),
        runs_ ? "its program was running"
              : "there was a Runtime, which ends with those of the other ranks: end it before, "
                "also if it is static"));
  }
  std::atomic<bool> done{false};
  net::all_reduce(
      mailbox_, {number_of(MessageKind::end)}, {}, [](net::Bytes&, std::span<const std::byte>) {},
      [&](const net::Bytes&) { done = true; });
  poll_until([&] { return done.load(); });
}

}  // namespace refrain::replication
