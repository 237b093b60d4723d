#pragma once
// Small work is done where it is launched if its turn has come: waking a worker takes as long. What is small is decided
// by sizes alone, and changes the hint `inline_if_ready` only, so that the launch is the same one for every size.

#include "refrain/arrays/shape.hpp"

namespace refrain::arrays::detail {

/// Of so many simple operations (an addition of two elements is one), about ten microseconds of one core.
inline constexpr Coord kSmallWork = 16384;

constexpr bool is_small(Coord work) { return work <= kSmallWork; }

}  // namespace refrain::arrays::detail
