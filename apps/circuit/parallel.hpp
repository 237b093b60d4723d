#pragma once
// The circuit on Refrain: wires and nodes are regions, their pieces are found by dependent partitioning,
// and a step is three group launches over the pieces.

#include "../common/progress.hpp"
#include "refrain/refrain.hpp"
#include "sequential.hpp"

namespace circuit {

/// Runs it. `expected`, when given, is what the reference ends with. Tasks count steps in `progress`
/// until the runtime has finished: it lives outside of the program.
Outcome run_parallel(refrain::Context& ctx, const Setup& setup, apps::Progress& progress,
                     const State* expected = nullptr);

}  // namespace circuit
