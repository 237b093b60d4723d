#pragma once
// The judge of Tracker with Settings::paper() and any history and crowd: string matching in the unfolded run. Known is every
// place where the events followed come last; each is as probable as any other.

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "oracle/tracker.hpp"

namespace refrain::test {

class NaiveTracker {
 public:
  /// `crowded`: events that are looked for with those before them.
  NaiveTracker(std::vector<std::uint32_t> run, std::set<std::uint32_t> crowded, std::size_t history)
      : run_(std::move(run)), crowded_(std::move(crowded)), history_(history) {}

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
    return outcomes([&](std::size_t place) -> std::uint64_t {
      return place + distance <= run_.size() ? run_[place + distance - 1] : kNone;
    });
  }
  [[nodiscard]] Outcomes next(std::uint32_t event) const {
    return outcomes([&](std::size_t place) -> std::uint64_t {
      const auto from = run_.begin() + std::ptrdiff_t(place);
      const auto found = std::find(from, run_.end(), event);
      return found == run_.end() ? kNone : std::uint64_t(found - from) + 1;
    });
  }

 private:
  static constexpr std::uint64_t kNone = UINT64_MAX;

  template <class KeyOf>
  [[nodiscard]] Outcomes outcomes(KeyOf key_of) const {
    Outcomes outcomes;
    for (const std::size_t place : places_) {
      const std::uint64_t key = key_of(place);
      (key == kNone ? outcomes.end : outcomes.of[key]) += 1.0 / double(places_.size());
    }
    return outcomes;
  }

  std::vector<std::uint32_t> run_;
  std::set<std::uint32_t> crowded_;
  std::size_t history_;
  std::vector<std::uint32_t> last_;
  std::vector<std::size_t> places_;
};

}  // namespace refrain::test
