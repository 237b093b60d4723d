#include "net/in_process.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/assert.hpp"

namespace refrain::net {

struct InProcess::Shared {
  const Rank ranks;
  const Choose choose;
  const Watch watch;
  std::mutex mutex;
  std::vector<std::vector<Message>> boxes;  ///< by receiver; under the mutex
};

class InProcess::End final : public Transport {
 public:
  End(std::shared_ptr<Shared> shared, Rank rank) : shared_(std::move(shared)), rank_(rank) {}

  [[nodiscard]] Rank rank() const override { return rank_; }
  [[nodiscard]] Rank ranks() const override { return shared_->ranks; }
  void send(Message message) override {
    const Rank to = message.header().to;
    REFRAIN_ASSERT(message.header().from == rank_ && to != rank_ && to < ranks(),
                   "a message goes from this rank to another one");
    const std::lock_guard lock(shared_->mutex);
    if (shared_->watch) shared_->watch(message);
    shared_->boxes[to].push_back(std::move(message));
  }
  std::optional<Message> poll() override {
    const std::lock_guard lock(shared_->mutex);
    std::vector<Message>& box = shared_->boxes[rank_];
    if (box.empty()) return std::nullopt;
    const std::size_t chosen = shared_->choose(box.size() + 1);
    if (chosen == box.size()) return std::nullopt;  // all of them are late
    std::swap(box[chosen], box.back());
    Message message = std::move(box.back());
    box.pop_back();
    return message;
  }
  [[nodiscard]] bool may_come() const override {
    const std::lock_guard lock(shared_->mutex);
    return !shared_->boxes[rank_].empty();
  }
  [[noreturn]] void abort(const std::string& text) noexcept override {
    std::fprintf(stderr, "%s\n", text.c_str());
    std::abort();
  }

 private:
  std::shared_ptr<Shared> shared_;
  Rank rank_;
};

InProcess::InProcess(Rank ranks, Choose choose, Watch watch)
    : shared_(new Shared{ranks, std::move(choose), std::move(watch), {}, {}}) {
  shared_->boxes.resize(ranks);
}
InProcess::~InProcess() = default;

std::unique_ptr<Transport> InProcess::open(Rank rank) const {
  return std::make_unique<End>(shared_, rank);
}

std::size_t InProcess::in_flight() const {
  const std::lock_guard lock(shared_->mutex);
  std::size_t messages = 0;
  for (const auto& box : shared_->boxes) messages += box.size();
  return messages;
}

}  // namespace refrain::net
