#include "graph/failure.hpp"

#include <mutex>
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

Failure::Origin origin_of(const Node& node) {
  return {node.scope != nullptr ? node.scope->identity() : 0, node.seq};
}

/// Gives the node a reference that the caller holds, or none. Returns the one that it had.
FailureRef exchange_failure(Node& node, const Failure* failure) {
  return {node.failure.exchange(failure, std::memory_order_relaxed), false};
}

}  // namespace

FailureRef Failure::thrown_by(const Origin& origin, const std::exception_ptr& error,
                              const Who& who) noexcept {
  std::exception_ptr told = error;
  try {
    told = failed(who(), error);
  } catch (...) {}  // no memory for the words
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): its memory is sure.
  return new Failure(origin, std::move(told));
}

const Failure& fail(Node& node, const std::exception_ptr& error, const Failure::Who& who) noexcept {
  const auto usual = [&node] { return operation_name(node.info, node.kind); };
  const Failure* const own =
      Failure::thrown_by(origin_of(node), error, who ? who : Failure::Who(usual)).detach();
  // Outlives nobody else's: predecessors are complete, and the node is this thread's alone.
  (void)exchange_failure(node, own);
  return *own;
}

bool comes_before(const Failure& a, const Failure& b, std::uint64_t scope) {
  return std::tuple(a.origin().scope == scope, a.origin()) <
         std::tuple(b.origin().scope == scope, b.origin());
}

void pass_failure(const Failure& failure, Node& to) {
  static std::mutex passing;
  const std::lock_guard lock(passing);
  const Failure* current = to.failure.load(std::memory_order_relaxed);
  if (current && !comes_before(failure, *current, origin_of(to).scope)) return;
  (void)exchange_failure(to, FailureRef(&failure).detach());
}

void FailureLog::reclaimed(Node& node) { note(origin_of(node), exchange_failure(node, nullptr)); }

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
