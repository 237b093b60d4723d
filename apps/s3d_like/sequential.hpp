#pragma once
// The same without a runtime: arrays and loops over rows, which the driver shares.

#include "setup.hpp"

namespace s3d {

/// Runs it. `state`, when given, receives what it ends with.
Outcome run_sequential(const Setup& setup, State* state = nullptr);

}  // namespace s3d
