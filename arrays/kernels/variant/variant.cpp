// One processor's loops, found through the parts.

#include "kernels/variant/parts.hpp"

namespace refrain::arrays::kernels::REFRAIN_VARIANT {
namespace {

using Part = Loop (*)(Op op, DType type, unsigned scalars);
constexpr Part kParts[] = {&arithmetic_loop, &division_loop, &comparison_loop,
                           &choice_loop,     &logic_loop,    &function_loop,
                           &power_loop,      &complex_loop,  &complex_function_loop};

Loop find_loop_here(Op op, DType type, unsigned scalars) {
  for (const Part part : kParts) {
    if (const Loop loop = part(op, type, scalars)) return loop;
  }
  return nullptr;
}

}  // namespace

const VariantLoops kLoops = {&find_loop_here, &cast_loop, &reducer};

}  // namespace refrain::arrays::kernels::REFRAIN_VARIANT
