#include "simulate/virtual_executor.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "exec/deadlock.hpp"
#include "graph/scope.hpp"
#include "refrain/error.hpp"

namespace refrain::simulate {

using exec::LiveNode, exec::Node, exec::Ready, exec::Replay;

Lanes::Lanes(const Machine& machine, int workers)
    : lanes_(machine.ranks()),
      of_processor_(machine.processors().size()),
      cores_(machine.ranks(), true) {
  const auto add = [&](std::uint32_t lane, const std::string& name, std::uint32_t rank = 0) {
    lanes_[lane].push_back(all());
    names_.push_back(machine.ranks() == 1 ? name : "node" + std::to_string(rank) + "." + name);
  };
  const auto first = machine.processors(ProcessorKind::cpu);
  add(0, "program");
  for (int worker = 0; worker < workers; ++worker)
    add(0, machine.processor(first[static_cast<std::size_t>(worker) % first.size()]).name);
  for (const Processor& processor : machine.processors()) {
    of_processor_[processor.id] = processor.rank;
    if (processor.kind == ProcessorKind::cpu && processor.rank > 0)
      add(processor.rank, processor.name, processor.rank);
    if (processor.kind != ProcessorKind::gpu) continue;
    of_processor_[processor.id] = size();
    lanes_.emplace_back();
    cores_.push_back(processor.emulated);
    add(size() - 1, processor.name, processor.rank);
  }
}

VirtualExecutor::VirtualExecutor(const exec::ExecutorOptions& options, const Machine& machine,
                                 const Lanes& lanes, Model& model)
    : GraphExecutor(options, static_cast<int>(lanes.all())),
      machine_(machine),
      lanes_of_(lanes),
      model_(model),
      lanes_(lanes.size()),
      busy_(lanes.all()),
      links_(machine) {
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    const auto processors = lanes.processors(lane);
    // The program's thread has other things to do.
    for (auto each = processors.rbegin(); each != processors.rend() - (lane == 0 ? 1 : 0); ++each)
      lanes_[lane].idle.push_back({*each});
  }
}

VirtualExecutor::~VirtualExecutor() { background_.drop(); }

void VirtualExecutor::issued(std::uint64_t operations) {
  const std::uint64_t analysed = std::exchange(analysed_, 0);
  if (operations > analysed)
    program_ +=
        static_cast<double>(operations - analysed) * own_seconds(machine_.overheads().replay);
}

void VirtualExecutor::publish(Node& node, std::span<const exec::NodeRef> predecessors) {
  if ((node.flags & exec::kAuxiliary) == 0) {
    ++analysed_;
    program_ += own_seconds(machine_.overheads().analyse);
    process_until(program_);
    if (node.kind == exec::NodeKind::task && (node.flags & exec::kGivenUp) == 0)
      model_.launched(*runtime::detail_of(node).plan);
  }
  if (exec::connect(node, predecessors)) exec::node_ready(node, Sink{*this});
}

void VirtualExecutor::finish(Node& node) {
  const Sink sink{*this};
  if (!exec::ends_now(node, sink)) return;
  exec::complete_node(node, sink);
  node.scope->give_back_own(node);
  told_ = true;
}

void VirtualExecutor::expect_completion() {
  REFRAIN_ASSERT(false, "in a simulation nothing is completed outside");
}
void VirtualExecutor::completed_outside(Node*) noexcept {}

std::uint32_t VirtualExecutor::run_in_order(Replay&, std::uint32_t, std::uint32_t to, bool) {
  REFRAIN_ASSERT(false, "a simulation runs no replay in order");
  return to;
}

// --- what operations need ----------------------------------------------------------------------------------

// The graph goes on: it may be in the middle of something.
Work VirtualExecutor::modelled(const runtime::OperationDetail& operation) {
  try {
    return model_.work_of(operation);
  } catch (...) {
    if (!fault_) fault_ = std::current_exception();
    return {};
  }
}

const Work& VirtualExecutor::replayed_work(LiveNode& live) {
  const Replay& replay = Replay::of(live);
  const auto& details = *static_cast<const runtime::OperationDetails*>(replay.recorded.user);
  if (details.modelled == nullptr) [[unlikely]] {
    auto works = std::make_shared<std::vector<Work>>();
    for (const runtime::OperationDetail& detail : details.all) works->push_back(modelled(detail));
    details.modelled = std::move(works);
  }
  return (*static_cast<const std::vector<Work>*>(details.modelled.get()))[live.index];
}

Work VirtualExecutor::work_of(Ready what) {
  if (what.is_live()) return replayed_work(what.live());
  Node& node = what.node();
  if (node.run == exec::run_replayed_node) return replayed_work(*node.payload_as<LiveNode*>());
  if (!exec::runs_operation(node) || (node.flags & (exec::kProxy | exec::kGivenUp)) != 0) return {};
  return modelled(runtime::detail_of(node));
}

void VirtualExecutor::make_ready(Ready what) {
  const Work work = work_of(what);
  if (work.lane != Work::kNoLane) {
    // Of bodies it is not known what they take where there is nobody to be waited for.
    const double least = work.is_copy ? work.least : work.seconds;
    const bool is_near = work.is_near && work.lane == completing_;
    const Waiting waiting{what, is_near ? least : work.seconds, is_near ? 0 : work.waits, least,
                          work.touches};
    if (work.is_copy) links_.count({work.source, work.target}, work.bytes, waiting.seconds);
    Lane& lane = lanes_[work.lane];
    const int priority = what.is_live() ? 0 : what.node().priority;
    if (priority == 0) lane.queue.push_back(waiting);
    else lane.prior[priority].push_back(waiting);
    if (work.lane != completing_) dispatch(work.lane);
  } else if (work.is_copy) {
    const double begin = links_.begin({work.source, work.target}, work.bytes, now_);
    events_.push({begin + work.seconds, begin, numbers_++, what, kNobody, 0});
  } else {
    events_.push({now_, now_, numbers_++, what, kNobody, 0});
  }
}

bool VirtualExecutor::take(Lane& lane, Waiting& waiting) {
  const auto from = [&waiting](std::deque<Waiting>& queue) {
    waiting = queue.front();
    queue.pop_front();
    return true;
  };
  if (!lane.prior.empty()) [[unlikely]] {
    const auto first = lane.prior.begin();
    if (first->first > 0 || lane.queue.empty()) {
      from(first->second);
      if (first->second.empty()) lane.prior.erase(first);
      return true;
    }
  }
  return !lane.queue.empty() && from(lane.queue);
}

void VirtualExecutor::dispatch(std::uint32_t number) {
  Lane& lane = lanes_[number];
  while (true) {
    const bool helper = lane.idle.empty() && number == 0 && waits_since_ && !helping_;
    if (lane.idle.empty() && !helper) return;
    Waiting waiting;
    if (!take(lane, waiting)) return;
    Idle idle{lanes_of_.processors(0).front(), waits_since_.value_or(now_)};
    if (helper) helping_ = true;
    else idle = lane.idle.back(), lane.idle.pop_back();
    const double begin = begin_after(idle.since);
    if (waiting.touches) {
      const double waits = model_.wait_for_others(*waiting.touches, idle.processor);
      waiting.seconds = std::max(waiting.least, waiting.seconds + waits - waiting.waits);
    }
    busy_[idle.processor] += waiting.seconds;
    events_.push(
        {begin + waiting.seconds, begin, numbers_++, waiting.what, idle.processor, number});
  }
}

// --- time ----------------------------------------------------------------------------------------------------

// A thread that finds nothing to do spins for a while (exec/notifier.hpp), and then sleeps.
bool VirtualExecutor::is_asleep() const {
  return waits_since_ && !helping_ && now_ - *waits_since_ > kSpins;
}

double VirtualExecutor::begin_after(double idle_since) const {
  return now_ - idle_since > kSpins ? now_ + machine_.overheads().wake : now_;
}

void VirtualExecutor::process_until(double time) {
  while (!events_.empty() && events_.top().time <= time) process(events_.top());
  now_ = std::max(now_, time);
  while (const auto job = background_.take()) background_.run(*job);
}

void VirtualExecutor::process(const Event& top) {
  const Event event = top;
  events_.pop();
  now_ = event.time;
  if (event.processor == kNobody) {
    end_ = std::max(end_, event.time);
    return run(event);
  }
  if (event.what) {
    end_ = std::max(end_, event.time);
    // What becomes ready here waits for the processor that has made it ready, which goes on with it.
    completing_ = event.lane;
    run(event);
    completing_ = Work::kNoLane;
    if (told_ && is_asleep()) {
      // The program's thread is woken to look, which takes some time of the thread that wakes it.
      const double awake = now_ + machine_.overheads().wake;
      waits_since_ = awake;
      return events_.push({awake, now_, numbers_++, nullptr, event.processor, event.lane});
    }
  }
  if (event.processor != lanes_of_.processors(0).front()) {
    lanes_[event.lane].idle.push_back({event.processor, now_});
  } else {
    helping_ = false;
    if (waits_since_) waits_since_ = now_;
  }
  dispatch(event.lane);
}

void VirtualExecutor::run(const Event& event) {
  const int processor = event.processor == kNobody ? 0 : static_cast<int>(event.processor);
  const auto ns = [this](double seconds) {
    return begin_ns_ + static_cast<std::uint64_t>(seconds * 1e9);
  };
  if (event.what.is_live()) {
    LiveNode& live = event.what.live();
    Replay& replay = Replay::of(live);
    exec::set_count(live, replay.nodes[live.index]);
    exec::Execution execution{*this, processor};
    exec::run_operation<false>(replay, live.index, replay.nodes[live.index], execution);
    ++executed_;
    if (tells_) {
      const exec::Template::Operation& operation = replay.recorded.operations[live.index];
      replay.scope.user->executed({replay.scope, operation.info, operation.kind,
                                   replay.base + live.index, processor, ns(event.begin),
                                   ns(event.time)});
    }
    return complete_replayed(live);
  }
  Node& node = event.what.node();
  const bool tell = tells_ && exec::runs_operation(node);
  exec::run_node(node, *this, processor);
  ++executed_;
  if (tell)
    node.scope->user->executed(
        {*node.scope, node.info, node.kind, node.seq, processor, ns(event.begin), ns(event.time)});
  finish(node);
}

void VirtualExecutor::wait(exec::Scope& scope, const std::function<bool()>& done,
                           exec::NodeRef awaited, const exec::NodeInfo* waiter) {
  process_until(program_);
  waits_since_ = now_;
  struct Leave {
    VirtualExecutor& executor;
    ~Leave() { executor.waits_since_.reset(); }
  } leave{*this};
  dispatch(0);
  told_ = true;
  while (true) {
    if (std::exchange(told_, false) && done()) break;
    if (told_) continue;  // the look has ended something
    if (events_.empty()) {
      if (done()) break;
      exec::WaitRecord record{&scope, awaited, waiter, {}};
      exec::declare_deadlock(record);
      throw Deadlock(*record.deadlock);
    }
    process(events_.top());
  }
  const double since = waits_since_.value_or(now_);
  waits_since_.reset();  // it begins nothing more
  // What its thread has begun, it ends.
  const bool helped = helping_;
  while (helping_) process(events_.top());
  program_ = std::max(program_, helped ? now_ : begin_after(since));
}

}  // namespace refrain::simulate
