#include "fusion/touching.hpp"

#include <algorithm>

#include "fusion/nesting.hpp"

namespace refrain::arrays::detail {

namespace {

Range tiles_around(const Tiling& tiling, const Range& range) {
  return {tiling.begin[static_cast<std::size_t>(tiling.tile_of(range.first))],
          tiling.begin[static_cast<std::size_t>(tiling.tile_of(range.last)) + 1] - 1};
}

bool is_disjoint(const std::vector<Range>& ranges) {
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first <= ranges[i - 1].last) return false;
  return true;
}

}  // namespace

std::vector<Range> touched_by(const ProgramText& program, const std::vector<Coord>& split,
                              std::uint16_t slot, const Tiling& tiling, bool written) {
  std::vector<Range> ranges;
  for (std::size_t p = 0; p + 1 < split.size(); ++p) {
    Range range{tiling.elements, -1};
    const auto add = [&](const Access& access) {
      if (access.slot != slot) return;
      const Range more = hull(program.nest, access.strides, split[p], split[p + 1]);
      range = {std::min(range.first, more.first), std::max(range.last, more.last)};
    };
    for (const Access& load : program.loads) add(load);
    for (const Access& store : program.stores) add(store);
    ranges.push_back(range);
  }
  const bool single = ranges.size() == 1;
  if (written && !single && !is_disjoint(ranges)) return {};
  std::vector<Range> rounded = ranges;
  for (Range& range : rounded) {
    if (single || written || tiling.tiles() == 1) {
      range = tiles_around(tiling, range);
    } else {
      range.first -= range.first % tiling.granule;
      range.last += tiling.granule - 1 - range.last % tiling.granule;
      range.last = std::min(range.last, tiling.elements - 1);
    }
  }
  if (written && !single && !is_disjoint(rounded)) return ranges;
  return rounded;
}

bool is_whole(const std::vector<Range>& ranges, const Tiling& tiling) {
  return std::all_of(ranges.begin(), ranges.end(), [&](const Range& range) {
    return range.first == 0 && range.last == tiling.elements - 1;
  });
}

Privilege privilege_of(const ProgramText& program, std::uint16_t slot, const Tiling& tiling) {
  const auto here = [&](const Access& access) { return access.slot == slot; };
  if (std::none_of(program.stores.begin(), program.stores.end(), here)) return Privilege::read;
  const bool read = std::any_of(program.loads.begin(), program.loads.end(), here);
  return !read && program.nest.size() == tiling.elements ? Privilege::write : Privilege::read_write;
}

Coord work_of(const ProgramText& program) {
  return program.nest.size() * static_cast<Coord>(program.steps.size() + 1);
}

}  // namespace refrain::arrays::detail
