#pragma once
// The graphs on Refrain: a group launch per graph and step.

#include "../common/progress.hpp"
#include "refrain/refrain.hpp"
#include "setup.hpp"

namespace patterns {

/// Tasks count steps in `progress`, where it is given, until the runtime has finished: it lives outside of the program.
Outcome run_parallel(refrain::Context& ctx, const Setup& setup, apps::Progress* progress = nullptr);

}  // namespace patterns
