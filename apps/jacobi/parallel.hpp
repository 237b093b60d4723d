#pragma once
// Jacobi's iteration on Refrain, written with the arrays of arrays.hpp: three group launches per iteration.

#include "../common/progress.hpp"
#include "refrain/refrain.hpp"
#include "setup.hpp"

namespace jacobi {

/// Runs it. Tasks count iterations in `progress` until the runtime has finished: it lives outside of the
/// program.
Outcome run_parallel(refrain::Context& ctx, const Setup& setup, apps::Progress& progress);

}  // namespace jacobi
