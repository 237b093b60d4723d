// NumPy's ufuncs: which type they compute with, and which types they refuse.

#include "refrain/arrays/elements.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "kernels/loops.hpp"
#include "operations/checks.hpp"
#include "shapes/complain.hpp"

namespace refrain::arrays {

using namespace detail;
using kernels::Op;

namespace {

using Operands = std::span<const Operand* const>;

DType common_type(Operands operands) {
  std::optional<DType> type;
  Kind kind = Kind::boolean;
  for (const Operand* operand : operands) {
    if (operand->array() == nullptr) kind = std::max(kind, operand->number().kind);
    else type = type ? promote(*type, operand->array()->dtype()) : operand->array()->dtype();
  }
  return type ? promote(*type, kind) : default_type(kind);
}

DType at_least_floating(DType type) {
  return kind_of(type) < Kind::floating ? DType::float64 : type;
}

[[noreturn]] void unsupported(Op op, DType type, const Where& where) {
  const std::string name(kernels::name_of(op));
  if (type == DType::boolean && op == Op::subtract)
    complain<TypeError>(where,
                        "numpy boolean subtract, the `-` operator, is not supported, use the "
                        "`^` operator or the logical_xor function instead");
  if (type == DType::boolean && op == Op::negative)
    complain<TypeError>(where,
                        "the boolean negative, the `-` operator, is not supported, use the "
                        "`~` operator or the logical_not function instead");
  complain<TypeError>(
      where, "ufunc '" + name + "' not supported for the input type " + std::string(name_of(type)));
}

Array compute(Op op, DType type, Operands operands, const Where& where) {
  if (!kernels::exists(op, type)) unsupported(op, type, where);
  for (const Operand* operand : operands) {
    const bool condition = op == Op::where && operand == operands[0];
    if (operand->array() == nullptr && !condition)
      check_fits(operand->number(), type, operand->where());
  }
  return session_of(operands).compute(op, type, operands, where);
}

const Where& line_of(Operands operands) { return operands[0]->where(); }

Array same_type(Op op, Operands operands) {
  const DType type = common_type(operands);
  return compute(op, type, operands, line_of(operands));
}
Array same_type(Op op, const Operand& a) {
  const Operand* operands[] = {&a};
  return same_type(op, operands);
}
Array same_type(Op op, const Operand& a, const Operand& b) {
  const Operand* operands[] = {&a, &b};
  return same_type(op, operands);
}

Array floating(Op op, Operands operands) {
  return compute(op, at_least_floating(common_type(operands)), operands, line_of(operands));
}
Array floating(Op op, const Operand& a) {
  const Operand* operands[] = {&a};
  return floating(op, operands);
}
Array floating(Op op, const Operand& a, const Operand& b) {
  const Operand* operands[] = {&a, &b};
  return floating(op, operands);
}

/// An operation of whole arrays that leaves some types as they are.
Array unchanged(const Operand& a) {
  const Operand* operands[] = {&a};
  SessionImpl& session = session_of(operands);
  return session.cast(a, a.array()->dtype(), a.array()->shape());
}

/// Numbers that do not fit are compared as what they are.
Array compared(Op op, const Operand& a, const Operand& b) {
  const Operand* operands[] = {&a, &b};
  DType type = common_type(operands);
  for (const Operand* operand : operands)
    if (type == DType::int32 && operand->array() == nullptr &&
        operand->number().integer != static_cast<std::int32_t>(operand->number().integer))
      type = DType::int64;
  return compute(op, type, operands, a.where());
}

bool is_real(const Operand& a) {
  return a.array() != nullptr && kind_of(a.array()->dtype()) != Kind::complex;
}

}  // namespace

Array operator+(const Operand& a, const Operand& b) { return same_type(Op::add, a, b); }
Array operator-(const Operand& a, const Operand& b) { return same_type(Op::subtract, a, b); }
Array operator*(const Operand& a, const Operand& b) { return same_type(Op::multiply, a, b); }
Array operator/(const Operand& a, const Operand& b) { return floating(Op::divide, a, b); }
Array operator%(const Operand& a, const Operand& b) { return same_type(Op::remainder, a, b); }
Array floor_divide(const Operand& a, const Operand& b) { return same_type(Op::floor_divide, a, b); }

Array power(const Operand& a, const Operand& b) {
  const Operand* operands[] = {&a, &b};
  const DType type = common_type(operands);
  if (kind_of(type) == Kind::integer && b.array() == nullptr && b.number().integer < 0)
    complain<ValueError>(b.where(), "Integers to negative integer powers are not allowed.");
  return compute(Op::power, type, operands, a.where());
}

Array operator-(const Operand& a) { return same_type(Op::negative, a); }
Array operator+(const Operand& a) { return unchanged(a); }

Array operator==(const Operand& a, const Operand& b) { return compared(Op::equal, a, b); }
Array operator!=(const Operand& a, const Operand& b) { return compared(Op::not_equal, a, b); }
Array operator<(const Operand& a, const Operand& b) { return compared(Op::less, a, b); }
Array operator<=(const Operand& a, const Operand& b) { return compared(Op::less_equal, a, b); }
Array operator>(const Operand& a, const Operand& b) { return compared(Op::greater, a, b); }
Array operator>=(const Operand& a, const Operand& b) { return compared(Op::greater_equal, a, b); }

Array operator&(const Operand& a, const Operand& b) { return same_type(Op::bit_and, a, b); }
Array operator|(const Operand& a, const Operand& b) { return same_type(Op::bit_or, a, b); }
Array operator^(const Operand& a, const Operand& b) { return same_type(Op::bit_xor, a, b); }
Array operator~(const Operand& a) { return same_type(Op::invert, a); }

Array logical_and(const Operand& a, const Operand& b) { return same_type(Op::logical_and, a, b); }
Array logical_or(const Operand& a, const Operand& b) { return same_type(Op::logical_or, a, b); }
Array logical_xor(const Operand& a, const Operand& b) { return same_type(Op::logical_xor, a, b); }
Array logical_not(const Operand& a) { return same_type(Op::logical_not, a); }

Array maximum(const Operand& a, const Operand& b) { return same_type(Op::maximum, a, b); }
Array minimum(const Operand& a, const Operand& b) { return same_type(Op::minimum, a, b); }

Array clip(const Operand& a, const Operand& low, const Operand& high) {
  const Operand* all_three[] = {&a, &low, &high};
  const DType type = common_type(all_three);
  const Operand* lower[] = {&a, &low};
  const Array raised = compute(Op::maximum, type, lower, a.where());
  const Operand risen(raised, a.where());
  const Operand* upper[] = {&risen, &high};
  return compute(Op::minimum, type, upper, a.where());
}

Array where(const Operand& condition, const Operand& b, const Operand& c) {
  const Operand* values[] = {&b, &c};
  const Operand* operands[] = {&condition, &b, &c};
  return compute(Op::where, common_type(values), operands, condition.where());
}

Array abs(const Operand& a) {
  if (a.array() != nullptr && a.array()->dtype() == DType::boolean) return unchanged(a);
  return same_type(Op::absolute, a);
}
Array sign(const Operand& a) { return same_type(Op::sign, a); }
Array square(const Operand& a) { return same_type(Op::square, a); }
Array reciprocal(const Operand& a) { return same_type(Op::reciprocal, a); }

Array sqrt(const Operand& a) { return floating(Op::sqrt, a); }
Array cbrt(const Operand& a) { return floating(Op::cbrt, a); }
Array exp(const Operand& a) { return floating(Op::exp, a); }
Array exp2(const Operand& a) { return floating(Op::exp2, a); }
Array expm1(const Operand& a) { return floating(Op::expm1, a); }
Array log(const Operand& a) { return floating(Op::log, a); }
Array log2(const Operand& a) { return floating(Op::log2, a); }
Array log10(const Operand& a) { return floating(Op::log10, a); }
Array log1p(const Operand& a) { return floating(Op::log1p, a); }
Array sin(const Operand& a) { return floating(Op::sin, a); }
Array cos(const Operand& a) { return floating(Op::cos, a); }
Array tan(const Operand& a) { return floating(Op::tan, a); }
Array arcsin(const Operand& a) { return floating(Op::arcsin, a); }
Array arccos(const Operand& a) { return floating(Op::arccos, a); }
Array arctan(const Operand& a) { return floating(Op::arctan, a); }
Array arctan2(const Operand& y, const Operand& x) { return floating(Op::arctan2, y, x); }
Array hypot(const Operand& a, const Operand& b) { return floating(Op::hypot, a, b); }
Array sinh(const Operand& a) { return floating(Op::sinh, a); }
Array cosh(const Operand& a) { return floating(Op::cosh, a); }
Array tanh(const Operand& a) { return floating(Op::tanh, a); }

Array floor(const Operand& a) { return floating(Op::floor, a); }
Array ceil(const Operand& a) { return floating(Op::ceil, a); }
Array trunc(const Operand& a) { return floating(Op::trunc, a); }
Array rint(const Operand& a) { return floating(Op::rint, a); }

Array isnan(const Operand& a) { return floating(Op::isnan, a); }
Array isinf(const Operand& a) { return floating(Op::isinf, a); }
Array isfinite(const Operand& a) { return floating(Op::isfinite, a); }

Array real(const Operand& a) { return is_real(a) ? unchanged(a) : same_type(Op::real, a); }
Array imag(const Operand& a) {
  if (!is_real(a)) return same_type(Op::imag, a);
  const Operand* operands[] = {&a};
  return session_of(operands).cast(Operand(0, a.where()), a.array()->dtype(), a.array()->shape());
}
Array conj(const Operand& a) { return is_real(a) ? unchanged(a) : same_type(Op::conjugate, a); }

}  // namespace refrain::arrays
