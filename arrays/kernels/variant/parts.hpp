#pragma once
// What each file of this folder contributes. Every function gives null for what it does not have.

#include "kernels/variants.hpp"

#ifndef REFRAIN_VARIANT
#error "compile with -DREFRAIN_VARIANT=<namespace>"
#endif

namespace refrain::arrays::kernels::REFRAIN_VARIANT {

Loop arithmetic_loop(Op op, DType type,
                     unsigned scalars);  // + - * / and what is as simple, real types and bool
Loop division_loop(Op op, DType type,
                   unsigned scalars);  // floor_divide, remainder, power of integers
Loop comparison_loop(Op op, DType type, unsigned scalars);
Loop choice_loop(Op op, DType type, unsigned scalars);    // maximum, minimum, where
Loop logic_loop(Op op, DType type, unsigned scalars);     // truth values, bits, isnan and the like
Loop function_loop(Op op, DType type, unsigned scalars);  // of floating-point numbers
Loop power_loop(Op op, DType type, unsigned scalars);     // likewise
Loop complex_loop(Op op, DType type, unsigned scalars);   // complex arithmetic
Loop complex_function_loop(Op op, DType type, unsigned scalars);
Loop cast_loop(DType from, DType to);
const Reducer* reducer(Reduce reduce, DType type);

// Magnitudes of complex numbers: hypot() of 2 * count interleaved parts.
void magnitudes(std::size_t count, double* out, const double* parts);

}  // namespace refrain::arrays::kernels::REFRAIN_VARIANT
