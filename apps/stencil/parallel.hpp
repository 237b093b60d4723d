#pragma once
// The stencil on Refrain: the grid in tiles, two group launches per iteration.

#include <vector>

#include "../common/progress.hpp"
#include "refrain/refrain.hpp"
#include "setup.hpp"

namespace stencil {

/// Runs it. `expected`, when given, is the sequential run's `out`, to be equal bit for bit. Tasks count
/// iterations in `progress` until the runtime has finished: it lives outside of the program.
Outcome run_parallel(refrain::Context& ctx, const Setup& setup, apps::Progress& progress,
                     const std::vector<double>* expected = nullptr);

}  // namespace stencil
