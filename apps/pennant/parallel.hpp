#pragma once
// The simulation on Refrain: a cycle is one task that finds the time step, and three group launches over chunks.

#include "../common/progress.hpp"
#include "refrain/refrain.hpp"
#include "state.hpp"

namespace pennant {

/// Runs it. Mesh, `start` (the state before the first cycle) and `progress` live until the runtime has finished.
Outcome run_parallel(refrain::Context& ctx, const Deck& deck, const Mesh& mesh,
                     const Chunks& chunks, const State& start, bool trace,
                     apps::Progress& progress);

}  // namespace pennant
