#include "replication/connection.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "base/hash.hpp"
#include "net/all_reduce.hpp"
#include "net/launcher.hpp"
#include "profile/clock.hpp"
#include "replication/message_kind.hpp"

namespace refrain::replication {

namespace {

std::unique_ptr<Connection>& of_process() {
  static std::unique_ptr<Connection> connection;
  return connection;
}

/// A hash of the program's file.
std::string build_of_process() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string text_in(const net::Message& message) {
  return {reinterpret_cast<const char*>(message.bytes().data()), message.bytes().size()};
}

}  // namespace

Connection* Connection::get() { return of_process().get(); }

Connection* Connection::make(std::span<const net::Item> items) {
  static bool tried = false;
  if (std::exchange(tried, true)) return get();
  std::unique_ptr<net::Transport> transport = net::connect();
  if (transport == nullptr) return nullptr;
  of_process() = std::make_unique<Connection>(std::move(transport));
  get()->agree(items);
  return get();
}

Connection::Connection(std::unique_ptr<net::Transport> transport)
    : mailbox_(
          std::move(transport),
          [this](const net::Expected& expected, const net::Message& found) {
            std::string text = fmt::format(
                "refrain: the ranks do not make the same calls, as control replication needs them "
                "to: rank {} waits for {}; ",
                rank(), mailbox_.text_of(expected));
            if (found.header().kind == number_of(MessageKind::error))
              text += fmt::format("rank {} has ended with an error: {}", found.header().from,
                                  text_in(found));
            else text += "what it has got is " + mailbox_.text_of({found.header(), {}});
            suspect(text);
          },
          name_of_kind),
      hang_watch_(mailbox_, number_of(MessageKind::hang),
                  [this](const std::string& text) { suspect(text); }) {}

void Connection::suspect(const std::string& why) {
  if (suspect_) return suspect_(why);
  mailbox_.transport().abort(why);
}

template <class Done>
void Connection::poll_until(const Done& done) {
  while (!done()) {
    if (mailbox_.poll()) continue;
    hang_watch_.rest(profile::now_ns());
    std::this_thread::yield();
  }
}

void Connection::agree(std::span<const net::Item> items) {
  std::vector<net::Item> all{{"the program's file", build_of_process()}};
  all.insert(all.end(), items.begin(), items.end());
  net::agree(mailbox_, number_of(MessageKind::start), all);
}

std::shared_ptr<net::Mailbox> Connection::use() {
  if (!used_.expired()) return nullptr;
  std::shared_ptr<net::Mailbox> lent(&mailbox_, [](net::Mailbox*) {});
  used_ = lent;
  return lent;
}

void Connection::tell(const std::string& error) {
  const auto bytes = std::as_bytes(std::span(error));
  // Of texts that are not the same nothing is left.
  const auto combine = [](net::Bytes& into, std::span<const std::byte> next) {
    if (!std::ranges::equal(into, next)) into.clear();
  };
  bool same = false;
  std::atomic<bool> done{false};
  net::all_reduce(mailbox_, {number_of(MessageKind::error)}, {bytes.begin(), bytes.end()}, combine,
                  [&](const net::Bytes& result) {
                    same = !result.empty();
                    done = true;
                  });
  poll_until([&] { return done.load(); });
  if (same && rank() != 0) return;
  const std::string who = same ? std::string() : fmt::format("rank {}: ", rank());
  std::fprintf(stderr, "%s%s\n", who.c_str(), error.c_str());
}

Connection::~Connection() {
  if (!used_.expired()) {
    mailbox_.transport().abort(fmt::format(
        "refrain: rank {} has ended its process while its program was running", rank()));
  }
  std::atomic<bool> done{false};
  net::all_reduce(
      mailbox_, {number_of(MessageKind::end)}, {}, [](net::Bytes&, std::span<const std::byte>) {},
      [&](const net::Bytes&) { done = true; });
  poll_until([&] { return done.load(); });
}

}  // namespace refrain::replication
