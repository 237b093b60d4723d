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

}  // namespace

const Failure* Failure::thrown_by(const Origin& origin, const std::exception_ptr& error,
                                  const Who& who) noexcept {
  std::exception_ptr told = error;
  try {
    told = failed(who(), error);
  } catch (...) {}  // no memory for the words
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): its memory is sure.
  return new Failure(origin, std::move(told));
}

void Failure::release() const {
  // release: partner of the acquire by the last releaser, which destroys what the others have read.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

const Failure& fail(Node& node, const std::exception_ptr& error, const Failure::Who& who) noexcept {
  const auto usual = [&node] { return operation_name(node.info, node.kind); };
  const Failure* own =
      Failure::thrown_by({scope_of(node), node.seq}, error, who ? who : Failure::Who(usual));
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
  static std::mutex passing;
  const std::lock_guard lock(passing);
  const Failure* current = to.failure.load(std::memory_order_relaxed);
  if (current && !comes_before(failure, *current, scope_of(to))) return;
  failure.retain();
  to.failure.store(&failure, std::memory_order_relaxed);
  if (current) current->release();
}

void FailureLog::reclaimed(Node& node) {
  FailureRef failure = adopt(node.failure.exchange(nullptr, std::memory_order_relaxed));
  const bool threw = failure->scope() == scope_of(node) && failure->seq() == node.seq;
  note(node.seq, std::move(failure), threw);
}

const Failure* FailureLog::of(const NodeRef& ref) const {
  if (ref.node->seq == ref.seq) {
    // Complete, not yet come back: the caller has seen the closed list, which made this visible.
    const Failure* failure = ref.node->failure.load(std::memory_order_relaxed);
    if (failure) return failure;
  }
  if (entries_.empty()) return nullptr;
  const auto found = entries_.find(ref.seq);
  return found == entries_.end() ? nullptr : found->second.failure.get();
}

FailureRef FailureLog::take() {
  for (auto& [seq, is] : entries_)
    if (std::exchange(is.to_be_taken, false) && !is.failure->told()) return is.failure;
  return nullptr;
}

}  // namespace refrain::exec
