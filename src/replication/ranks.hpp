#pragma once
// What the programs of a runtime share on several ranks: the mailbox, and the check that all ranks make the same calls.

#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "graph/executor.hpp"
#include "net/mailbox.hpp"
#include "replication/connection.hpp"
#include "replication/control_check.hpp"
#include "replication/message_kind.hpp"

namespace refrain::replication {

class Ranks final : public exec::Outside {
 public:
  /// `connection`: the mailbox's; null: the ranks are in one process. `interval`: of the check, in calls; 0: there is
  /// none.
  Ranks(std::shared_ptr<net::Mailbox> mailbox, Connection* connection, std::size_t interval)
      : mailbox_(std::move(mailbox)), connection_(connection) {
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
  void note_error(const std::string& error) {
    if (connection_ != nullptr) connection_->note_error(error);
  }
  /// Null: there is none.
  [[nodiscard]] ControlCheck* check() { return check_.get(); }

 private:
  const std::shared_ptr<net::Mailbox> mailbox_;
  Connection* const connection_;
  std::unique_ptr<ControlCheck> check_;
};

}  // namespace refrain::replication
