#pragma once
// Programs as text for people, one statement per line, with the points that every argument covers.

#include <string>

#include "support/resolve.hpp"

namespace refrain::test {

std::string to_text(const Program& program);
/// One statement; `shapes` are those of the program's trees.
std::string to_text(const Program& program, const Resolved& statement);
/// "{0-3 7}": points as positions in their root region.
std::string to_text(Mask points);

}  // namespace refrain::test
