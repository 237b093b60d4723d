#pragma once
// Constrained coordinate-wise descent, the paper's Algorithm 1 (section 4.2). It goes over the tasks several times, from
// the longest to the shortest; for each it tries the distributions, then the processor kinds, for each of these its
// arguments from the largest to the smallest in each memory kind. One decision changes at a time, together with those
// that co-location ties to it, and what is strictly better is kept. With each rotation fewer ties are left, in the last
// one none.

#include <cstddef>
#include <functional>

#include "map_search/space.hpp"

namespace refrain::map_search {

/// `evaluate` (the paper's EvaluateMapping) says what a mapping is worth: less is better, infinity for one that fails or
/// needs a variant that does not exist. It is called for each proposal, the starting point of section 4.1 first.
///
/// Line 11 proposes the distributions of the space: a single task has one.
///
/// Of E edges, r E / (rotations - 1), rounded down, are pruned after rotation r. With one rotation there are no edges
/// from the beginning: coordinate-wise descent, CD (section 4.1). A task that is put on another processor kind then
/// takes along to its first memory kind what it could not address. `rotations`: at least one.
void constrained_descent(const Space& space, const std::function<double(const Mapping&)>& evaluate,
                         std::size_t rotations);

/// Coordinate-wise descent once more from the starting point, in the order of what each change gains there alone, then
/// in the paper's order. The paper's takes the first change that gains anything, and may so lose a much larger one of a
/// smaller argument.
void descent_by_gain(const Space& space, const std::function<double(const Mapping&)>& evaluate);

}  // namespace refrain::map_search
