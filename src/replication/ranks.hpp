#pragma once
// What the programs of a runtime share on several ranks: the mailbox, the check that all ranks make the same calls, and the
// machine of all ranks.

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "graph/executor.hpp"
#include "machine/machine.hpp"
#include "net/mailbox.hpp"
#include "replication/connection.hpp"
#include "replication/control_check.hpp"
#include "replication/message_kind.hpp"

namespace refrain::replication {

class Ranks final : public exec::Outside {
 public:
  /// `connection`: the mailbox's; null: the ranks are in one process. `interval`: of the check, in calls; 0: there is
  /// none. `capacities`: the least that any rank has, by memory.
  Ranks(std::shared_ptr<net::Mailbox> mailbox, Connection* connection, std::size_t interval,
        std::vector<std::uint64_t> capacities)
      : mailbox_(std::move(mailbox)), connection_(connection), capacities_(std::move(capacities)) {
    if (interval == 0) return;
    check_ = std::make_unique<ControlCheck>(
        *mailbox_,
        CheckKinds{number_of(MessageKind::calls), number_of(MessageKind::differing_calls)},
        interval, [this](const std::string& text) { mailbox_->transport().abort(text); });
    if (connection_ != nullptr)
      connection_->set_suspect([this](const std::string& why) { check_->suspect(why); });
  }
  ~Ranks() override {
    if (connection_ != nullptr) connection_->set_suspect(nullptr);
  }
  [[nodiscard]] net::Mailbox& mailbox() { return *mailbox_; }
  /// Whether each is a process of its own.
  [[nodiscard]] bool are_processes() const { return connection_ != nullptr; }

  bool poll() override {
    try {
      return connection_ != nullptr ? connection_->poll() : mailbox_->poll();
    } catch (const std::exception& error) {  // no memory: the message is lost
      mailbox_->transport().abort(std::string("refrain: a message was lost: ") + error.what());
    }
    std::abort();  // g++ 12 does not believe that abort() is the end
  }
  [[nodiscard]] bool may_come() const override { return mailbox_->transport().may_come(); }
  void rest() override {
    if (connection_ != nullptr) connection_->rest();
  }
  void set_running(bool runs) {
    if (connection_ != nullptr) connection_->set_running(runs);
  }
  void note_error(const std::string& error) {
    if (connection_ != nullptr) connection_->note_error(error);
  }
  /// The ranks' programs differ: ends the run, with the first call that is not the same, or with this text.
  void suspect(const std::string& why) {
    if (connection_ != nullptr) connection_->suspect(why);
    else if (check_ != nullptr) check_->suspect(why);
    else mailbox_->transport().abort(why);
  }
  /// Null: there is none.
  [[nodiscard]] ControlCheck* check() { return check_.get(); }
  /// The machine of all ranks, each of which has one like `own`. Made when it is first asked for: where there are
  /// thousands of ranks, a program that does not ask has no use for it. Any thread.
  [[nodiscard]] const Machine& machine(const Machine& own) {
    std::call_once(machine_made_, [&] {
      machine_ = std::make_unique<Machine>(machine::of_ranks(own, mailbox_->ranks(), capacities_));
    });
    return *machine_;
  }

 private:
  const std::shared_ptr<net::Mailbox> mailbox_;
  Connection* const connection_;
  std::unique_ptr<ControlCheck> check_;
  const std::vector<std::uint64_t> capacities_;
  std::once_flag machine_made_;
  std::unique_ptr<const Machine> machine_;  ///< of all ranks
};

}  // namespace refrain::replication
