#include "kernels/variants.hpp"

namespace refrain::arrays::kernels {

namespace {

#ifdef REFRAIN_ARRAYS_X86_VARIANTS
bool runs_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool runs_avx512() {
  return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif

}  // namespace

const VariantLoops* find_variant(Variant variant) noexcept {
  switch (variant) {
    case Variant::baseline: return &baseline::kLoops;
#ifdef REFRAIN_ARRAYS_X86_VARIANTS
    case Variant::avx2: return runs_avx2() ? &avx2::kLoops : nullptr;
    case Variant::avx512: return runs_avx512() ? &avx512::kLoops : nullptr;
#endif
    default: return nullptr;
  }
}

const VariantLoops& best_variant() noexcept {
  static const VariantLoops* const best = [] {
    for (const Variant variant : {Variant::avx512, Variant::avx2}) {
      if (const VariantLoops* const found = find_variant(variant)) return found;
    }
    return find_variant(Variant::baseline);
  }();
  return *best;
}

}  // namespace refrain::arrays::kernels
