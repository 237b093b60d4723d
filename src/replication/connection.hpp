#pragma once
// The connection of a process with the other ranks of its run. The first who asks makes it; it ends with the process.
// One program after the other uses it, and none at the same time: their messages share numbers.
//
// Threads: what makes it and asks for it may be called by any; programs are run by one at a time. What polls the mailbox
// is one thread at a time, too, which tells when nothing comes.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "net/agreement.hpp"
#include "net/hang_watch.hpp"
#include "net/mailbox.hpp"

namespace refrain::replication {

class Connection {
 public:
  /// Of this process; null: it runs alone, or nobody has connected it.
  static Connection* get();
  /// The same; makes it if a launcher has started the process. InputError as of net::connect.
  static Connection* make();

  explicit Connection(std::unique_ptr<net::Transport> transport);
  Connection(const Connection&) = delete;
  /// Waits for the other ranks to end, too. Where a runtime still has the connection it ends the run.
  ~Connection();

  [[nodiscard]] net::Rank rank() const { return mailbox_.rank(); }
  [[nodiscard]] net::Rank ranks() const { return mailbox_.ranks(); }
  /// The run ends where a rank waits for so long; 0: it may. While nobody polls.
  void set_limit(net::HangWatch::Nanoseconds limit) { hang_watch_.set_limit(limit); }
  /// Takes in what has come. Whether there was anything: not while another thread polls, as one that tells an error while
  /// a runtime lives.
  bool poll();
  /// By who polls: this rank is at rest.
  void rest();
  /// Whether a program has the mailbox.
  [[nodiscard]] bool is_used() const { return !used_.expired(); }
  /// While none has: as net::agree, on the program's file, too. Collective.
  void agree(std::span<const net::Item> items, std::span<std::uint64_t> least = {});
  /// Whether the ranks have agreed that they were started alike.
  [[nodiscard]] bool has_agreed() const { return has_agreed_; }
  /// For one program at a time, until the last copy ends. While none has it.
  [[nodiscard]] std::shared_ptr<net::Mailbox> use();

  /// Who is told, once, when messages do not fit or the run hangs, and has some seconds to find out why; null: the run
  /// ends at once. While nobody polls.
  void set_suspect(std::function<void(const std::string&)> suspect) {
    suspect_ = std::move(suspect);
  }
  /// A program begins or has ended: for the report where the process ends in between.
  void set_running(bool runs) { runs_ = runs; }
  /// Something is wrong. Any thread.
  void suspect(const std::string& why);
  /// The error with which this rank's program ends, for reports.
  void note_error(const std::string& error);

  /// The error that ends the program, on standard error: once where all ranks end with the same. Collective; a rank that
  /// does not end, and needs something of one that does, says so and ends the run.
  void tell(const std::string& error);

 private:
  void look();
  [[nodiscard]] std::string text_of(const net::Expected& expected, const net::Message& found);
  /// Takes in messages until `done`.
  template <class Done>
  void poll_until(const Done& done);

  net::Mailbox mailbox_;
  net::HangWatch hang_watch_;
  std::weak_ptr<net::Mailbox> used_;
  bool has_agreed_ = false;
  std::atomic<bool> runs_{false};
  std::function<void(const std::string&)> suspect_;
  std::mutex polling_;  ///< around what the thread that polls uses
  std::mutex mutex_;    ///< around all below
  std::string error_;
  std::string why_;  ///< the first suspicion
  std::uint64_t suspects_since_ = 0;
  std::atomic<bool> suspects_{false};  ///< relaxed: the mutex is around what it says
};

}  // namespace refrain::replication
