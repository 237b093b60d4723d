#pragma once
// A simple way of following a reference, to be compared with: always at the one place that is most prevalent. After an
// event that does not go on from there it is the position of the event that comes most often, and where several things
// may follow it is what comes most often.

#include <optional>
#include <vector>

#include "oracle/progress.hpp"

namespace refrain::bench {

class MostPrevalent {
 public:
  explicit MostPrevalent(const oracle::Reference& reference) : reference_(reference) {}

  void track(std::uint32_t event) {
    if (go_on(place_, event) || !reference_.has(event)) return;
    place_ = oracle::Progress(reference_.positions(oracle::Symbol::event(event))[0]);
  }
  /// The next events, fewer where the reference ends.
  [[nodiscard]] std::vector<std::uint32_t> next(std::size_t number) const {
    std::vector<std::uint32_t> events;
    oracle::Progress place = place_;
    while (events.size() < number && go_on(place, std::nullopt))
      events.push_back(reference_.use(place.levels().back().position).symbol.number());
    return events;
  }

 private:
  /// To that event, or to any. False: nothing follows that is.
  bool go_on(oracle::Progress& place, std::optional<std::uint32_t> event) const {
    double most = 0;
    std::size_t best_level = 0;
    oracle::Level best{};
    place.continuations(reference_, [&](std::size_t level, const oracle::Level& at) {
      if (event && reference_.first(reference_.use(at.position).symbol) != *event) return;
      const double weight = place.weight(reference_, level, at);
      if (weight <= most) return;
      most = weight;
      best_level = level;
      best = at;
    });
    if (most == 0) return false;
    place.go(reference_, best_level, best);
    return true;
  }

  const oracle::Reference& reference_;
  oracle::Progress place_;
};

}  // namespace refrain::bench
