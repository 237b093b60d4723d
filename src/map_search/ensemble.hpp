#pragma once
// The ensemble, after OpenTuner (Ansel et al., PACT 2014), the rival of section 4.3: several techniques share a budget,
// and a bandit gives most of it to those that have found better mappings lately.
//
// The techniques know the best mappings so far, whoever proposed them. They are: a random mapping; the best one with a
// tenth of its decisions drawn anew; the best one with one decision changed; differential evolution and crossover of
// good ones.
//
// The bandit is OpenTuner's: a technique's score is the area under the curve of its successes among the last 500
// proposals (a success is a new best mapping, a later one counts more), plus 0.05 sqrt(2 ln(proposals) / its proposals).

#include <memory>

#include "map_search/technique.hpp"

namespace refrain::map_search {

[[nodiscard]] std::unique_ptr<Technique> ensemble(const Space& space);

}  // namespace refrain::map_search
