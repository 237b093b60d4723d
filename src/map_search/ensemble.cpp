#include "map_search/ensemble.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <vector>

#include "map_search/moves.hpp"

namespace refrain::map_search {

namespace {

/// The best mappings so far, the best first; of equal ones the newest.
class Population {
 public:
  /// True for a new best one.
  bool learn(const Mapping& mapping, double value) {
    const bool better = members_.empty() || value < members_.front().value;
    if (std::ranges::find(members_, mapping, &Member::mapping) != members_.end()) return better;
    const auto place = std::ranges::lower_bound(members_, value, {}, &Member::value);
    members_.insert(place, {mapping, value});
    if (members_.size() > most) members_.pop_back();
    return better;
  }
  [[nodiscard]] const Mapping& best() const { return members_.front().mapping; }
  [[nodiscard]] const Mapping& any(Random& random) const { return random.pick(members_).mapping; }
  /// The better one of two.
  [[nodiscard]] const Mapping& good(Random& random) const {
    const std::size_t a = random.below(members_.size()), b = random.below(members_.size());
    return members_[std::min(a, b)].mapping;
  }

 private:
  static constexpr std::size_t most = 30;

  struct Member {
    Mapping mapping;
    double value;
  };
  std::vector<Member> members_;
};

using Propose = Mapping (*)(const Space& space, const Population& known, Random& random);

Mapping draw(const Space& space, const Population& /*known*/, Random& random) {
  return random_mapping(space, random);
}

Mapping mutate_some(const Space& space, const Population& known, Random& random) {
  Mapping mapping = known.best();
  change_one(space, mapping, random);
  for (std::size_t i = 0; i < decisions(space); ++i)
    if (random.unit() < 0.1) redraw(space, mapping, i, random);
  return mapping;
}

Mapping mutate_one(const Space& space, const Population& known, Random& random) {
  Mapping mapping = known.best();
  change_one(space, mapping, random);
  return mapping;
}

/// Between choices without an order there is no difference to add; where two others agree, a decision is left, and where
/// they differ, it is taken over from one of them.
Mapping evolve(const Space& space, const Population& known, Random& random) {
  Mapping mapping = known.any(random);
  const Mapping &a = known.any(random), &b = known.any(random);
  const std::size_t certain = random.below(decisions(space));
  for (std::size_t i = 0; i < decisions(space); ++i)
    if (i == certain || random.unit() < 0.2) {
      Mapping of_a = mapping, of_b = mapping;
      take_over(space, of_a, i, a, random);
      take_over(space, of_b, i, b, random);
      if (of_a == of_b) continue;
      mapping = random.below(2) == 0 ? of_a : of_b;
    }
  return mapping;
}

Mapping cross(const Space& space, const Population& known, Random& random) {
  Mapping mapping = known.good(random);
  const Mapping& other = known.good(random);
  for (std::size_t i = 0; i < decisions(space); ++i)
    if (random.below(2) == 0) take_over(space, mapping, i, other, random);
  change_one(space, mapping, random);
  return mapping;
}

constexpr std::array<Propose, 5> techniques{draw, mutate_some, mutate_one, evolve, cross};

/// Which technique is next.
class Bandit {
 public:
  [[nodiscard]] std::size_t choose() const {
    std::array<double, techniques.size()> sums{}, weights{}, uses{};
    for (const Use& use : uses_) {  // the oldest first
      const double place = ++uses[use.technique];
      weights[use.technique] += place;
      if (use.success) sums[use.technique] += place;
    }
    std::size_t best = 0;
    double best_score = -1;
    for (std::size_t i = 0; i < techniques.size(); ++i) {
      if (uses[i] == 0) return i;
      const double explore =
          0.05 * std::sqrt(2 * std::log(static_cast<double>(uses_.size())) / uses[i]);
      if (const double score = sums[i] / weights[i] + explore; score > best_score) {
        best = i;
        best_score = score;
      }
    }
    return best;
  }
  void used(std::size_t technique, bool success) {
    uses_.push_back({technique, success});
    if (uses_.size() > window) uses_.pop_front();
  }

 private:
  static constexpr std::size_t window = 500;

  struct Use {
    std::size_t technique;
    bool success;
  };
  std::deque<Use> uses_;
};

class Ensemble final : public Technique {
 public:
  explicit Ensemble(const Space& space) : space_(space) {}

  Mapping propose(Random& random, double /*spent*/) override {
    chosen_ = bandit_.choose();
    return techniques[chosen_](space_, known_, random);
  }
  void learn(const Mapping& mapping, double value) override {
    const bool first = chosen_ == techniques.size();  // the starting point is nobody's
    const bool better = known_.learn(mapping, value);
    if (!first) bandit_.used(chosen_, better);
  }

 private:
  const Space& space_;
  Population known_;
  Bandit bandit_;
  std::size_t chosen_ = techniques.size();
};

}  // namespace

std::unique_ptr<Technique> ensemble(const Space& space) {
  return std::make_unique<Ensemble>(space);
}

}  // namespace refrain::map_search
