#pragma once
// One rank of a run that is not there: what it sends is dropped, and what it awaits comes at once, as zeros. So a
// process shows what one shard of any number costs, and nothing of what it computes is true.

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "net/transport.hpp"

namespace refrain::net {

class Dry final : public Transport {
 public:
  Dry(Rank rank, Rank ranks) : rank_(rank), ranks_(ranks) {}

  [[nodiscard]] Rank rank() const override { return rank_; }
  [[nodiscard]] Rank ranks() const override { return ranks_; }
  void send(Message /*message*/) override {}
  void expect(const Header& header) override;
  std::optional<Message> poll() override;
  [[nodiscard]] bool may_come() const override;
  [[noreturn]] void abort(const std::string& text) noexcept override;

 private:
  const Rank rank_, ranks_;
  mutable std::mutex mutex_;
  std::vector<Header> expected_;  ///< under the mutex
};

}  // namespace refrain::net
