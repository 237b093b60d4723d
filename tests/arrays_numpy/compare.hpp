#pragma once
// What a program has seen against what it should have.

#include <string>

#include "interpreter.hpp"

namespace refrain::test::numpy {

/// Against NumPy, by the rule of each `check`: empty, or the first difference.
std::string against_numpy(const Program& program, const Outcome& outcome);

/// Against another run, bit for bit, but a NaN is as good as another.
std::string against_another(const Program& program, const Outcome& first, const Outcome& outcome);

}  // namespace refrain::test::numpy
