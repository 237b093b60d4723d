#pragma once
// The loops are compiled several times, for processors of different width: kernels/variant/ holds the sources, and
// the macro REFRAIN_VARIANT names the namespace that they are compiled into.
//
// What those files define is in that namespace or in an unnamed one, and they use no inline function or template of
// another header: of such a function the linker keeps one copy, and it might be the one that only the widest
// processors can run.

#include "kernels/loops.hpp"
#include "kernels/reduce.hpp"

namespace refrain::arrays::kernels {

enum class Variant : std::uint8_t { baseline, avx2, avx512 };
inline constexpr int kVariants = 3;

struct VariantLoops {
  Loop (*find_loop)(Op op, DType type, unsigned scalars);
  Loop (*find_cast)(DType from, DType to);
  const Reducer* (*find_reducer)(Reduce reduce, DType type);
};

/// Null where this program does not have it or this processor cannot run it. Any thread.
[[nodiscard]] const VariantLoops* find_variant(Variant variant) noexcept;
/// The widest that this processor can run.
[[nodiscard]] const VariantLoops& best_variant() noexcept;

namespace baseline {
extern const VariantLoops kLoops;
}
namespace avx2 {
extern const VariantLoops kLoops;
}
namespace avx512 {
extern const VariantLoops kLoops;
}

}  // namespace refrain::arrays::kernels
