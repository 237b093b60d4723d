#pragma once
// The ensemble without a runtime: arrays, and one sample after the other.

#include "setup.hpp"

namespace maestro {

/// Runs it. `states`, when given, receives what it ends with.
Outcome run_sequential(const Setup& setup, States* states = nullptr);

}  // namespace maestro
