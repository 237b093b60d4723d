#pragma once
// Recordings that follow each other, as one: what would have been recorded if their calls had been made in one
// trace. So the edges from each to those after it are worked out once (dynamic tracing paper, IV.F), and all
// that is true of a recording is true of these together: of its prefixes, what it leaves behind, and what
// comes after what when it follows itself.
//
// Cost: as what Recorder::finish does, per recording. Pure.

#include <memory>
#include <span>

#include "trace/recording.hpp"

namespace refrain::trace {

/// The first steps of a recording, which are a recording too.
struct Prefix {
  const Recording* recording = nullptr;
  Index steps = 0;
};

/// None of them is stale or has instances of its own, and each has followed the one before directly: its
/// precondition held there.
[[nodiscard]] std::unique_ptr<Recording> join(std::span<const Prefix> parts);

}  // namespace refrain::trace
