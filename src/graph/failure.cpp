#include "graph/failure.hpp"

#include <mutex>
#include <string>
#include <tuple>

#include "base/text.hpp"
#include "graph/scope.hpp"
#include "refrain/error.hpp"

namespace refrain::exec {

namespace {

/// So many tasks of a chain are named, each the child of the one before.
constexpr int kLongestNesting = 8;

/// The error of an operation, called `who`, that threw `error`. A chain may be thousands of tasks long: of a
/// long one the outermost and the innermost are told, and no exception holds all.
std::exception_ptr failed(const std::string& who, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const TaskFailed& inner) {
    if (inner.levels() <= kLongestNesting)
      return std::make_exception_ptr(
          TaskFailed(who + " failed: " + inner.what(), error, inner.levels() + 1));
    const int between = inner.levels() - kLongestNesting;
    return std::make_exception_ptr(TaskFailed(who + " failed: (" + std::to_string(between) +
                                                  (between == 1 ? " task" : " tasks") +
                                                  " in between) " + text_of(inner.original()),
                                              inner.original(), inner.levels() + 1));
  } catch (...) {
    return std::make_exception_ptr(TaskFailed(who + " failed: " + text_of(error), error));
  }
}

std::uint64_t scope_of(const Node& node) {
  return node.scope != nullptr ? node.scope->identity() : 0;
}

std::mutex& passing_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

const Failure* Failure::thrown_by(const Origin& origin, const std::exception_ptr& error,
                                  const Who& who) noexcept {
  std::exception_ptr told = error;
  try {
    told = failed(who(), error);
  } catch (...) {}  // no memory for the words
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): its memory is sure.
  return new Failure(origin.scope, origin.seq, std::move(told));
}

void Failure::release() const {
  // release: partner of the acquire by the last releaser, which destroys what the others have read.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

const Failure& fail(Node& node, const std::exception_ptr& error) noexcept {
  return fail(node, error, [&node] { return operation_name(node.info, node.kind); });
}

const Failure& fail(Node& node, const std::exception_ptr& error, const Failure::Who& who) noexcept {
  const Failure* own = Failure::thrown_by({scope_of(node), node.seq}, error, who);
  // Outlives nobody else's: predecessors are complete, and the node is this thread's alone.
  const Failure* inherited = node.failure.exchange(own, std::memory_order_relaxed);
  if (inherited) inherited->release();
  return *own;
}

bool comes_before(const Failure& a, const Failure& b, std::uint64_t scope) {
  return std::tuple(a.scope() == scope, a.scope(), a.seq()) <
         std::tuple(b.scope() == scope, b.scope(), b.seq());
}

void pass_failure(const Failure& failure, Node& to) {
  const Failure* replaced = nullptr;
  {
    const std::lock_guard lock(passing_mutex());
    const Failure* current = to.failure.load(std::memory_order_relaxed);
    if (current && !comes_before(failure, *current, scope_of(to))) return;
    failure.retain();
    to.failure.store(&failure, std::memory_order_relaxed);
    replaced = current;
  }
  if (replaced) replaced->release();
}

void FailureLog::reclaimed(Node& node) {
  FailureRef failure = adopt(node.failure.exchange(nullptr, std::memory_order_relaxed));
  const bool threw = failure->scope() == scope_of(node) && failure->seq() == node.seq;
  note(node.seq, std::move(failure), threw);
}

void FailureLog::note(std::uint64_t seq, FailureRef failure, bool threw) {
  if (by_seq_.emplace(seq, failure).second && threw) untaken_.emplace(seq, std::move(failure));
}

const Failure* FailureLog::of(const NodeRef& ref) const {
  if (ref.node->seq == ref.seq) {
    // Complete, not yet come back: the caller has seen the closed list, which made this visible.
    const Failure* failure = ref.node->failure.load(std::memory_order_relaxed);
    if (failure) return failure;
  }
  if (by_seq_.empty()) return nullptr;
  const auto found = by_seq_.find(ref.seq);
  return found == by_seq_.end() ? nullptr : found->second.get();
}

const Failure* FailureLog::take() {
  while (!untaken_.empty()) {
    taken_ = std::move(untaken_.begin()->second);
    untaken_.erase(untaken_.begin());
    if (!taken_->told()) return taken_.get();
  }
  return nullptr;
}

}  // namespace refrain::exec
