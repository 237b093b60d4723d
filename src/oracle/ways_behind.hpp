#pragma once
// Where a run may be that comes out of a rule of which it is not known what is around it: at any use of the rule, the
// rule again or what comes behind; and where that rule ends with it, the same of that one. All of these are what the
// grammar says, but there may be many, of which those that come most often are wanted, and of these only the ones that
// have the event that has come. So what was found is kept: with what was asked for no more than two things for each
// use of the grammar, and kSmall. One thread.

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
