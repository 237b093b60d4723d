#pragma once
// The simulation on Refrain: a region per quantity, in tiles, and some fifty group launches per iteration.

#include "../common/progress.hpp"
#include "refrain/refrain.hpp"
#include "setup.hpp"

namespace s3d {

/// Runs it. `expected`, when given, is what the sequential run ends with. Tasks count iterations in
/// `progress` until the runtime has finished: it lives outside of the program.
Outcome run_parallel(refrain::Context& ctx, const Setup& setup, apps::Progress& progress,
                     const State* expected = nullptr);

}  // namespace s3d
