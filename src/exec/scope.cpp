#include "exec/scope.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "exec/executor.hpp"

namespace refrain::exec {

namespace {
/// With one thread, nodes are run a few hundred at a time: their memory is still in the cache.
constexpr std::size_t kBurst = 256;
}  // namespace

Scope::Scope(Executor& executor, Scope* parent, std::uint32_t window)
    : executor_(executor),
      parent_(parent),
      window_(std::max(1U, window)),
      depth_(parent ? parent->depth_ + 1 : 0),
      gate_(std::max(1, executor.options().accumulators)) {
  limit_ = executor.threads() == 1 ? std::min<std::size_t>(kBurst, window_) : window_;
  const Executor::Opened opened = executor_.open(*this);
  owner_ = opened.owner;
  task_ = opened.task;
}

Scope::~Scope() {
  collect();
  REFRAIN_ASSERT(in_flight() == 0, "a scope ends when nothing of it is in flight");
  executor_.close(*this);
}

std::size_t Scope::collect() {
  if (own_returns_) take_back(std::exchange(own_returns_, nullptr));
  // seq_cst: a thread about to sleep looks here after Notifier::prepare; partner: give_back.
  if (returns_.load(std::memory_order_seq_cst)) {
    // acquire: partner of the release in give_back.
    take_back(returns_.exchange(nullptr, std::memory_order_acquire));
  }
  return in_flight();
}

void Scope::take_back(Node* list) {
  while (list) {
    Node& node = *list;
    list = node.next;
    if (node.failure.load(std::memory_order_relaxed)) [[unlikely]]
      failures_.reclaimed(node);
    if (reclaim) reclaim(node);
    pool_.put(node);
    ++collected_;
  }
}

void Scope::drain(const NodeInfo* waiter) {
  if (collect() == 0) return;
  executor_.wait(
      *this, [this] { return collect() == 0; }, {}, waiter);
}

Node* Scope::take_slow(int size_class) {
  collect();
  Node* node = pool_.take_free(size_class);
  return node ? node : pool_.carve(size_class);
}

void Scope::make_room() {
  if (collect() < limit_) return;
  const std::size_t most = std::size_t{window_} + held_;
  if (limit_ < most) {
    const bool relieved = executor_.relieve(*this, in_flight() > kBurst ? in_flight() - kBurst : 0);
    limit_ = std::min<std::size_t>(
        most, relieved ? std::max(kBurst, in_flight() + kBurst / 4) : in_flight() + kBurst);
    if (in_flight() < limit_) return;
  }
  const std::size_t target = most - std::max<std::size_t>(1, window_ / 4);
  executor_.wait(
      *this, [this, target] { return collect() <= target; }, {}, nullptr);
  limit_ = (executor_.threads() == 1 ? std::min<std::size_t>(kBurst, window_) : window_) + held_;
}

}  // namespace refrain::exec
