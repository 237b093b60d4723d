#pragma once
// How elements are shared among the points of a launch.

#include <memory>
#include <vector>

#include "session_impl.hpp"

namespace refrain::arrays::detail {

/// By an array's tiles.
std::shared_ptr<const Ranges> tiles_of(SessionImpl& session, const Tiling& tiling);

/// Rows of `length` elements each: the first row of each point, and the end of the last. As many points as an array of
/// that size has tiles.
std::vector<Coord> deal_rows(SessionImpl& session, Coord rows, Coord length);
/// What each point has of a storage whose rows these are, from its element `offset` on.
std::shared_ptr<const Ranges> rows_of(SessionImpl& session, const std::vector<Coord>& begin,
                                      Coord length, Coord offset = 0);

}  // namespace refrain::arrays::detail
