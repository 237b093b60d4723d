#pragma once
// Which elements of an array the points of a launch touch.

#include "fusion/plan.hpp"

namespace refrain::arrays::detail {

/// Which elements of an array each point touches, rounded to what makes few and simple pieces: tiles where
/// it is written, rows where it is read. Empty: points would write to the same piece. `split`: where the elements of
/// each point begin, and the end of the last.
std::vector<Range> touched_by(const ProgramText& program, const std::vector<Coord>& split,
                              std::uint16_t slot, const Tiling& tiling, bool written);

/// Does every point touch all of it?
bool is_whole(const std::vector<Range>& ranges, const Tiling& tiling);

Privilege privilege_of(const ProgramText& program, std::uint16_t slot, const Tiling& tiling);

/// Simple operations that there are to do.
Coord work_of(const ProgramText& program);

}  // namespace refrain::arrays::detail
