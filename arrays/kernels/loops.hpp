#pragma once
// The loops of element-wise operations, over plain memory: of one type, without strides. What is broadcast, cast,
// strided or fused is above this.
//
// A loop gives an element the same bits wherever it stands (at the head, in the body or in the tail of a block, in
// whatever block): results must not depend on how arrays are cut.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "refrain/arrays/dtype.hpp"

namespace refrain::arrays::kernels {

enum class Op : std::uint8_t {
  // two operands
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  remainder,
  power,
  maximum,
  minimum,
  arctan2,
  hypot,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  logical_and,
  logical_or,
  logical_xor,
  bit_and,
  bit_or,
  bit_xor,
  // three: a bool, and two of the type
  where,
  // one operand
  negative,
  absolute,
  sign,
  square,
  reciprocal,
  sqrt,
  cbrt,
  exp,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  sin,
  cos,
  tan,
  arcsin,
  arccos,
  arctan,
  sinh,
  cosh,
  tanh,
  floor,
  ceil,
  trunc,
  rint,
  isnan,
  isinf,
  isfinite,
  logical_not,
  invert,
  real,
  imag,
  conjugate,
};
inline constexpr int kOps = static_cast<int>(Op::conjugate) + 1;

/// NumPy's name: "add", "floor_divide", "logical_and".
[[nodiscard]] std::string_view name_of(Op op) noexcept;
[[nodiscard]] int operands_of(Op op) noexcept;
/// Is there a loop for operands of this type?
[[nodiscard]] bool exists(Op op, DType type) noexcept;
/// The type of the result for operands of this type: bool for comparisons and the like, float64 for the magnitude and
/// the parts of complex numbers, else the same.
[[nodiscard]] DType result_of(Op op, DType type) noexcept;

/// Computes `count` elements. Operands are contiguous, or one value (as asked of find_loop); those that the operation
/// does not have are null. `out` may be one of the operands, and overlaps them in no other way. No pointer need be
/// aligned beyond its type. Never throws; floating-point flags are not looked at.
using Loop = void (*)(std::size_t count, void* out, const void* a, const void* b, const void* c);

/// The loop for operands of `type`; bit i of `scalars`: operand i is one value. Not all of them are. Null where
/// exists() says no. Chosen for this processor; the same bits on all with the same kind of multiply-add.
[[nodiscard]] Loop find_loop(Op op, DType type, unsigned scalars = 0) noexcept;
/// Casts as C does: to bool what is not zero, to integers towards zero (and for what does not fit, as NumPy on
/// x86), of complex numbers the real part. From a type to itself it copies.
[[nodiscard]] Loop find_cast(DType from, DType to) noexcept;

}  // namespace refrain::arrays::kernels
