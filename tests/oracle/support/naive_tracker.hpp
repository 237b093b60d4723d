#pragma once
// The judge of Tracker with Settings::paper() and any history and crowd: string matching in the unfolded run. Known is every
// place where the events followed come last; each is as probable as any other. Where there is a last loop, a run that
// was not behind it may go on there, for ever.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "oracle/tracker.hpp"

namespace refrain::test {

class NaiveTracker {
 public:
  /// `crowded`: events that are looked for with those before them.
  NaiveTracker(std::vector<std::uint32_t> run, std::set<std::uint32_t> crowded, std::size_t history,
               std::optional<oracle::LastLoop> last_loop)
      : run_(std::move(run)),
        crowded_(std::move(crowded)),
        history_(history),
        last_loop_(last_loop) {}

  void start() {
    places_ = {0};
    last_.clear();
  }

  oracle::Tracked track(std::uint32_t event) {
    if (std::ranges::find(run_, event) == run_.end()) return oracle::Tracked::unknown;
    last_.push_back(event);
    if (last_.size() > history_) last_.erase(last_.begin());
    std::vector<std::size_t> next;
    for (const std::size_t place : places_)
      if (place < run_.size() && run_[place] == event) next.push_back(place + 1);
    const bool expected = !next.empty();
    for (std::size_t events = crowded_.contains(event) ? last_.size() : 1; next.empty(); --events) {
      for (std::size_t end = events; end <= run_.size(); ++end)
        if (std::equal(last_.end() - std::ptrdiff_t(events), last_.end(),
                       run_.begin() + std::ptrdiff_t(end - events)))
          next.push_back(end);
    }
    places_ = std::move(next);
    return expected ? oracle::Tracked::expected : oracle::Tracked::unexpected;
  }

  /// How many events had come, at each place that is possible.
  [[nodiscard]] const std::vector<std::size_t>& places() const { return places_; }

  struct Outcomes {
    std::map<std::uint64_t, double> of;  ///< probabilities, by event or by distance
    double end = 0;
    [[nodiscard]] double most() const {
      double most = 0;
      for (const auto& [key, probability] : of) most = std::max(most, probability);
      return most;
    }
  };
  [[nodiscard]] Outcomes predict(std::uint64_t distance) const {
    return outcomes(
        [&](std::size_t place, const auto&, std::size_t end) -> std::uint64_t {
          return place + distance <= end ? place + distance - 1 : kNone;
        },
        [](std::size_t, std::uint32_t event) { return event; });
  }
  [[nodiscard]] Outcomes next(std::uint32_t wanted) const {
    return outcomes(
        [&](std::size_t place, const auto& event, std::size_t end) -> std::uint64_t {
          for (; place < end; ++place)
            if (event(place) == wanted) return place;
          return kNone;
        },
        [](std::size_t distance, std::uint32_t) { return distance; });
  }

 private:
  static constexpr std::uint64_t kNone = UINT64_MAX;

  /// `number`: of the wanted event of a run from a place on. `key`: of its distance and itself.
  template <class Number, class Key>
  [[nodiscard]] Outcomes outcomes(Number number, Key key) const {
    Outcomes outcomes;
    const auto recorded = [&](std::size_t i) { return run_[i]; };
    const auto going_on = [&](std::size_t i) {
      while (i >= last_loop_->end) i -= last_loop_->period;
      return run_[i];
    };
    const double each = 1.0 / double(places_.size());
    for (const std::size_t place : places_) {
      double left = each;
      if (last_loop_ && place <= last_loop_->end) {
        const std::uint64_t found = number(place, going_on, 2 * run_.size() + 2);
        if (found != kNone && found >= last_loop_->end) {
          outcomes.of[key(found + 1 - place, going_on(found))] += each * oracle::Future::kGoesOn;
          left -= each * oracle::Future::kGoesOn;
        }
      }
      const std::uint64_t found = number(place, recorded, run_.size());
      if (found == kNone) outcomes.end += left;
      else outcomes.of[key(found + 1 - place, run_[found])] += left;
    }
    return outcomes;
  }

  std::vector<std::uint32_t> run_;
  std::set<std::uint32_t> crowded_;
  std::size_t history_;
  std::optional<oracle::LastLoop> last_loop_;
  std::vector<std::uint32_t> last_;
  std::vector<std::size_t> places_;
};

}  // namespace refrain::test
