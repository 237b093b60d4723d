#pragma once
// A technique proposes mappings for as long as it is asked, and is told what each is worth. Random search, annealing and
// the ensemble are techniques; they differ in nothing else. Owner: one thread.

#include <cstdint>
#include <memory>

#include "map_search/evaluations.hpp"
#include "map_search/random.hpp"
#include "map_search/space.hpp"

namespace refrain::map_search {

class Technique {
 public:
  Technique() = default;
  Technique(const Technique&) = delete;
  Technique& operator=(const Technique&) = delete;
  virtual ~Technique() = default;

  /// An executable mapping, perhaps a known one. `spent`: the part of the budget that is gone, 0 to 1.
  virtual Mapping propose(Random& random, double spent) = 0;
  /// What a mapping is worth: the last one proposed, or another.
  virtual void learn(const Mapping& mapping, double value) = 0;
};

/// Draws each mapping alone.
[[nodiscard]] std::unique_ptr<Technique> random_search(const Space& space);
/// Simulated annealing (Kirkpatrick et al. 1983). A neighbour differs in one decision. A worse one is accepted with
/// probability exp(-(its part above the current value) / temperature); the temperature falls from 0.2 to 0.001 while the
/// budget goes, or in rounds of 2,000 proposals where that has no bound.
[[nodiscard]] std::unique_ptr<Technique> annealing(const Space& space);

/// Asks a technique until the evaluations are over or all mappings are known. The starting point of section 4.1 comes
/// first, so that nobody ends with less. When 100 proposals in a row were known, the next unknown mapping is taken in
/// the order of `advance`: so a small space comes to its end.
void ask(Technique& technique, const Space& space, Evaluations& evaluations, std::uint64_t seed);

/// Evaluates all mappings of the space in the order of `advance`, for as long as there is budget.
void exhaust(const Space& space, Evaluations& evaluations);

}  // namespace refrain::map_search
