#pragma once
// Algorithms 1 and 2 of the AutoMap paper, line by line and slowly: what the library is judged by. Nothing here is
// shared with it but the search space and the starting point.

#include <functional>

#include "map_search/space.hpp"

namespace refrain::map_search::paper {

/// What the judge notices on the way.
struct Notes {
  int co_located = 0;    ///< calls of Algorithm 2
  int looked_again = 0;  ///< those whose result broke constraint 1 after the last line
};

/// Algorithm 1; without line 17 where there is one rotation. `evaluate` is called for each proposal, in order.
void ccd(const Space& space, int rotations, const std::function<double(const Mapping&)>& evaluate,
         Notes& notes);

}  // namespace refrain::map_search::paper
