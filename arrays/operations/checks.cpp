#include "operations/checks.hpp"

#include <string>

#include "shapes/complain.hpp"

namespace refrain::arrays::detail {

void check_session(const SessionImpl& session, const Array& array, const Where& where) {
  if (&session_of(array, where) != &session)
    complain<ArrayError>(where, "the operands belong to different sessions");
}

void check_writable(const Array& target, const Where& where) {
  if (target.layout().read_only) complain<ValueError>(where, "assignment destination is read-only");
}

void check_fits(const Number& number, DType type, const Where& where) {
  if (type != DType::int32 || number.kind != Kind::integer) return;
  if (number.integer != static_cast<std::int32_t>(number.integer))
    complain<ValueError>(where,
                         "integer " + std::to_string(number.integer) + " out of bounds for int32");
}

void check_same_kind(const char* name, DType result, DType target, const Where& where) {
  if (same_kind(result, target)) return;
  complain<TypeError>(where, std::string("Cannot cast ufunc '") + name + "' output from dtype('" +
                                 std::string(name_of(result)) + "') to dtype('" +
                                 std::string(name_of(target)) + "') with casting rule 'same_kind'");
}

Coord product_of(Coord a, Coord b, const Where& where) {
  Coord product = 0;
  if (__builtin_mul_overflow(a, b, &product)) complain<ValueError>(where, "array is too big");
  return product;
}

Coord sum_of(Coord a, Coord b, const Where& where) {
  Coord sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) complain<ValueError>(where, "array is too big");
  return sum;
}

}  // namespace refrain::arrays::detail
