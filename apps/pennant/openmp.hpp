#pragma once
// The twin with OpenMP: one parallel region per cycle, with a loop over chunks for each of its three parts.

#include "state.hpp"

namespace pennant {

/// Whether the program was built with OpenMP; without it the twin runs on one thread.
bool has_openmp();

Outcome run_openmp(const Deck& deck, const Mesh& mesh, const Chunks& chunks, int threads);

}  // namespace pennant
