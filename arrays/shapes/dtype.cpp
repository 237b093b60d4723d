#include "refrain/arrays/dtype.hpp"

namespace refrain::arrays {

std::string_view name_of(DType type) noexcept {
  constexpr std::string_view names[kDTypes] = {"bool",    "int32",   "int64",
                                               "float32", "float64", "complex128"};
  return names[static_cast<int>(type)];
}

DType promote(DType a, DType b) noexcept {
  const DType low = a < b ? a : b;
  const DType high = a < b ? b : a;
  // float32 holds no integer of 32 bits exactly.
  if (high == DType::float32 && kind_of(low) == Kind::integer) return DType::float64;
  return high;
}

DType promote(DType array, Kind number) noexcept {
  if (number <= kind_of(array)) return array;
  switch (number) {
    case Kind::boolean: return array;
    case Kind::integer: return DType::int64;
    case Kind::floating: return DType::float64;
    case Kind::complex: return DType::complex128;
  }
  return array;
}

}  // namespace refrain::arrays
