#pragma once
// The types of value that random programs keep in fields and futures, and how hashes become values.
// Floating-point values use their whole mantissa, so that sums show the order in which they were formed;
// integers stay small, so that no operator overflows.

#include <cstddef>
#include <cstdint>
#include <string>

#include "refrain/field.hpp"
#include "refrain/reduction.hpp"

namespace refrain::test {

enum class ValueKind : std::uint8_t { f64, i64, f32, i32 };
inline constexpr int value_kinds = 4;
enum class OpKind : std::uint8_t { sum, product, min, max };
inline constexpr int op_kinds = 4;
inline constexpr int max_fields = 4;

std::size_t size_of(ValueKind kind);
const char* name_of(ValueKind kind);
const char* name_of(OpKind op);
/// Field number `index` (below max_fields) of a region: "f0", "f1", ...
AnyField field_of(ValueKind kind, int index);
const ReductionOp& op_of(OpKind op, ValueKind kind);

/// A hash of the value's bits.
std::uint64_t value_bits(ValueKind kind, const void* value);
/// Stores a new value that depends on the hash alone.
void write_value(ValueKind kind, void* value, std::uint64_t hash);
/// Stores a value that depends on the old one and the hash.
void update_value(ValueKind kind, void* value, std::uint64_t hash);
/// value = fold(value, a contribution made from the hash)
void contribute(ValueKind kind, OpKind op, void* value, std::uint64_t hash);
/// The value as text that shows all its bits.
std::string value_text(ValueKind kind, const void* value);

}  // namespace refrain::test
