#pragma once
// The simulation without a runtime: whole arrays, one part of a cycle after the other.

#include "state.hpp"

namespace pennant {

Outcome run_sequential(const Deck& deck, const Mesh& mesh);

}  // namespace pennant
