#pragma once
// The longest remaining path first, of what one operation of a template makes ready. The first replays are timed; then
// each operation's successors are put in the order of the time that the longest path from them on takes, in the replay
// and the one after it. Where these differ by less than about half the longest operation, they stay as they were
// recorded: neighbours in a loop share data. Whoever completes an operation leaves those that became ready in its
// deque, in this order, from which it takes the oldest, as other threads do (ExecutorOptions::oldest_first). What has
// no predecessor within the replay comes in the order of launches.
// Apart from the timed replays this costs nothing. (An ordered queue of all that is ready would order more, and costs
// every task a lock.)
//
// Results never depend on it; which order comes about depends on time.
//
// Who does what: all but `took` is the owner's. Any thread lowers a duration while a timed replay runs (relaxed: the
// owner reads them when these replays are complete, which it has acquired). The ordered arrays are made once, before
// any replay has them.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "graph/template.hpp"

namespace refrain::exec {

class PathOrder {
 public:
  /// `recorded` outlives it.
  explicit PathOrder(const Template& recorded)
      : template_(recorded), durations_(new std::atomic<std::uint64_t>[recorded.size()]()) {}

  /// The replay with this number begins, and all before `oldest` are complete. True: it is to be timed.
  bool times(std::uint32_t number, std::uint32_t oldest);
  /// Any thread: an operation of a timed replay took so long.
  void took(std::uint32_t index, std::uint64_t ns);

  /// What replays that begin now are run from: as the template's, but for the order.
  [[nodiscard]] const TemplateNode* nodes() const {
    return nodes_.empty() ? template_.nodes() : nodes_.data();
  }
  [[nodiscard]] const Successor* successors() const {
    return nodes_.empty() ? template_.successors() : successors_.data();
  }
  [[nodiscard]] std::size_t bytes() const;

  /// Of each operation: how long the longest path takes that begins with it, up to the end of the replay, or of the one
  /// after it.
  [[nodiscard]] std::vector<std::uint64_t> remaining(bool to_the_next_end) const;

 private:
  static constexpr std::uint32_t kTimedReplays = 4;

  void order() noexcept;

  const Template& template_;
  /// The shortest of each operation, since a thread may be held up for long; 0: it was not timed.
  const std::unique_ptr<std::atomic<std::uint64_t>[]> durations_;
  std::uint32_t timed_ = 0;  ///< replays that were begun to be timed, ...
  std::uint32_t last_ = 0;   ///< ... and the number of the last
  std::vector<TemplateNode> nodes_;
  std::vector<Successor> successors_;
};

}  // namespace refrain::exec
