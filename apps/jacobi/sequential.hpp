#pragma once
// Jacobi's iteration as one would write it without a runtime: a loop over the rows.

#include "setup.hpp"

namespace jacobi {

Outcome run_sequential(const Setup& setup);

}  // namespace jacobi
