#include "graph/scope.hpp"

#include <functional>
#include <utility>

#include "base/assert.hpp"
#include "graph/executor.hpp"
#include "graph/replays.hpp"
#include "refrain/error.hpp"

namespace refrain::exec {

namespace {

/// The owner will write all of it again, and other threads have written it: its lines are wanted exclusively.
void prefetch_node(const Node& node) {
#if defined(__x86_64__)
  // The compiler's own would ask for a shared copy unless told of a newer processor.
  asm volatile("prefetchw (%0)\n\tprefetchw 64(%0)\n\tprefetchw 128(%0)" : : "r"(&node));
#else
  for (int at : {0, 64, 128}) __builtin_prefetch(reinterpret_cast<const char*>(&node) + at, 1);
#endif
}

}  // namespace

Scope::Scope(Executor& executor, Scope* parent, std::uint32_t window)
    : executor_(executor),
      parent_(parent),
      window_(window),
      gate_(std::max(1, executor.options().accumulators)) {
  executor_.open(*this);
}

Scope::~Scope() {
  collect();
  REFRAIN_ASSERT(replays_.empty(), "replays end before their scope");
  REFRAIN_ASSERT(in_flight() == 0 && window_.operations() == 0,
                 "a scope ends when nothing of it is in flight");
  executor_.close(*this);
}

std::size_t Scope::collect() {
  for_each_linked(std::exchange(own_returns_, nullptr), [this](Node& node) { take_back(node); });
  // seq_cst: a thread about to sleep looks here after Notifier::prepare; partner: give_back.
  if (returns_.load(std::memory_order_seq_cst)) {
    // acquire: partner of the release in give_back.
    for_each_linked(returns_.exchange(nullptr, std::memory_order_acquire), [this](Node& node) {
      if (node.ahead != nullptr) prefetch_node(*node.ahead);
      take_back(node);
    });
  }
  return in_flight();
}

void Scope::take_back(Node& node) {
  window_.came_back(node);
  if (user != nullptr) user->reclaim(node);
  pool_.put(node);
}

void Scope::drain(const NodeInfo* waiter) {
  // Replays first: asking them may make a node, or find one complete that has not come back yet.
  const auto drained = [this] { return replays_idle() && collect() <= window_.held(); };
  if (drained()) return;
  executor_.wait(*this, drained, {}, waiter);
}

/// Whoever waits asks again and again: the first that is not idle moves to the front, so that the next call asks it
/// alone.
bool Scope::replays_idle() {
  const auto busy = std::ranges::find_if_not(replays_, &Replays::idle);
  if (busy != replays_.end()) {
    std::iter_swap(replays_.begin(), busy);
    return false;
  }
  std::erase_if(replays_, std::mem_fn(&Replays::at_rest));
  return true;
}

void Scope::give_up_unpublished(const std::exception_ptr& error) noexcept {
  Node* first = nullptr;
  for_each_live([&first](Node& node) {
    if (node.pending.load(std::memory_order_relaxed) == Node::kUnpublished)
      node.next = std::exchange(first, &node);
  });
  for_each_linked(first, [&](Node& node) {
    // Whoever gives up knows of it.
    fail(node, {identity(), node.seq}, error);
    // With a failure a run only releases what the node holds.
    if (node.run == nullptr) node.run = [](Node&, Execution&) {};
    node.flags &= static_cast<std::uint8_t>(kReducer | kAuxiliary);
    node.flags |= kFailed | kGivenUp;
    node.priority = 0;
    node.processor = 0;
    executor_.publish(node, {});
  });
}

Node* Scope::take_slow(int size_class) {
  collect();
  Node* node = pool_.take_free(size_class);
  if (node != nullptr) return node;
  node = pool_.carve(size_class);
  node->scope = this;
  return node;
}

// Called every few hundred launches at least, so that complete nodes are taken back while they are in the cache.
//
// A replay counts as a whole until its last operation is done. When that waits for an access that the owner holds open,
// the wait for room is a deadlock. Then the owner goes on, and waits again when it has launched a window more.
void Scope::make_room(std::size_t more, bool to_replay) {
  constexpr std::size_t burst = Window::kBurst;
  const auto there_is = [this, to_replay](std::size_t room) {
    // Replays first: they may find a node complete that has not come back yet.
    for (Replays* replays : replays_) replays->collect();
    std::erase_if(replays_, std::mem_fn(&Replays::at_rest));
    if (replays_.empty() && !to_replay) window_.bound(window_.size());
    collect();
    return window_.has_room(room);
  };
  window_.stay_within();
  if (there_is(more)) {
    const bool relieved =
        window_.full() && executor_.relieve(*this, in_flight() > burst ? in_flight() - burst : 0);
    return window_.look_at(window_.operations() + (relieved ? burst / 4 : burst));
  }
  // Room for several. Where replays are large, a part of one is enough.
  const std::size_t room = more + (window_.is_widened() ? 0 : window_.size() / 4);
  try {
    executor_.wait(
        *this, [&] { return there_is(room); }, {}, nullptr);
  } catch (const Deadlock&) {
    if (!to_replay && window_.nodes() >= window_.size() + window_.held()) throw;
    return window_.go_beyond(more);
  }
  window_.look_at(0);
}

}  // namespace refrain::exec
