#include "graph/failure.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

#include "base/text.hpp"
#include "graph/scope.hpp"
#include "refrain/error.hpp"

namespace refrain::exec {

namespace {

constinit std::mutex all_logs;  ///< failures are rare

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

FailureRef fail(const Node& node, const std::exception_ptr& error,
                const Failure::Who& who) noexcept {
  FailureRef failure = fail(node, {node.scope->identity(), node.seq}, error, who);
  if (node.scope->user != nullptr) node.scope->user->failed_here(*failure);
  return failure;
}

FailureRef fail(const Node& node, const Failure::Origin& origin, const std::exception_ptr& error,
                const Failure::Who& who) noexcept {
  const auto usual = [&node] { return operation_name(node.info, node.kind); };
  FailureRef failure = Failure::thrown_by(origin, error, who ? who : Failure::Who(usual));
  node.scope->failures().add(node.seq, failure);
  return failure;
}

// A program that goes on after failures does not remember them all: whenever their number has doubled, it looks which
// of them it has been told of.
void FailureLog::add(std::uint64_t seq, FailureRef failure) noexcept {
  constexpr std::size_t few = 1024;
  const std::lock_guard lock(all_logs);
  if (entries_.size() >= few && std::has_single_bit(entries_.size())) forget_told();
  const Failure::Origin origin = failure->origin();
  entries_.insert_or_assign(origin, Entry{std::move(failure), seq});
}

const Failure* FailureLog::find(std::uint64_t seq) const {
  const std::lock_guard lock(all_logs);
  const auto found =
      std::ranges::find(entries_, seq, [](const auto& entry) { return entry.second.seq; });
  return found == entries_.end() ? nullptr : found->second.failure.get();
}

FailureRef FailureLog::take() {
  const std::lock_guard lock(all_logs);
  forget_told();
  if (entries_.empty()) return nullptr;
  return std::move(entries_.extract(entries_.begin()).mapped().failure);
}

std::size_t FailureLog::size() const {
  const std::lock_guard lock(all_logs);
  return entries_.size();
}

void FailureLog::forget_told() {
  std::erase_if(entries_, [](const auto& entry) { return entry.second.failure->told(); });
}

}  // namespace refrain::exec
