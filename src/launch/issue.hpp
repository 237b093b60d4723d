#pragma once
// From the plan of a launch to the nodes of its points: data is placed, nodes get their predecessors from the analysis,
// and are published.
//
// Owner: the context's thread.

#include "launch/context_core.hpp"

namespace refrain::runtime {

/// Hands each point of the launch to the analysis. Returns the future that the launch asks for.
AnyFuture issue(ContextCore& context, LaunchPlan& plan, const LaunchRequest& request);

/// The consumer of a future comes after the operation that makes it, and fails with it.
void depend_on(ContextCore& context, analysis::Edges& edges, const detail::FutureState& state);

}  // namespace refrain::runtime
