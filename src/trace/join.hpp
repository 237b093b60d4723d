#pragma once
// Joins recordings that follow each other: the result is the recording that would have been made if all their calls had
// been made in one trace. So the edges between them are worked out once (dynamic tracing paper, IV.F), and every
// property of a recording holds for the result: prefixes, outcome, carried edges.
//
// Cost: that of Recorder::finish, per recording. Pure.

#include <memory>
#include <span>

#include "trace/recording.hpp"

namespace refrain::trace {

/// The first steps of a recording: a recording, too.
struct Prefix {
  const Recording* recording = nullptr;
  Index steps = 0;
};

/// No part is stale or has per-replay instances. Each has followed the one before directly, so its precondition held.
[[nodiscard]] std::unique_ptr<Recording> join(std::span<const Prefix> parts);

}  // namespace refrain::trace
