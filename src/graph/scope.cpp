#include "graph/scope.hpp"

#include <algorithm>
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

std::uint64_t Scope::next_identity() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

Scope::Scope(Executor& executor, Scope* parent, std::uint32_t window)
    : executor_(executor),
      parent_(parent),
      window_(window),
      gate_(std::max(1, executor.options().accumulators)) {
  const Executor::Opened opened = executor_.open(*this);
  owner_ = opened.owner;
  task_ = opened.task;
}

Scope::~Scope() {
  collect();
  REFRAIN_ASSERT(replays_.empty(), "replays end before their scope");
  REFRAIN_ASSERT(in_flight() == 0 && operations() == 0,
                 "a scope ends when nothing of it is in flight");
  executor_.close(*this);
}

std::size_t Scope::collect() {
  for (Node* node = std::exchange(own_returns_, nullptr); node != nullptr;)
    take_back(*std::exchange(node, node->next));
  // seq_cst: a thread about to sleep looks here after Notifier::prepare; partner: give_back.
  if (returns_.load(std::memory_order_seq_cst)) {
    // acquire: partner of the release in give_back.
    Node* node = returns_.exchange(nullptr, std::memory_order_acquire);
    while (node != nullptr) {
      if (node->ahead != nullptr) prefetch_node(*node->ahead);
      take_back(*std::exchange(node, node->next));
    }
  }
  return in_flight();
}

void Scope::take_back(Node& node) {
  if (node.failure.load(std::memory_order_relaxed)) [[unlikely]]
    failures_.reclaimed(node);
  window_.came_back(node);
  if (reclaim) reclaim(node);
  pool_.put(node);
}

void Scope::drain(const NodeInfo* waiter) {
  // Replays first: asking them may make a node, or find one complete that has not come back yet.
  const auto drained = [this] { return replays_idle() && collect() <= window_.held(); };
  if (drained()) return;
  executor_.wait(*this, drained, {}, waiter);
}

/// Looks at each, and detaches it if it is at rest then.
template <class Look>
void Scope::look_at_replays(Look look) {
  std::erase_if(replays_, [&look](Replays* replays) {
    look(*replays);
    if (!replays->at_rest()) return false;
    replays->detached();
    return true;
  });
}

/// Whoever waits asks again and again: the first that is not idle moves to the front, so that the next call asks it alone.
bool Scope::replays_idle() {
  const auto busy = std::ranges::find_if_not(replays_, &Replays::idle);
  if (busy != replays_.end()) {
    std::iter_swap(replays_.begin(), busy);
    return false;
  }
  look_at_replays([](Replays&) {});
  return true;
}

void Scope::give_up_unpublished(const std::exception_ptr& error) noexcept {
  Node* first = nullptr;
  for_each_live([&first](Node& node) {
    if (node.pending.load(std::memory_order_relaxed) == Node::kUnpublished)
      node.next = std::exchange(first, &node);
  });
  while (first != nullptr) {
    Node& node = *std::exchange(first, first->next);
    fail(node, error);
    // With a failure a run only releases what the node holds.
    if (node.run == nullptr) node.run = [](Node&, Execution&) {};
    node.flags &= static_cast<std::uint8_t>(kReducer | kAuxiliary);
    node.priority = 0;
    node.processor = 0;
    executor_.publish(node, {});
  }
}

FailureRef Scope::take_failure() {
  look_at_replays([](Replays& replays) { (void)replays.idle(); });
  collect();
  return failures_.take();
}

Node* Scope::take_slow(int size_class) {
  collect();
  Node* node = pool_.take_free(size_class);
  if (node != nullptr) return node;
  node = pool_.carve(size_class);
  node->scope = this;
  return node;
}

void Scope::make_room() {
  if (window_.nodes_at_limit()) make_room_among_nodes();
  if (window_.operations_full()) make_room_beside_replays(1);
}

// Called every few hundred launches, so that complete nodes are taken back while they are in the cache.
void Scope::make_room_among_nodes() {
  constexpr std::size_t burst = Window::kBurst;
  if (collect() < window_.most_nodes()) {
    const bool relieved = window_.nodes_at_limit() &&
                          executor_.relieve(*this, in_flight() > burst ? in_flight() - burst : 0);
    return window_.look_at(in_flight() + (relieved ? burst / 4 : burst));
  }
  const std::size_t target = window_.most_nodes() - std::max<std::size_t>(1, window_.size() / 4);
  executor_.wait(
      *this, [this, target] { return collect() <= target; }, {}, nullptr);
  window_.look_at(0);
}

// A replay counts as a whole until its last operation is done. When that waits for an access that the owner holds open,
// the wait for room is a deadlock. Then the owner goes on, and waits again when it has launched a window more.
void Scope::make_room_beside_replays(std::size_t more) {
  const auto there_is = [this](std::size_t room) {
    // Replays first: they may find a node complete that has not come back yet.
    look_at_replays([](Replays& replays) { replays.collect(); });
    collect();
    return window_.has_room(room);
  };
  window_.stay_within();
  if (there_is(more)) return;
  // Where replays are small, room for several: whether there is any is asked of all recordings.
  const std::size_t room = more + (window_.is_widened() ? 0 : window_.size() / 4);
  try {
    executor_.wait(
        *this, [&] { return there_is(room); }, {}, nullptr);
  } catch (const Deadlock&) { window_.go_beyond(more); }
}

}  // namespace refrain::exec
