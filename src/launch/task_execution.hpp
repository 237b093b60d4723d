#pragma once
// The point tasks of a launch: from its plan to their nodes, and from a node, or a place in a replay, to a body.
//
// Threads: the context's own issues. The executor runs tasks on whatever thread it likes.

#include <cstddef>
#include <cstdint>

#include "graph/executor.hpp"
#include "graph/replay.hpp"
#include "launch/context_core.hpp"

namespace refrain::runtime {

/// Places the data of each own point, gives its node predecessors from the analysis, and publishes it. Returns the future
/// that the launch asks for.
AnyFuture issue(ContextCore& context, LaunchPlan& plan, const LaunchRequest& request);

void run_task(exec::Node& node, exec::Execution& execution);

/// A replayed task of a launch without values, futures and result, that makes no accumulators and is not
/// checked: nothing is written to its payload, which several threads may run at once. Not when a predecessor
/// has failed.
void run_shared_task(TaskPayload& payload, exec::Execution& execution);
/// A replayed task of any other launch.
void run_own_task(TaskPayload& payload, exec::Replay& replay, std::uint32_t index,
                  exec::Execution& execution);

/// The payload of a point whose instances have been chosen, in TaskPayload::bytes of memory. Its folds are
/// the caller's to fill in.
TaskPayload* make_payload(std::byte* memory, LaunchRecord& record, std::uint32_t rank);

}  // namespace refrain::runtime
