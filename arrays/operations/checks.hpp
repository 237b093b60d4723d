#pragma once
// What operands have to be, with NumPy's words where they are not.

#include "session_impl.hpp"

namespace refrain::arrays::detail {

/// ArrayError unless the array is of this session.
void check_session(const SessionImpl& session, const Array& array, const Where& where);
/// ValueError for what broadcast_to made.
void check_writable(const Array& target, const Where& where);
/// ValueError for an integer that the type, int32, does not hold (NumPy 2's OverflowError).
void check_fits(const Number& number, DType type, const Where& where);
/// TypeError where the result of ufunc `name` loses its kind as an element of the target (as float to int).
void check_same_kind(const char* name, DType result, DType target, const Where& where);
/// Lengths of new arrays; ValueError where they do not fit.
Coord product_of(Coord a, Coord b, const Where& where);
Coord sum_of(Coord a, Coord b, const Where& where);

}  // namespace refrain::arrays::detail
