#pragma once
// The stencil as one would write it without a runtime: two arrays and three loops.

#include <vector>

#include "setup.hpp"

namespace stencil {

/// Runs it. `out`, when given, receives the final grid, row by row.
Outcome run_sequential(const Setup& setup, std::vector<double>* out = nullptr);

}  // namespace stencil
