#pragma once
// Arrays whose elements follow from their positions.

#include "session_impl.hpp"

namespace refrain::arrays::detail {

/// Element i is start + i step, but that at `last` is `last_value` exactly.
struct Progression {
  DType type;                  ///< float64, or int64: that counts in whole numbers, which wrap
  double start = 0, step = 0;  ///< of float64
  std::int64_t whole_start = 0, whole_step = 0;  ///< of int64
  Coord last = -1;
  double last_value = 0;
};

/// Its first `count` elements. ValueError for a count that no array can have.
Array progression(SessionImpl& session, Coord count, const Progression& rule, const Where& where);
/// 0, 1 ... count - 1, int64.
Array positions_up_to(SessionImpl& session, Coord count, const Where& where);

}  // namespace refrain::arrays::detail
