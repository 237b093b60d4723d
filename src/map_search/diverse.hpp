#pragma once
// Which mappings are worth a run, where they were foretold. A simulation tells mappings apart that differ by more than
// its error. Of those that are as good for all it knows the ones are taken that differ most.

#include <cstddef>
#include <vector>

#include "map_search/evaluations.hpp"
#include "map_search/space.hpp"

namespace refrain::map_search {

/// How much two mappings differ: the share of the tasks' time whose processors or distributions differ, and half of the
/// share whose arguments' memories do. 0 to 1.5.
[[nodiscard]] double distance(const Space& space, const Mapping& a, const Mapping& b);

/// `count` of these, which are sorted, the best first; fewer where there are fewer. The best one comes first, and then
/// again and again the one that differs most from those that were taken, among all whose value is at most 1 + `error`
/// times the best; of equal ones the better. Where these do not suffice the others follow in their order.
[[nodiscard]] std::vector<Candidate> diverse(const Space& space,
                                             const std::vector<Candidate>& candidates,
                                             std::size_t count, Objective objective, double error);

}  // namespace refrain::map_search
