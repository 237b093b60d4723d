#pragma once
// The ensemble on Refrain: a region per fidelity, and 34 group launches per step and fidelity. The tasks of the high
// fidelity are called high_*, those of the low one low_*, so that a mapping file can tell them apart.

#include "../common/progress.hpp"
#include "refrain/refrain.hpp"
#include "setup.hpp"

namespace maestro {

/// Runs it. `expected`, when given, is what the sequential run ends with. Tasks count steps in `progress` until the
/// runtime has finished: it lives outside of the program.
Outcome run_parallel(refrain::Context& ctx, const Setup& setup, apps::Progress& progress,
                     const States* expected = nullptr);

}  // namespace maestro
