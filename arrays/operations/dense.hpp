#pragma once
// Arrays as tasks like to have them: of one type, in C order from the beginning of a row to its end.

#include "operations/launching.hpp"

namespace refrain::arrays::detail {

/// The array itself where it is of the type and lies in C order without gaps, else a copy that does.
Array dense(const Array& array, DType type, const Where& where);
/// All of a dense array's storage, for a launch that reads it.
Use reading(SessionImpl& session, const Array& array);

/// Axis `axis` last.
Array with_axis_last(const Array& array, int axis, const Where& where);
/// The other way: the last axis goes to `axis`.
Array with_last_axis_at(const Array& array, int axis, const Where& where);

}  // namespace refrain::arrays::detail
