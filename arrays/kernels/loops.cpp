#include "kernels/loops.hpp"

#include <array>

#include "kernels/variants.hpp"

namespace refrain::arrays::kernels {

namespace {

enum class Result : std::uint8_t {
  same,
  truth,
  magnitude
};  // magnitude: of complex numbers float64

/// Of each operation, and of which types: NumPy's characters, "?ilfdD" being the types in their order.
struct Row {
  std::string_view name;
  int operands;
  std::string_view types;
  Result result = Result::same;
};
constexpr Row kRows[] = {
    {"add", 2, "?ilfdD"},
    {"subtract", 2, "ilfdD"},
    {"multiply", 2, "?ilfdD"},
    {"divide", 2, "fdD"},
    {"floor_divide", 2, "ilfd"},
    {"remainder", 2, "ilfd"},
    {"power", 2, "ilfdD"},
    {"maximum", 2, "?ilfdD"},
    {"minimum", 2, "?ilfdD"},
    {"arctan2", 2, "fd"},
    {"hypot", 2, "fd"},
    {"equal", 2, "?ilfdD", Result::truth},
    {"not_equal", 2, "?ilfdD", Result::truth},
    {"less", 2, "?ilfdD", Result::truth},
    {"less_equal", 2, "?ilfdD", Result::truth},
    {"greater", 2, "?ilfdD", Result::truth},
    {"greater_equal", 2, "?ilfdD", Result::truth},
    {"logical_and", 2, "?ilfdD", Result::truth},
    {"logical_or", 2, "?ilfdD", Result::truth},
    {"logical_xor", 2, "?ilfdD", Result::truth},
    {"bitwise_and", 2, "?il"},
    {"bitwise_or", 2, "?il"},
    {"bitwise_xor", 2, "?il"},
    {"where", 3, "?ilfdD"},
    {"negative", 1, "ilfdD"},
    {"absolute", 1, "?ilfdD", Result::magnitude},
    {"sign", 1, "ilfdD"},
    {"square", 1, "ilfdD"},
    {"reciprocal", 1, "ilfdD"},
    {"sqrt", 1, "fdD"},
    {"cbrt", 1, "fd"},
    {"exp", 1, "fdD"},
    {"exp2", 1, "fd"},
    {"expm1", 1, "fd"},
    {"log", 1, "fdD"},
    {"log2", 1, "fdD"},
    {"log10", 1, "fdD"},
    {"log1p", 1, "fd"},
    {"sin", 1, "fdD"},
    {"cos", 1, "fdD"},
    {"tan", 1, "fdD"},
    {"arcsin", 1, "fd"},
    {"arccos", 1, "fd"},
    {"arctan", 1, "fd"},
    {"sinh", 1, "fd"},
    {"cosh", 1, "fd"},
    {"tanh", 1, "fd"},
    {"floor", 1, "fd"},
    {"ceil", 1, "fd"},
    {"trunc", 1, "fd"},
    {"rint", 1, "fd"},
    {"isnan", 1, "fdD", Result::truth},
    {"isinf", 1, "fdD", Result::truth},
    {"isfinite", 1, "fdD", Result::truth},
    {"logical_not", 1, "?ilfdD", Result::truth},
    {"invert", 1, "?il"},
    {"real", 1, "?ilfdD", Result::magnitude},
    {"imag", 1, "?ilfdD", Result::magnitude},
    {"conjugate", 1, "ilfdD"},
};
static_assert(std::size(kRows) == kOps);

const Row& row(Op op) { return kRows[static_cast<int>(op)]; }

constexpr unsigned kMasks = 8;
using Table = std::array<std::array<std::array<Loop, kMasks>, kDTypes>, kOps>;

Table table() {
  Table loops{};
  const VariantLoops& here = best_variant();
  for (int op = 0; op < kOps; ++op) {
    for (int type = 0; type < kDTypes; ++type) {
      for (unsigned scalars = 0; scalars < kMasks; ++scalars) {
        loops[op][type][scalars] =
            here.find_loop(static_cast<Op>(op), static_cast<DType>(type), scalars);
      }
    }
  }
  return loops;
}

}  // namespace

std::string_view name_of(Op op) noexcept { return row(op).name; }
int operands_of(Op op) noexcept { return row(op).operands; }
bool exists(Op op, DType type) noexcept {
  return row(op).types.find("?ilfdD"[static_cast<int>(type)]) != std::string_view::npos;
}
DType result_of(Op op, DType type) noexcept {
  switch (row(op).result) {
    case Result::same: return type;
    case Result::truth: return DType::boolean;
    case Result::magnitude: return type == DType::complex128 ? DType::float64 : type;
  }
  return type;
}

Loop find_loop(Op op, DType type, unsigned scalars) noexcept {
  static const Table loops = table();
  if (scalars >= kMasks) return nullptr;
  return loops[static_cast<int>(op)][static_cast<int>(type)][scalars];
}
Loop find_cast(DType from, DType to) noexcept { return best_variant().find_cast(from, to); }

}  // namespace refrain::arrays::kernels
