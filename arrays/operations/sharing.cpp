#include "operations/sharing.hpp"

#include <algorithm>
#include <utility>

namespace refrain::arrays::detail {

std::shared_ptr<const Ranges> tiles_of(SessionImpl& session, const Tiling& tiling) {
  std::vector<Range> tiles;
  for (std::size_t t = 0; t + 1 < tiling.begin.size(); ++t)
    tiles.push_back({tiling.begin[t], tiling.begin[t + 1] - 1});
  return session.ranges.intern(std::move(tiles));
}

std::vector<Coord> deal_rows(SessionImpl& session, Coord rows, Coord length) {
  const Coord tiles = session.tilings.of(Shape{rows, length})->tiles();
  const Coord points = std::clamp<Coord>(tiles, 1, rows);
  std::vector<Coord> begin;
  for (Coord p = 0; p <= points; ++p) begin.push_back(p * rows / points);
  return begin;
}

std::shared_ptr<const Ranges> rows_of(SessionImpl& session, const std::vector<Coord>& begin,
                                      Coord length, Coord offset) {
  std::vector<Range> ranges;
  for (std::size_t p = 0; p + 1 < begin.size(); ++p)
    ranges.push_back({offset + begin[p] * length, offset + begin[p + 1] * length - 1});
  return session.ranges.intern(std::move(ranges));
}

}  // namespace refrain::arrays::detail
