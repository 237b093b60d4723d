#pragma once
// The types of value that random programs keep in fields and futures, and how hashes become values.
// Floating-point values use their whole mantissa, so that sums show the order in which they were formed;
// integers stay small, so that no operator overflows. Pointers (p1 to p3: a Point<1> to Point<3> each, p32: an int32 that
// points in one dimension) lie among the points of the regions, or near them; nothing reduces them.

#include <cstddef>
#include <cstdint>
#include <string>

#include "refrain/field.hpp"
#include "refrain/geometry.hpp"
#include "refrain/reduction.hpp"

namespace refrain::test {

enum class ValueKind : std::uint8_t { f64, i64, f32, i32, p1, p2, p3, p32 };
inline constexpr int number_kinds = 4;  ///< the first ones
inline bool is_number(ValueKind kind) { return kind < ValueKind::p1; }
inline ValueKind pointer_kind(int dim) { return static_cast<ValueKind>(number_kinds + dim - 1); }
/// Dimensions of the points or colours that values of this kind can name; 0: none.
inline int pointer_dim(ValueKind kind) {
  if (kind == ValueKind::i64 || kind == ValueKind::p32) return 1;
  return is_number(kind) ? 0 : static_cast<int>(kind) - number_kinds + 1;
}
inline constexpr std::size_t max_value_size = 24;
enum class OpKind : std::uint8_t { sum, product, min, max };
inline constexpr int op_kinds = 4;
inline constexpr int max_fields = 4;

std::size_t size_of(ValueKind kind);
const char* name_of(ValueKind kind);
const char* name_of(OpKind op);
/// Field number `index` (below max_fields) of a region: "f0", "f1", ...
AnyField field_of(ValueKind kind, int index);
const ReductionOp& op_of(OpKind op, ValueKind kind);

/// Does the order of folding leave the bits as they are?
bool any_order(OpKind op, ValueKind kind);

/// A hash of the value's bits.
std::uint64_t value_bits(ValueKind kind, const void* value);
/// Stores a new value that depends on the hash alone.
void write_value(ValueKind kind, void* value, std::uint64_t hash);
/// Stores a value that depends on the old one and the hash.
void update_value(ValueKind kind, void* value, std::uint64_t hash);
/// value = fold(value, a contribution made from the hash)
void contribute(ValueKind kind, OpKind op, void* value, std::uint64_t hash);
/// The point or colour that a value of such a kind names.
Point<3> pointed(ValueKind kind, const void* value);
/// The value as text that shows all its bits.
std::string value_text(ValueKind kind, const void* value);

}  // namespace refrain::test
