#pragma once
// Element by element: NumPy's ufuncs. Operands are broadcast together (ValueError when that cannot be); types are
// promoted as NumPy does, and plain numbers count by their kind only. Nothing waits.

#include "refrain/arrays/array.hpp"

namespace refrain::arrays {

// Arithmetic. Integers wrap. / divides as floating-point numbers; floor_divide and % round to minus infinity, as in
// Python, and integers divided by zero give 0. - of two arrays of bool is a TypeError.
Array operator+(const Operand& a, const Operand& b);
Array operator-(const Operand& a, const Operand& b);
Array operator*(const Operand& a, const Operand& b);
Array operator/(const Operand& a, const Operand& b);
Array operator%(const Operand& a, const Operand& b);
Array floor_divide(const Operand& a, const Operand& b);
/// a to the power of b. Integers to negative integer powers are a ValueError when b is a number, else they give 0.
Array power(const Operand& a, const Operand& b);
Array operator-(const Operand& a);
Array operator+(const Operand& a);

// Comparison: arrays of bool. Complex numbers are ordered by real, then by imaginary part.
Array operator==(const Operand& a, const Operand& b);
Array operator!=(const Operand& a, const Operand& b);
Array operator<(const Operand& a, const Operand& b);
Array operator<=(const Operand& a, const Operand& b);
Array operator>(const Operand& a, const Operand& b);
Array operator>=(const Operand& a, const Operand& b);

// Bits of integers, truth values of bool; other types are a TypeError.
Array operator&(const Operand& a, const Operand& b);
Array operator|(const Operand& a, const Operand& b);
Array operator^(const Operand& a, const Operand& b);
Array operator~(const Operand& a);

// Truth values of any type (what is not zero is true): arrays of bool.
Array logical_and(const Operand& a, const Operand& b);
Array logical_or(const Operand& a, const Operand& b);
Array logical_xor(const Operand& a, const Operand& b);
Array logical_not(const Operand& a);

// The larger, the smaller; NaN if either is.
Array maximum(const Operand& a, const Operand& b);
Array minimum(const Operand& a, const Operand& b);
/// a between low and high: minimum(maximum(a, low), high).
Array clip(const Operand& a, const Operand& low, const Operand& high);
/// b where the condition holds, else c.
Array where(const Operand& condition, const Operand& b, const Operand& c);

Array abs(const Operand& a);  ///< of complex numbers the magnitude, float64
Array sign(const Operand& a);
Array square(const Operand& a);
Array reciprocal(const Operand& a);

// Roots, exponentials, trigonometry: floating-point (integers become float64, bool too, where NumPy has float16).
Array sqrt(const Operand& a);
Array cbrt(const Operand& a);  ///< real types
Array exp(const Operand& a);
Array exp2(const Operand& a);   ///< real types
Array expm1(const Operand& a);  ///< real types
Array log(const Operand& a);
Array log2(const Operand& a);
Array log10(const Operand& a);
Array log1p(const Operand& a);  ///< real types
Array sin(const Operand& a);
Array cos(const Operand& a);
Array tan(const Operand& a);
Array arcsin(const Operand& a);  ///< this and all below: real types
Array arccos(const Operand& a);
Array arctan(const Operand& a);
Array arctan2(const Operand& y, const Operand& x);
Array hypot(const Operand& a, const Operand& b);
Array sinh(const Operand& a);
Array cosh(const Operand& a);
Array tanh(const Operand& a);

// To whole numbers, as floating-point numbers (integers and bool become float64).
Array floor(const Operand& a);
Array ceil(const Operand& a);
Array trunc(const Operand& a);
Array rint(const Operand& a);  ///< halves to even

Array isnan(const Operand& a);
Array isinf(const Operand& a);
Array isfinite(const Operand& a);

// Complex numbers. real and imag are new arrays, no views.
Array real(const Operand& a);
Array imag(const Operand& a);
Array conj(const Operand& a);

}  // namespace refrain::arrays
