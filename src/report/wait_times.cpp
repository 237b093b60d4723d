#include "report/wait_times.hpp"

#include <algorithm>
#include <new>

#include "graph/scope.hpp"
#include "profile/clock.hpp"

namespace refrain::runtime {

namespace {

std::string name_of(const analysis::LoggedOperation& operation) {
  using exec::NodeKind;
  const std::string of = " of '" + operation.field + "'";
  switch (operation.kind) {
    case NodeKind::copy: return "copy" + of;
    case NodeKind::fill: return "fill" + of;
    case NodeKind::fold: return "fold" + of;
    default: return operation.info != nullptr ? operation.info->name : "other";
  }
}

/// The program's own accesses are not run, so nobody tells when they are done.
bool is_run(exec::NodeKind kind) {
  return kind != exec::NodeKind::access && kind != exec::NodeKind::detach;
}

}  // namespace

void WaitTimes::opened(std::uint64_t identity, std::uint64_t context) {
  const std::lock_guard lock(mutex_);
  contexts_[identity] = context;
}

void WaitTimes::closed(std::uint64_t identity) {
  const std::lock_guard lock(mutex_);
  contexts_.erase(identity);
}

std::map<std::string, Waits> WaitTimes::by_task() const {
  const std::lock_guard lock(mutex_);
  return waits_;
}

void WaitTimes::operation(const analysis::LoggedOperation& operation) {
  if (log_ != nullptr) log_->operation(operation);
  if (!is_run(operation.kind)) return;
  const std::lock_guard lock(mutex_);
  issued_[{operation.scope, operation.seq}] = {
      name_of(operation), operation.kind == exec::NodeKind::task, profile::now_ns(), 0, {}, {}};
}

void WaitTimes::edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to,
                     exec::EdgeKind kind) {
  if (log_ != nullptr) log_->edge(scope, from, to, kind);
  const std::lock_guard lock(mutex_);
  const auto before = issued_.find({scope, from});
  if (before != issued_.end()) before->second.successors.push_back({scope, to});
}

void WaitTimes::executed(const exec::Node& node, int thread, std::uint64_t begin_ns,
                         std::uint64_t end_ns) {
  if (listener_ != nullptr) listener_->executed(node, thread, begin_ns, end_ns);
  const std::lock_guard lock(mutex_);
  std::uint64_t context = 0;
  if (node.scope->parent() != nullptr) {
    const auto known = contexts_.find(node.scope->identity());
    if (known == contexts_.end()) return;
    context = known->second;
  }
  done({context, node.seq}, begin_ns, end_ns);
}

void WaitTimes::replayed(const exec::NodeInfo* info, exec::NodeKind kind, std::uint64_t seq,
                         int thread, std::uint64_t begin_ns, std::uint64_t end_ns) {
  if (listener_ != nullptr) listener_->replayed(info, kind, seq, thread, begin_ns, end_ns);
  const std::lock_guard lock(mutex_);
  done({0, seq}, begin_ns, end_ns);  // those of nested contexts are nodes
}

// Before its successors learn of it: so what an operation has waited for is known when it has run.
void WaitTimes::done(const Key& key, std::uint64_t begin_ns, std::uint64_t end_ns) try {
  const auto found = issued_.find(key);
  if (found == issued_.end()) return;
  const Issued ran = std::move(found->second);
  issued_.erase(found);
  if (ran.task) {
    Waits& waits = waits_[ran.name];
    if (ran.done_ns > ran.issued_ns) waits.after[ran.after].add(ran.done_ns - ran.issued_ns);
    const std::uint64_t ready = std::max(ran.issued_ns, ran.done_ns);
    if (begin_ns > ready) waits.thread.add(begin_ns - ready);
  }
  for (const Key& later : ran.successors) {
    const auto waiting = issued_.find(later);
    if (waiting == issued_.end() || waiting->second.done_ns >= end_ns) continue;
    waiting->second.done_ns = end_ns;
    waiting->second.after = ran.name;
  }
} catch (const std::bad_alloc&) {}  // a thread that runs tasks goes on; some waits are not told

}  // namespace refrain::runtime
