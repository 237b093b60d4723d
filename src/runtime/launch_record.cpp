#include "runtime/launch_record.hpp"

#include <new>

namespace refrain::runtime {

void LaunchRecord::take_values(void* from, const ValueOps* ops) {
  value_ops = ops;
  if (ops == nullptr) return;
  const bool fits = ops->size <= kInlineValues && ops->alignment <= alignof(std::max_align_t);
  values = fits ? inline_values : ::operator new(ops->size, std::align_val_t(ops->alignment));
  try {
    ops->move(values, from);
  } catch (...) {
    if (!fits) ::operator delete(values, std::align_val_t(ops->alignment));
    value_ops = nullptr;
    throw;
  }
}

void LaunchRecord::point_done() {
  if (unfinished.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (value_ops != nullptr) {
    value_ops->destroy(values);
    if (values != inline_values) ::operator delete(values, std::align_val_t(value_ops->alignment));
    value_ops = nullptr;
  }
  futures.clear();
}

}  // namespace refrain::runtime
