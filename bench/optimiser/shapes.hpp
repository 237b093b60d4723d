#pragma once
// Recordings of a given shape and size, as the dependence analysis would make them: tasks read and write
// pieces, in one memory, and the trace is repeated. One thread.

#include <cstdint>
#include <string>
#include <vector>

#include "trace/optimiser.hpp"

namespace refrain::bench {

/// "chains": 16 pieces, each task reads and writes the next one (Figure 9 of the paper).
/// "stencil": 64 tiles of two fields, each task writes a tile of one from three of the other.
/// "wide", "tangled": each task writes one of 64 (4096) pieces at random and reads three.
extern const std::vector<std::string> recording_shapes;

trace::RecordedEdges recorded_edges(const std::string& shape, std::uint32_t tasks);

}  // namespace refrain::bench
