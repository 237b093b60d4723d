#include "graph/replays.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "graph/executor.hpp"
#include "graph/replay_steps.hpp"
#include "graph/scope.hpp"
#include "profile/clock.hpp"

namespace refrain::exec {

namespace {

constexpr std::uint32_t kLeastSlots = 4;
/// Replays of a template before those that are timed for a schedule: most templates are not replayed so often.
constexpr std::uint32_t kUntimed = 16;
/// What the owner needs to issue an operation, with its share of the call; and to run it by itself beside its own time;
/// and what a measured time may be too long by: estimates.
constexpr std::uint64_t kIssueNs = 10, kAloneNs = 3, kVagueNs = 10;
/// Loops of operations that are shorter are often over before a trial is.
constexpr std::uint64_t kTinyNs = 2000;

bool can_be_scheduled(const Executor& executor, const Scope& scope, const Template& recorded) {
  return executor.lanes() > 1 && scope.parent() == nullptr && recorded.with_node.empty() &&
         recorded.has_carried && !recorded.has_awaiting;
}

}  // namespace

Replays::Replays(Executor& executor, Scope& scope, const Template& recorded, std::uint32_t slots)
    : executor_(executor),
      scope_(scope),
      template_(recorded),
      durations_(
          executor.options().path_order || can_be_scheduled(executor, scope, recorded)
              ? std::make_unique<Durations>(recorded, executor.options().path_order ? 0 : kUntimed)
              : nullptr),
      order_(executor.options().path_order ? std::make_unique<PathOrder>(recorded, *durations_)
                                           : nullptr),
      // Twice as many as fill the window, where that bounds them: a wait for room is for a part of the window, one for a
      // slot for a single slot. Operations with a node leave the window before their replay is complete.
      most_slots_(std::max<std::size_t>(
          kLeastSlots, slots != 0 ? slots
                                  : (recorded.with_node.empty() ? 2 : 1) * scope.window().size() /
                                        recorded.size())),
      relieve_at_(executor.replay_burst()) {}

Replays::~Replays() {
  REFRAIN_ASSERT(idle(), "replays end when nothing of them is in flight");
  if (lanes_ != nullptr) deactivate_lanes();
  scope_.detach(*this);
}

// --- slots -----------------------------------------------------------------------------------------

Replay::Replay(const Template& template_, Scope& its_scope, Durations* its_durations)
    : nodes(template_.nodes.data()),
      successors(template_.successors.data()),
      recorded(template_),
      scope(its_scope),
      durations(its_durations),
      graph_nodes(template_.with_node.size()),
      proxies(template_.size()) {
  for (std::uint32_t i = 0; i < template_.size(); ++i) (new (live() + i) LiveNode)->index = i;
}

void Replays::set_counts(Replay& slot, bool anew) {
  LiveNode* live = slot.live();
  for (std::uint32_t i = 0; i < template_.size(); ++i) {
    const std::uint32_t count =
        anew ? template_.inner_predecessors[i] + 1 : template_.nodes[i].predecessors;
    live[i].pending.store(static_cast<std::int32_t>(count), std::memory_order_relaxed);
  }
}

void Replays::add_slot() {
  const std::size_t count = slots_.size() + 1;
  slots_.reserve(count);
  free_.reserve(count);
  in_flight_.set_capacity(count);
  slots_.emplace_back(new (template_.size()) Replay(template_, scope_, durations_.get()));
  set_counts(*slots_.back(), false);
  free_.push_back(slots_.back().get());
}

Replay& Replays::take_free() {
  Replay& slot = *free_.back();
  free_.pop_back();
  return slot;
}

/// Replays are collected in their order. One that ends before an older one, which is rare, is collected with that.
void Replays::collect() {
  for (; !in_flight_.empty(); in_flight_.pop_front()) {
    Replay& oldest = *in_flight_.front();
    if (&oldest == present_ || !oldest.is_complete()) break;
    finish(oldest);
  }
  if (in_flight_.empty() && lanes_ != nullptr) deactivate_lanes();
}

/// The number of issued operations of the present replay that have no node; 0 if all are done for certain.
std::uint32_t Replays::to_be_done() const { return in_order() ? 0 : issued_ - next_node_; }

/// The present replay is issued whole, or left. From here on the window counts its operations.
void Replays::count(Replay& replay) {
  replay.counted = to_be_done();
  scope_.window().count_replayed(replay.counted);
}

/// Ends a replay that is complete.
void Replays::finish(Replay& replay) {
  scope_.window().count_replayed(-std::ptrdiff_t{replay.counted});
  // relaxed: the owner's own event.
  if (replay.events.load(std::memory_order_relaxed) & kProxies)
    for_each_linked(executor_.proxies().remove(replay),
                    [this](Node& proxy) { executor_.finish(proxy); });
  // After the last replay of a chain, the slot that was reserved for the next one is free, too. Nobody lowers its counts
  // any more.
  if (replay.ends_chain && replay.after != nullptr) {
    if (replay.way == Way::graph) set_counts(*replay.after, false);
    end_slot(*replay.after);
  }
  end_slot(replay);
}

/// Makes the slot free. Its counts are set, and nobody touches it until it is reserved or used again.
void Replays::end_slot(Replay& slot) {
  slot.clear();
  free_.push_back(&slot);
}

// --- a replay ----------------------------------------------------------------------------------------

Replay& Replays::begin(bool carried) {
  REFRAIN_ASSERT(carried ? present_ != nullptr && issued_ == template_.size() : present_ == nullptr,
                 "a replay follows a complete one, or enters anew when the chain before was left");
  REFRAIN_ASSERT(early_.empty(), "what was parked early has been issued, or left");
  const std::size_t wanted = template_.has_carried && !carried ? 2 : 1;
  const Way way = choose_way(carried);
  // Whether the replay before has lowered counts in this one's slot.
  const bool lowered = carried && present_->way == Way::graph;
  const auto has_slots = [&] {  // asked after each operation that this thread runs meanwhile
    collect();
    return free_.size() + (most_slots_ - slots_.size()) >= wanted;
  };
  if (!has_slots()) executor_.wait(scope_, has_slots, {}, nullptr);
  Window& window = scope_.window();
  const std::size_t most = std::max(window.size(), kLeastSlots * std::size_t{template_.size()});
  scope_.make_room_to_replay(most, template_.size() + (carried ? to_be_done() : 0));
  while (free_.size() < wanted) add_slot();
  if (at_rest()) scope_.attach(*this);  // nothing throws from here on
  if (carried) count(*present_);
  Replay& replay = carried && template_.has_carried ? *present_->after : take_free();
  replay.after = template_.has_carried ? &take_free() : nullptr;
  replay.base = window.reserve(template_.size());
  replay.number = ++number_;
  replay.sinks_left.store(template_.sinks, std::memory_order_relaxed);
  replay.way = way;
  anew_ = way == Way::graph && !lowered;
  if ((way != Way::graph) ==
      lowered) {  // without counts, what has been lowered is as if it had not been
    set_counts(replay, anew_);
    replay.watermark.reset();
  }
  in_flight_.push_back(&replay);
  present_ = &replay;
  if (way == Way::scheduled) lanes_->begin(replay);
  const bool may_be_timed = way == Way::graph || (way == Way::in_order && !goes_to_the_end());
  if (durations_ && may_be_timed && durations_->times(number_, profile::now_ns))
    replay.events.fetch_or(kTimed, std::memory_order_relaxed);
  if (order_) {  // nothing of the replay is issued yet, so nobody looks at what it is run from
    if (!order_->is_ordered() && durations_->known(in_flight_.front()->number)) order_->order();
    replay.nodes = order_->nodes();
    replay.successors = order_->successors();
  }
  if (!carried || lowered) relieve_at_ -= issued_;
  issued_ = next_source_ = next_node_ = done_ = 0;
  find_simple_until();
  return replay;
}

void Replays::add_preconditions(Replay& replay, std::uint32_t index,
                                std::span<const NodeRef> outside) {
  REFRAIN_ASSERT(&replay == present_ && index >= issued_,
                 "preconditions are added before an operation is issued");
  if (std::ranges::all_of(outside, is_complete)) return;
  if (replay.way != Way::graph) leave_way(replay);
  LiveNode& live = replay.live()[index];
  Node& node = scope_.allocate(sizeof(LiveNode*));
  // relaxed: the watermark, moved later, makes it visible to who finds the operation issued.
  live.pending.fetch_add(1, std::memory_order_relaxed);
  node.kind = template_.operations[index].kind;  // its name, for messages
  node.info = template_.operations[index].info;
  node.flags = kPrecondition;
  scope_.window().mark_auxiliary();
  node.run = run_precondition;
  node.payload_as<LiveNode*>() = &live;
  executor_.publish(node, outside);
}

void Replays::issue_in_full(Replay& replay, std::uint32_t count) {
  REFRAIN_ASSERT(count <= template_.size(), "a replay has no more operations than its template");
  if (replay.way != Way::in_order) [[unlikely]]
    return replay.way == Way::graph ? issue_in_graph(replay, count) : issue_to_lanes(replay, count);
  if (count == issued_) return;
  scope_.runs_in_order =
      true;  // what throws, a wait for a message that can never come, ends the run
  issued_ = executor_.run_in_order(replay, issued_, count, goes_to_the_end());
  scope_.runs_in_order = false;
  if (issued_ == template_.size()) {
    replay.sinks_left.store(0, std::memory_order_relaxed);  // only the owner has to do with it
  } else if (issued_ < count) {
    leave_way(replay);
    issue_in_graph(replay, count);
  }
}

void Replays::issue_to_lanes(Replay& replay, std::uint32_t count) {
  if (count == issued_) return;
  issued_ = count;
  replay.watermark.advance(count, false);  // for the owner's looks only
  executor_.issue_to_lanes(*lanes_, count, false);
}

void Replays::issue_in_graph(Replay& replay, std::uint32_t count) {
  const std::uint32_t from = issued_;
  if (next_node_ != template_.with_node.size()) make_nodes(replay, count);
  issued_ = count;
  release(replay, from, count, replay.watermark.advance(count, false));
  const bool relieve = count >= relieve_at_;
  if (relieve) relieve_at_ = count + executor_.replay_burst();
  find_simple_until();
  if (relieve) executor_.relieve(scope_, Executor::kAllReady);
}

/// Operations [from, to) have been issued, or left. The owner holds them back no more: those that were parked (the list
/// that begins with `parked`, and those kept since), and the ones that have a guard.
void Replays::release(Replay& replay, std::uint32_t from, std::uint32_t to, std::uint32_t parked) {
  LiveNode* const live = replay.live();
  for (; parked != 0; parked = live[parked - 1].next_parked) early_.push(parked - 1);
  for (; !early_.empty() && early_.top() < to; early_.pop()) executor_.lower(live[early_.top()]);
  const std::vector<std::uint32_t>& sources = template_.sources;
  const std::uint32_t first = next_source_;
  while (next_source_ < sources.size() && sources[next_source_] < to) ++next_source_;
  if (anew_) {
    for (std::uint32_t i = from; i < to; ++i) executor_.lower(live[i]);
  } else {
    for (std::uint32_t i = first; i < next_source_; ++i) executor_.lower(live[sources[i]]);
  }
}

void Replays::find_simple_until() {
  const auto next_of = [](const std::vector<std::uint32_t>& these, std::uint32_t i) {
    return i < these.size() ? these[i] : Template::kMost;
  };
  simple_until_ =
      anew_ || present_->way != Way::graph
          ? 0
          : std::min({next_of(template_.sources, next_source_),
                      next_of(template_.with_node, next_node_), relieve_at_ - 1, template_.size()});
}

// --- in order, and in lanes --------------------------------------------------------------------------

/// How the next replay is run. What has to be complete before it is.
Way Replays::choose_way(bool carried) {
  if (durations_ == nullptr) return can_run_in_order(carried) ? Way::in_order : Way::graph;
  const bool was_scheduled = carried && present_->way == Way::scheduled;
  collect();
  const auto complete = number_ - static_cast<std::uint32_t>(in_flight_.size());
  if (lanes_ == nullptr) make_lanes();
  const bool scheduled = carried && lanes_ != nullptr && executor_.runs_scheduled(trial_, complete);
  if (!carried || lanes_ == nullptr) trial_.settle(complete);
  if (scheduled && was_scheduled) return Way::scheduled;
  const auto wait = [this] {
    if (!all_complete())
      executor_.wait(
          scope_, [this] { return all_complete(); }, {}, nullptr);
  };
  // What waits for the owner itself, through a node, would not end; what is scheduled waits for nothing else.
  if (scheduled && scope_.window().held() == 0 && scope_.collect() == 0) {
    wait();
    if (!std::exchange(lanes_->active, true)) executor_.add_lanes(*lanes_);
    return Way::scheduled;
  }
  if (was_scheduled) {
    wait();
    forget_schedule();
  }
  return can_run_in_order(carried) ? Way::in_order : Way::graph;
}

void Replays::deactivate_lanes() {
  if (std::exchange(lanes_->active, false)) executor_.remove_lanes(*lanes_);
}

/// It was no longer faster: operations may take another time than when it was made.
void Replays::forget_schedule() {
  deactivate_lanes();
  lanes_.reset();
  durations_->forget(number_);
}

/// When it is known how long the operations take, if the schedule would then be faster than the owner alone.
void Replays::make_lanes() {
  const std::uint32_t oldest = in_flight_.empty() ? number_ + 1 : in_flight_.front()->number;
  const bool drawn = executor_.draw_durations({});
  if (!drawn && !durations_->known(oldest)) return;
  if (!can_be_scheduled(executor_, scope_, template_)) return;
  std::vector<std::uint64_t> ns(template_.size());
  if (drawn) executor_.draw_durations(ns);
  else
    for (std::uint32_t i = 0; i < template_.size(); ++i) ns[i] = durations_->of(i);
  const std::uint32_t lanes = executor_.lanes();
  const std::uint64_t issue_ns = kIssueNs * template_.size();
  const std::vector<std::uint32_t> lane_of = Schedule::cut(template_, ns, issue_ns, lanes);
  if (!drawn) {
    std::uint64_t alone = issue_ns, work = 0;
    for (const std::uint64_t each : ns) {
      work += each;
      alone += kAloneNs + each - std::min(each, kVagueNs);
    }
    if (Schedule::time_of(template_, lane_of, ns, issue_ns, lanes) * 10 > alone * 9) {
      durations_->forget_for_long(number_);
      return;
    }
    if (work < kTinyNs * template_.size()) trial_.trust(profile::now_ns());
  }
  lanes_ =
      std::make_unique<Lanes>(scope_, template_, Schedule(template_, lane_of, lanes), most_slots_);
}

bool Replays::goes_to_the_end() const {
  return executor_.threads() == 1 || !template_.with_node.empty() || !template_.in_order.empty();
}

bool Replays::can_run_in_order(bool carried) {
  if (!template_.one_thread_may_run_it || !executor_.runs_in_order()) return false;
  // What others send may wait for an access that the program has open here, and ends only after this replay.
  if (template_.has_awaiting && scope_.window().held() > 0) return false;
  // Everything before has to run first, and nobody else is going to run it: the replays before this one, and before the
  // first replay of a chain the nodes in flight.
  if (!all_complete() || (!carried && scope_.in_flight() > 0))
    executor_.relieve(scope_, Executor::kAllReady);
  // What awaits messages completes whatever this scope does next.
  const auto nothing_is_left = [&] { return all_complete() && (carried || scope_.collect() == 0); };
  if (template_.has_awaiting && !nothing_is_left())
    executor_.wait(scope_, nothing_is_left, {}, nullptr);
  return all_complete();
}

bool Replays::all_complete() {
  collect();
  return in_flight_.empty() || (in_flight_.front() == present_ && present_->is_complete());
}

/// The replay goes on as one that entered anew.
void Replays::leave_way(Replay& replay) {
  if (replay.way == Way::scheduled) {
    executor_.wait(
        scope_, [this] { return idle(); }, {}, nullptr);
    lanes_->hand_back();
    replay.sinks_left.store(template_.sinks, std::memory_order_relaxed);
  }
  replay.way = Way::graph;
  relieve_at_ += issued_;  // they have run, and belong to no burst
  anew_ = true;
  const std::vector<std::uint32_t>& with_node = template_.with_node;
  while (next_node_ < with_node.size() && with_node[next_node_] < issued_) ++next_node_;
  set_counts(replay, true);
  replay.watermark.advance(issued_, false);
  for (std::uint32_t i = 0; i < issued_; ++i) {
    set_count(replay.live()[i], template_.nodes[i]);
    executor_.complete_replayed(replay.live()[i]);
  }
  find_simple_until();
}

// --- issuing -----------------------------------------------------------------------------------------

/// Makes the nodes of operations before `to`. The thread that lowers an operation's last count makes its node ready.
void Replays::make_nodes(Replay& replay, std::uint32_t to) {
  const std::vector<std::uint32_t>& with_node = template_.with_node;
  // All nodes first, since that may throw: the scope then gives up those that are there.
  for (std::uint32_t i = next_node_; i < with_node.size() && with_node[i] < to; ++i)
    replay.graph_nodes[i] =
        &scope_.allocate_reserved(sizeof(LiveNode*), replay.base + with_node[i]);
  for (; next_node_ < with_node.size() && with_node[next_node_] < to; ++next_node_) {
    const std::uint32_t index = with_node[next_node_];
    const Template::Operation& operation = template_.operations[index];
    Node& node = *replay.graph_nodes[next_node_];
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
  replay.ends_chain = true;
  count(replay);
  if (in_order()) relieve_at_ += issued_;  // as in leave_way
  present_ = nullptr;
  const std::uint32_t size = template_.size();
  if (issued_ == size) return;
  if (replay.way == Way::in_order) return replay.sinks_left.store(0, std::memory_order_relaxed);
  if (replay.way == Way::scheduled) return executor_.issue_to_lanes(*lanes_, issued_, true);
  release(replay, issued_, size, replay.watermark.advance(issued_, true));
}

void Replays::abandon() noexcept {
  if (present_ != nullptr) leave(*present_);
}

NodeRef Replays::ref(Replay& replay, std::uint32_t index) {
  const bool in_order = replay.way == Way::in_order;
  REFRAIN_ASSERT(
      in_order ? &replay != present_ || index < issued_ : index < replay.watermark.load().issued(),
      "what is referred to has been issued");
  const std::uint64_t seq = replay.base + index;
  if (in_order || replay.is_done(index))  // in order, all that was issued
    return scope_.complete_ref(seq);
  if (template_.nodes[index].flags & kHasNode) return {&replay.node_of(index), seq};
  // relaxed: the owner has entered it.
  if (Node* named = replay.proxies[index].load(std::memory_order_relaxed)) return {named, seq};
  const Template::Operation& operation = template_.operations[index];
  Node& proxy = scope_.allocate_reserved(0, seq);
  proxy.kind = operation.kind;
  proxy.info = operation.info;
  proxy.flags = kProxy;
  scope_.window().mark_auxiliary();
  proxy.pending.store(1, std::memory_order_relaxed);
  executor_.proxies().add(replay, index, proxy);
  if (replay.is_done(index))
    if (Node* taken = replay.take_proxy(index)) executor_.finish(*taken);
  return {&proxy, seq};
}

NodeRef Replays::ref(std::uint64_t seq) {
  const auto& replays = in_flight();
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
  if (in_flight_.front() != present_) return false;
  if (in_order()) return true;
  if (issued_ == template_.size()) return present_->is_complete();
  // Nobody is told when an operation in the middle is done, unless it has a proxy.
  while (done_ < issued_ && is_complete(ref(*present_, done_))) ++done_;
  return done_ == issued_;
}

const boost::circular_buffer<Replay*>& Replays::in_flight() {
  collect();
  return in_flight_;
}

// --- failures --------------------------------------------------------------------------------------------

FailureRef fail(const Replay& replay, std::uint32_t index, const std::exception_ptr& error,
                const Failure::Who& who) noexcept {
  const std::uint64_t seq = replay.base + index;
  const auto& name = replay.recorded.name_failure;
  FailureRef failure =
      fail(replay, index,
           name ? name(replay, index) : Failure::Origin{replay.scope.identity(), seq}, error, who);
  if (replay.scope.user != nullptr && !failure->origin().is_known_to_shards())
    replay.scope.user->failed_here(*failure);
  return failure;
}

FailureRef fail(const Replay& replay, std::uint32_t index, const Failure::Origin& origin,
                const std::exception_ptr& error, const Failure::Who& who) noexcept {
  const Template::Operation& operation = replay.recorded.operations[index];
  const auto usual = [&operation] { return operation_name(operation.info, operation.kind); };
  FailureRef failure = Failure::thrown_by(origin, error, who ? who : Failure::Who(usual));
  replay.scope.failures().add(replay.base + index, failure);
  return failure;
}

void run_unusual(Replay& replay, std::uint32_t index, Execution& execution) noexcept {
  const Template::Operation& operation = replay.recorded.operations[index];
  begin_run(replay.live()[index], replay.nodes[index]);
  // relaxed: set before the operation was issued.
  const bool timed = (replay.events.load(std::memory_order_relaxed) & kTimed) != 0;
  const std::uint64_t begin = timed ? profile::now_ns() : 0;
  try {
    if (operation.plain != nullptr && !Failure::any()) operation.plain(operation.plain_operand);
    else operation.run(operation.operand, replay, index, execution);
  } catch (...) { end_failed(replay, index, execution); }
  if (timed) {
    const std::uint64_t ns = profile::now_ns() - begin;
    replay.durations->took(index, ns > profile::clock_ns() ? ns - profile::clock_ns() : 1);
  }
}

void end_failed(Replay& replay, std::uint32_t index, Execution& execution) noexcept {
  const Template::Operation& operation = replay.recorded.operations[index];
  const FailureRef failure = fail(replay, index, std::current_exception());
  if (operation.plain == nullptr) return;
  execution.failure = failure.get();
  operation.run(operation.operand, replay, index, execution);
  execution.failure = nullptr;
}

void Replay::clear() {
  ends_chain = false;
  way = Way::graph;
  counted = 0;
  events.store(0, std::memory_order_relaxed);
  watermark.reset();
  after = nullptr;
}

// --- proxies -----------------------------------------------------------------------------------------

void Proxies::add(Replay& replay, std::uint32_t index, Node& proxy) {
  // release: partner of the acquire by who has done an operation.
  replay.events.fetch_or(kProxies, std::memory_order_release);
  // release: partner of take_proxy.
  replay.proxies[index].store(&proxy, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  entries_.push_back({++added_, &replay, index});
  replay.noted.push_back(added_);
}

void Proxies::Entry::take(Node*& taken) const {
  if (Node* proxy = replay->take_proxy(index)) proxy->next = std::exchange(taken, proxy);
}

Node* Proxies::remove(Replay& replay) {
  Node* taken = nullptr;
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t number : replay.noted) {
    Entry& entry = *std::ranges::lower_bound(entries_, number, {}, &Entry::number);
    entry.take(taken);
    entry.replay = nullptr;
  }
  forgotten_ += replay.noted.size();
  replay.noted.clear();
  if (2 * forgotten_ > entries_.size()) {
    std::erase_if(entries_, [](const Entry& entry) { return entry.replay == nullptr; });
    forgotten_ = 0;
  }
  return taken;
}

Node* Proxies::take_done_since(std::uint64_t& looked) {
  Node* taken = nullptr;
  const std::lock_guard lock(mutex_);
  const std::uint64_t last = std::exchange(looked, added_);
  for (auto at = std::ranges::upper_bound(entries_, last, {}, &Entry::number); at != entries_.end();
       ++at)
    if (at->replay != nullptr && at->replay->is_done(at->index)) at->take(taken);
  return taken;
}

// --- what the nodes run ------------------------------------------------------------------------------

void run_replayed_node(Node& node, Execution& execution) {
  LiveNode& live = *node.payload_as<LiveNode*>();
  Replay& replay = Replay::of(live);
  const TemplateNode& recorded = replay.nodes[live.index];
  set_count(live, recorded);
  run_operation<false>(replay, live.index, recorded, execution);
  if ((node.flags & kCompletesLater) == 0) execution.executor.complete_replayed(live);
}

void end_replayed_node(Node& node, Execution& execution) {
  execution.executor.complete_replayed(*node.payload_as<LiveNode*>());
}

void run_precondition(Node& node, Execution& execution) {
  execution.executor.lower(*node.payload_as<LiveNode*>());
}

}  // namespace refrain::exec
