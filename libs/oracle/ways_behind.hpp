#pragma once
// The ways behind a rule: where a run may be when the rule has ended, and it is not known where the rule was used. A way
// leads to one of the rule's uses, and there to the rule again or to what comes behind it. Where another rule ends with
// that use, its ways follow.
//
// There may be many ways. Wanted are those that come most often, and of these the ones that begin with the event that
// has come. So they are kept by rule and event. What is kept is bounded by two entries for each use in the grammar, and
// kSmall. One thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "oracle/levels.hpp"
#include "oracle/reference.hpp"

namespace refrain::oracle {

class WaysBehind {
 public:
  static constexpr std::uint32_t kAnyEvent = UINT32_MAX;
  static constexpr std::size_t kSmall = 1024;

  /// The first use on the path of each way out of a rule to an event, no more than `most`: those that come most often.
  /// They hold until the next call. The same `most` each time, and the same reference between two calls of clear().
  std::span<const Level> find(const Reference& reference, std::uint32_t rule, std::uint32_t event,
                              std::size_t most);
  void clear();

  /// Calls visit(level) for each, in no order.
  template <class Visit>
  static void all(const Reference& reference, std::uint32_t rule, Visit&& visit);

 private:
  struct Found {
    std::size_t begin, size;  ///< among kept_
  };
  Found look_for(const Reference& reference, std::uint32_t rule, std::uint32_t event,
                 std::size_t most);

  std::unordered_map<std::uint64_t, Found> found_;  ///< by rule and event
  std::vector<Level> kept_;
};

template <class Visit>
void WaysBehind::all(const Reference& reference, std::uint32_t rule, Visit&& visit) {
  // A rule ends with one symbol only, so that each rule is reached once at most.
  std::vector<std::uint32_t> ended;
  for (std::uint32_t inner = rule;; inner = ended.back(), ended.pop_back()) {
    for (const std::uint32_t position : reference.positions(Symbol::rule(inner))) {
      if (reference.use(position).times > 1) visit(Level{position, false, 1});
      if (!reference.is_last(position)) visit(Level{position + 1, true, 0});
      else if (reference.rule_of(position) != 0) ended.push_back(reference.rule_of(position));
    }
    if (ended.empty()) return;
  }
}

}  // namespace refrain::oracle
