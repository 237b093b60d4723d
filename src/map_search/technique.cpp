#include "map_search/technique.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "map_search/moves.hpp"

namespace refrain::map_search {

namespace {

class RandomSearch final : public Technique {
 public:
  explicit RandomSearch(const Space& space) : space_(space) {}
  Mapping propose(Random& random, double /*spent*/) override {
    return random_mapping(space_, random);
  }
  void learn(const Mapping& /*mapping*/, double /*value*/) override {}

 private:
  const Space& space_;
};

class Annealing final : public Technique {
 public:
  explicit Annealing(const Space& space) : space_(space) {}

  Mapping propose(Random& random, double spent) override {
    const double cooled = spent > 0 ? spent : static_cast<double>(proposals_++ % 2000) / 2000;
    temperature_ = 0.2 * std::pow(0.005, cooled);
    chance_ = random.unit();
    Mapping mapping = current_;
    if (mapping.processor.empty()) return random_mapping(space_, random);
    change_one(space_, mapping, random);
    return mapping;
  }
  void learn(const Mapping& mapping, double value) override {
    const double worse = (value - value_) / value_;
    if (value > value_ && !(chance_ < std::exp(-worse / temperature_))) return;
    current_ = mapping;
    value_ = value;
  }

 private:
  const Space& space_;
  Mapping current_;
  double value_ = std::numeric_limits<double>::infinity();
  double temperature_ = 0, chance_ = 0;
  std::size_t proposals_ = 0;
};

}  // namespace

std::unique_ptr<Technique> random_search(const Space& space) {
  return std::make_unique<RandomSearch>(space);
}
std::unique_ptr<Technique> annealing(const Space& space) {
  return std::make_unique<Annealing>(space);
}

void ask(Technique& technique, const Space& space, Evaluations& evaluations, std::uint64_t seed) {
  constexpr int enough = 100;
  Random random(seed);
  Mapping unknown = first_mapping(space);
  Mapping next = starting_point(space);
  int known = 0;
  for (;;) {
    const double value = evaluations.evaluate(next);
    technique.learn(next, value);
    if (evaluations.over() || evaluations.complete()) return;
    next = technique.propose(random, evaluations.spent() / evaluations.budget());
    known = evaluations.knows(next) ? known + 1 : 0;
    if (known < enough) continue;
    while (evaluations.knows(unknown)) advance(space, unknown);
    next = unknown;
    known = 0;
  }
}

void exhaust(const Space& space, Evaluations& evaluations) {
  Mapping mapping = first_mapping(space);
  do evaluations.evaluate(mapping);
  while (!evaluations.over() && advance(space, mapping));
}

}  // namespace refrain::map_search
