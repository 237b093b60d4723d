#include "graph/replays.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "graph/executor.hpp"
#include "graph/replay_steps.hpp"
#include "graph/scope.hpp"
#include "profile/clock.hpp"

namespace refrain::exec {

namespace {
constexpr std::align_val_t kSlotAlign{64};
constexpr std::uint32_t kLeastSlots = 4;
}  // namespace

Replays::Replays(Executor& executor, Scope& scope, const Template& recorded, std::uint32_t slots)
    : executor_(executor),
      scope_(scope),
      template_(recorded),
      order_(executor.options().path_order ? std::make_unique<PathOrder>(recorded) : nullptr),
      most_slots_(std::max(kLeastSlots, slots != 0 ? slots
                                                   : static_cast<std::uint32_t>(
                                                         scope.window().size() / recorded.size()))),
      burst_(executor.replay_burst()),
      alone_(executor.threads() == 1) {}

Replays::~Replays() {
  REFRAIN_ASSERT(idle(), "replays end when nothing of them is in flight");
  if (attached_) scope_.detach(*this);
}

// --- slots -----------------------------------------------------------------------------------------

void Replays::FreeSlot::operator()(Replay* slot) const {
  slot->~Replay();
  ::operator delete(slot, kSlotAlign);
}

std::size_t Replays::slot_bytes() const {
  return sizeof(Replay) + template_.size() * sizeof(LiveNode);
}

void Replays::set_counts(Replay& slot, bool anew) {
  LiveNode* live = slot.live();
  for (std::uint32_t i = 0; i < template_.size(); ++i) {
    const std::uint32_t count =
        anew ? template_.inner_predecessors(i) + 1 : template_.node(i).predecessors;
    live[i].pending.store(static_cast<std::int32_t>(count), std::memory_order_relaxed);
  }
}

void Replays::add_slot() {
  slots_.reserve(slots_.size() + 1);
  free_.reserve(slots_.size() + 1);
  std::unique_ptr<Replay, FreeSlot> slot(new (::operator new(slot_bytes(), kSlotAlign)) Replay);
  for (std::uint32_t i = 0; i < template_.size(); ++i) (new (slot->live() + i) LiveNode)->index = i;
  slot->nodes = template_.nodes();
  slot->successors = template_.successors();
  slot->extras = std::make_unique<ReplayExtras>(*slot, template_, scope_, order_.get());
  set_counts(*slot, false);
  free_.push_back(slot.get());
  slots_.push_back(std::move(slot));
}

/// A free slot, which prepare_slots has made sure of.
Replay& Replays::take_free() {
  Replay& slot = *free_.back();
  free_.pop_back();
  return slot;
}

bool Replays::is_complete(const Replay& replay) {
  // seq_cst: a thread about to sleep looks here; partner: sink_done.
  return replay.sinks_left.load(std::memory_order_seq_cst) == 0;
}

/// Replays are collected in their order. One that ends before an older one, which is rare, is collected with that.
void Replays::collect() {
  for (; collected_ < in_flight_.size(); ++collected_) {
    if (&oldest() == present_ || !is_complete(oldest())) break;
    finish(oldest());
  }
  if (2 * collected_ < in_flight_.size()) return;
  in_flight_.erase(in_flight_.begin(),
                   in_flight_.begin() + static_cast<std::ptrdiff_t>(collected_));
  collected_ = 0;
}

/// The number of issued operations of the present replay that have no node; 0 if all are done for certain.
std::uint32_t Replays::to_be_done() const { return in_order() ? 0 : issued_ - next_node_; }

/// The present replay is issued whole, or left. From here on the window counts its operations.
void Replays::count(Replay& replay) {
  replay.extras->counted = to_be_done();
  scope_.window().count_replayed(replay.extras->counted);
}

/// Ends a replay that is complete.
void Replays::finish(Replay& replay) {
  scope_.window().count_replayed(-std::ptrdiff_t{replay.extras->counted});
  // relaxed: the owner's own event.
  if (replay.events.load(std::memory_order_relaxed) & kProxies)
    executor_.proxies().look(&replay, [this](Node& proxy) { executor_.complete_proxy(proxy); });
  note_failures(replay, template_.size());
  // After the last replay of a chain, the slot that was reserved for the next one is free, too. Nobody lowers its counts
  // any more.
  if (replay.extras->ends_chain && replay.after != nullptr) {
    if (!replay.extras->in_order) set_counts(*replay.after, false);
    end_slot(*replay.after);
  }
  end_slot(replay);
}

/// Tells the scope of the failures of the first `count` operations. They are done; an earlier failure may yet reach the
/// others.
void Replays::note_failures(const Replay& replay, std::uint32_t count) {
  replay.extras->for_each_failure([&](std::uint32_t index, const FailureRef& failure) {
    if (index < count) scope_.note_failure(replay.base + index, failure);
  });
}

/// Makes the slot free. Its counts are set, and nobody touches it until it is reserved or used again.
void Replays::end_slot(Replay& slot) {
  slot.extras->clear();
  slot.watermark.reset();
  slot.after = nullptr;
  free_.push_back(&slot);
}

// --- a replay ----------------------------------------------------------------------------------------

Replay& Replays::begin(bool carried) {
  REFRAIN_ASSERT(carried ? present_ != nullptr && issued_ == template_.size() : present_ == nullptr,
                 "a replay follows a complete one, or enters anew when the chain before was left");
  REFRAIN_ASSERT(early_.empty(), "what was parked early has been issued, or left");
  const bool reserved = carried && present_->after != nullptr;
  const std::size_t wanted = (reserved ? 0 : 1) + (template_.has_carried() ? 1 : 0);
  const bool in_order = can_run_in_order(carried);
  const bool present_in_order = this->in_order();
  // Whether the replay before has lowered counts in this one's slot.
  const bool lowered = carried && !present_->extras->in_order;
  const auto has_slots = [&] {  // asked after each operation that this thread runs meanwhile
    collect();
    return free_.size() + (most_slots_ - slots_.size()) >= wanted;
  };
  if (!has_slots()) executor_.wait(scope_, has_slots, {}, nullptr);
  Window& window = scope_.window();
  const std::size_t most = std::max(window.size(), kLeastSlots * std::size_t{template_.size()});
  scope_.make_room_to_replay(most, template_.size() + (carried ? to_be_done() : 0));
  prepare_slots(wanted);  // nothing throws from here on
  if (carried) count(*present_);
  Replay& replay = reserved ? *present_->after : take_free();
  replay.after = template_.has_carried() ? &take_free() : nullptr;
  replay.base = window.reserve(template_.size());
  replay.number = ++number_;
  replay.sinks_left.store(template_.sinks(), std::memory_order_relaxed);
  replay.extras->in_order = in_order;
  anew_ = !in_order && !lowered;
  if (anew_) set_counts(replay, true);
  if (in_order && lowered) {  // by what is complete: as if it had not been
    set_counts(replay, false);
    replay.watermark.reset();
  }
  in_flight_.push_back(&replay);
  present_ = &replay;
  if (order_ !=
      nullptr) {  // nothing of the replay is issued yet, so nobody looks at what it is run from
    if (!in_order && order_->times(replay.number, oldest().number))
      replay.events.fetch_or(kTimed, std::memory_order_relaxed);
    replay.nodes = order_->nodes();
    replay.successors = order_->successors();
  }
  if (!carried || !present_in_order) relieve_at_ -= issued_;
  issued_ = next_source_ = next_node_ = done_ = 0;
  find_simple_until();
  return replay;
}

/// Does what may fail of what a replay needs to begin: `count` slots, a place in in_flight_, and one in the scope.
void Replays::prepare_slots(std::size_t count) {
  while (free_.size() < count) add_slot();
  if (in_flight_.size() == in_flight_.capacity())
    in_flight_.reserve(std::max<std::size_t>(kLeastSlots, 2 * in_flight_.size()));
  if (attached_) return;
  scope_.attach(*this);
  attached_ = true;
}

void Replays::add_preconditions(Replay& replay, std::uint32_t index,
                                std::span<const Edge> outside) {
  REFRAIN_ASSERT(&replay == present_ && index >= issued_,
                 "preconditions are added before an operation is issued");
  const auto is_open = [](const Edge& edge) { return !exec::is_complete(edge.from); };
  if (std::none_of(outside.begin(), outside.end(), is_open)) {
    for (const Edge& edge : outside) {
      if (edge.kind != EdgeKind::data) continue;
      if (const Failure* failure = scope_.failure_of(edge.from))
        replay.extras->fail(index, FailureRef(failure));
    }
    return;
  }
  if (in_order()) leave_order(replay);
  LiveNode& live = replay.live()[index];
  Node& node = scope_.allocate(sizeof(LiveNode*));
  // relaxed: the watermark, moved later, makes it visible to who finds the operation issued.
  live.pending.fetch_add(1, std::memory_order_relaxed);
  node.kind = template_.operation(index).kind;  // its name, for messages
  node.info = template_.operation(index).info;
  node.flags = kPrecondition;
  scope_.window().mark_auxiliary();
  node.run = run_precondition;
  node.payload_as<LiveNode*>() = &live;
  executor_.publish(node, outside);
}

void Replays::issue_in_full(Replay& replay, std::uint32_t count) {
  REFRAIN_ASSERT(count <= template_.size(), "a replay has no more operations than its template");
  if (!replay.extras->in_order) return issue_in_graph(replay, count);
  if (count == issued_) return;
  // With one thread there are no others to take part. Reducers go on to their folds, since the gate has not heard of
  // them (graph/reducer_gate.hpp).
  const bool to_the_end = alone_ || !template_.with_node().empty();
  scope_.window().close(true);
  issued_ = executor_.run_in_order(replay, issued_, count, to_the_end);
  scope_.window().close(false);
  if (issued_ == template_.size()) {
    replay.sinks_left.store(0, std::memory_order_relaxed);  // only the owner has to do with it
  } else if (issued_ < count) {
    leave_order(replay);
    issue_in_graph(replay, count);
  }
}

void Replays::issue_in_graph(Replay& replay, std::uint32_t count) {
  const std::uint32_t from = issued_;
  if (next_node_ != template_.with_node().size()) make_nodes(replay, count);
  issued_ = count;
  release(replay, from, count, advance(replay, count));
  const bool relieve = count >= relieve_at_;
  if (relieve) relieve_at_ = count + burst_;
  find_simple_until();
  if (relieve) executor_.relieve(scope_, Executor::kAllReady);
}

/// Operations [from, to) have been issued, or left. Hands the executor what nothing but that held back: the operations
/// that are parked (the list that begins with `parked`, and those kept early) and the ones that have a guard.
void Replays::release(Replay& replay, std::uint32_t from, std::uint32_t to, std::uint32_t parked) {
  const std::uint32_t taken = take_parked(replay, parked, to);
  const std::span<const std::uint32_t> sources = take_sources(to);
  if (taken != 0 || anew_ || !sources.empty())
    executor_.release_replay(replay, {from, to, taken, sources, anew_});
}

/// Takes the operations before `to` from the parked ones, which are the list that begins with `first` and those kept
/// early. Returns them as such a list. The others are kept early, so that no later step looks at them in vain.
std::uint32_t Replays::take_parked(Replay& replay, std::uint32_t first, std::uint32_t to) {
  LiveNode* const live = replay.live();
  std::uint32_t taken = 0;
  const auto take = [&](std::uint32_t index) {
    live[index].next_parked = taken;
    taken = index + 1;
  };
  while (first != 0) {
    const std::uint32_t index = first - 1;
    first = live[index].next_parked;
    if (index < to) {
      take(index);
    } else {
      early_.push_back(index);
      std::ranges::push_heap(early_, std::greater<>());
    }
  }
  while (!early_.empty() && early_.front() < to) {
    std::ranges::pop_heap(early_, std::greater<>());
    take(early_.back());
    early_.pop_back();
  }
  return taken;
}

void Replays::find_simple_until() {
  const auto next_of = [](std::span<const std::uint32_t> these, std::uint32_t i) {
    return i < these.size() ? these[i] : Template::kMost;
  };
  simple_until_ = anew_ || in_order() ? 0
                                      : std::min({next_of(template_.sources(), next_source_),
                                                  next_of(template_.with_node(), next_node_),
                                                  relieve_at_ - 1, template_.size()});
}

// --- in order ----------------------------------------------------------------------------------------

bool Replays::can_run_in_order(bool carried) {
  if (!template_.one_thread_may_run_it() || !executor_.runs_in_order()) return false;
  // Everything before has to run first, and nobody else is going to run it: the replays before this one, and before the
  // first replay of a chain the nodes in flight.
  if (!all_complete() || (!carried && scope_.in_flight() > 0))
    executor_.relieve(scope_, Executor::kAllReady);
  return all_complete();
}

bool Replays::all_complete() {
  collect();
  return in_flight_.empty() || (&oldest() == present_ && is_complete(*present_));
}

void Replays::leave_order(Replay& replay) {
  replay.extras->in_order = false;
  relieve_at_ += issued_;  // they have run, and belong to no burst
  anew_ = true;
  const std::span<const std::uint32_t> with_node = template_.with_node();
  while (next_node_ < with_node.size() && with_node[next_node_] < issued_) ++next_node_;
  set_counts(replay, true);
  replay.watermark.advance(issued_, false);
  executor_.complete_in_order(replay, issued_);
  find_simple_until();
}

// --- issuing -----------------------------------------------------------------------------------------

/// The sources before `to` that were not taken before.
std::span<const std::uint32_t> Replays::take_sources(std::uint32_t to) {
  const std::span<const std::uint32_t> sources = template_.sources();
  const std::uint32_t first = next_source_;
  while (next_source_ < sources.size() && sources[next_source_] < to) ++next_source_;
  return sources.subspan(first, next_source_ - first);
}

/// Makes the nodes of operations before `to`. The thread that lowers an operation's last count makes its node ready.
void Replays::make_nodes(Replay& replay, std::uint32_t to) {
  const std::span<const std::uint32_t> with_node = template_.with_node();
  // All nodes first, since that may throw: the scope then gives up those that are there.
  for (std::uint32_t i = next_node_; i < with_node.size() && with_node[i] < to; ++i)
    replay.extras->nodes[i] =
        &scope_.allocate_reserved(sizeof(LiveNode*), replay.base + with_node[i]);
  for (; next_node_ < with_node.size() && with_node[next_node_] < to; ++next_node_) {
    const std::uint32_t index = with_node[next_node_];
    const Template::Operation& operation = template_.operation(index);
    Node& node = *replay.extras->nodes[next_node_];
    node.run = run_replayed_node;
    node.info = operation.info;
    node.kind = operation.kind;
    node.priority = operation.priority;
    node.processor = operation.processor;
    node.flags = operation.flags;
    node.reduction = operation.reduction;
    node.payload_as<LiveNode*>() = &replay.live()[index];
    node.pending.store(1, std::memory_order_relaxed);
    if (node.flags & kReducer) scope_.gate().enroll(node);
  }
}

void Replays::leave(Replay& replay) {
  REFRAIN_ASSERT(&replay == present_, "the present replay is left");
  replay.extras->ends_chain = true;
  count(replay);
  if (in_order()) relieve_at_ += issued_;  // as in leave_order
  present_ = nullptr;
  const std::uint32_t size = template_.size();
  if (issued_ == size) return;
  if (replay.extras->in_order) return replay.sinks_left.store(0, std::memory_order_relaxed);
  release(replay, issued_, size, replay.watermark.advance(issued_, true));
}

void Replays::abandon() noexcept {
  if (present_ != nullptr) leave(*present_);
}

NodeRef Replays::ref(Replay& replay, std::uint32_t index) {
  REFRAIN_ASSERT(replay.extras->in_order ? &replay != present_ || index < issued_
                                         : index < replay.watermark.load().issued(),
                 "what is referred to has been issued");
  const std::uint64_t seq = replay.base + index;
  if (replay.extras->in_order || replay.is_done(index)) {  // in order, all that was issued
    if (const Failure* failure = replay.extras->failure_of(index))
      scope_.note_failure(seq, FailureRef(failure));
    return scope_.complete_ref(seq);
  }
  if (template_.node(index).flags & kHasNode) return {&replay.extras->node_of(index), seq};
  if (Node* named = executor_.proxies().find(replay, index)) return {named, seq};
  const Template::Operation& operation = template_.operation(index);
  Node& proxy = scope_.allocate_reserved(0, seq);
  proxy.kind = operation.kind;
  proxy.info = operation.info;
  proxy.flags = kProxy;
  scope_.window().mark_auxiliary();
  proxy.pending.store(1, std::memory_order_relaxed);
  if (executor_.proxies().add(replay, index, proxy)) executor_.complete_proxy(proxy);
  return {&proxy, seq};
}

NodeRef Replays::ref(std::uint64_t seq) {
  const std::span<Replay* const> replays = in_flight();
  const auto after = std::ranges::upper_bound(replays, seq, {}, &Replay::base);
  if (after == replays.begin()) return scope_.complete_ref(seq);
  Replay& replay = **std::prev(after);
  if (seq - replay.base >= template_.size()) return scope_.complete_ref(seq);
  return ref(replay, static_cast<std::uint32_t>(seq - replay.base));
}

// --- waiting -----------------------------------------------------------------------------------------

bool Replays::idle() {
  collect();
  if (in_flight_.empty()) return true;
  if (&oldest() != present_) return false;
  if (in_order() || issued_ == template_.size()) {
    if (!in_order() && !is_complete(*present_)) return false;
    note_failures(*present_, issued_);
    return true;
  }
  // Nobody is told when an operation in the middle is done, unless it has a proxy.
  while (done_ < issued_ && exec::is_complete(ref(*present_, done_))) ++done_;
  return done_ == issued_;
}

std::span<Replay* const> Replays::in_flight() {
  collect();
  return std::span(in_flight_).subspan(collected_);
}

void Replays::drain(const NodeInfo* waiter) {
  const auto drained = [this] { return idle(); };
  if (!drained()) executor_.wait(scope_, drained, {}, waiter);
}

// --- failures --------------------------------------------------------------------------------------------

const Failure& fail(const Replay& replay, std::uint32_t index, const std::exception_ptr& error,
                    const Failure::Who& who) noexcept {
  ReplayExtras& extras = *replay.extras;
  const Template::Operation& operation = extras.recorded.operation(index);
  const auto usual = [&operation] { return operation_name(operation.info, operation.kind); };
  const FailureRef failure = adopt(Failure::thrown_by(
      {extras.scope.identity(), replay.base + index}, error, who ? who : Failure::Who(usual)));
  extras.fail(index, failure, true);
  return *failure;
}

const Failure* run_unusual(Replay& replay, std::uint32_t index, const TemplateNode& node,
                           Execution& execution) {
  if (execution.failure == nullptr) execution.failure = replay.extras->failure_of(index);
  // relaxed: set before the operation was issued.
  const bool timed = (replay.events.load(std::memory_order_relaxed) & kTimed) != 0;
  const std::uint64_t begin = timed ? profile::now_ns() : 0;
  try {
    call(node, replay, index, execution);
  } catch (...) { execution.failure = &fail(replay, index, std::current_exception()); }
  if (timed) replay.extras->order->took(index, profile::now_ns() - begin);
  return execution.failure;
}

// --- extras and proxies ------------------------------------------------------------------------------

void ReplayExtras::fail(std::uint32_t index, const FailureRef& failure, bool threw) {
  {
    const std::lock_guard lock(mutex_);
    FailureRef& carried = failures_[index];
    if (carried && !threw && !comes_before(*failure, *carried, scope.identity())) return;
    carried = failure;
  }
  // release: partner of the acquire in any_failure.
  replay_.events.fetch_or(kFailures, std::memory_order_release);
}

const Failure* ReplayExtras::failure_of(std::uint32_t index) const {
  if (!any_failure()) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = failures_.find(index);
  return found == failures_.end() ? nullptr : found->second.get();
}

void ReplayExtras::clear() {
  ends_chain = in_order = false;
  counted = 0;
  if (any_failure()) failures_.clear();
  replay_.events.store(0, std::memory_order_relaxed);
}

bool Proxies::add(Replay& replay, std::uint32_t index, Node& proxy) {
  // release: partner of the acquire by who has done an operation.
  replay.events.fetch_or(kProxies, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  const auto entry = open_.emplace(Key{&replay, index}, &proxy).first;
  replay.extras->has_proxy[index].store(true, std::memory_order_relaxed);
  Node* taken = nullptr;
  if (replay.is_done(index)) take(entry, taken);
  return taken != nullptr;
}

Node* Proxies::find(Replay& replay, std::uint32_t index) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find({&replay, index});
  return found != open_.end() ? found->second : nullptr;
}

void Proxies::take(Open::iterator entry, Node*& taken) {
  const auto [key, proxy] = *entry;
  open_.erase(entry);
  const ReplayExtras& extras = *key.replay->extras;
  key.replay->extras->has_proxy[key.index].store(false, std::memory_order_relaxed);
  if (const Failure* failure = extras.failure_of(key.index)) pass_failure(*failure, *proxy);
  proxy->next = std::exchange(taken, proxy);
}

// --- what the nodes run ------------------------------------------------------------------------------

void run_replayed_node(Node& node, Execution& execution) {
  LiveNode& live = *node.payload_as<LiveNode*>();
  Replay& replay = Replay::of(live);
  const Failure* failure =
      run_operation<RunKind::per_replay>(replay, live.index, replay.nodes[live.index], execution);
  if (failure != nullptr) pass_failure(*failure, node);
  if ((node.flags & kCompletesLater) == 0) execution.executor.complete_replayed(live, failure);
}

void end_replayed_node(Node& node, Execution& execution) {
  LiveNode& live = *node.payload_as<LiveNode*>();
  if (execution.failure != nullptr)
    Replay::of(live).extras->fail(live.index, FailureRef(execution.failure), true);
  execution.executor.complete_replayed(live, execution.failure);
}

void run_precondition(Node& node, Execution& execution) {
  LiveNode& live = *node.payload_as<LiveNode*>();
  if (execution.failure != nullptr) {
    Replay::of(live).extras->fail(live.index, FailureRef(execution.failure));
  }
  execution.executor.precondition_done(live);
}

}  // namespace refrain::exec
