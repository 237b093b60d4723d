#pragma once
// A region that ends with a scope.

#include <utility>

#include "refrain/context.hpp"

namespace refrain {

namespace runtime {
void end_owned(ContextImpl& context, const AnyRegion& region, Where where) noexcept;
}  // namespace runtime

/// Destroys a region when it goes out of scope, unless its context has ended before. What goes wrong then
/// (a task that should have written memory attached to the region failed) is thrown by the next fence
/// instead.
template <int N>
class Owned {
 public:
  Owned(Context& context, const Region<N>& region, Where where = Where::current())
      : context_(runtime::living(context.impl())), region_(region), where_(where) {}
  Owned(Owned&& other) noexcept
      : context_(std::move(other.context_)), region_(other.region_), where_(other.where_) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (context_ && *context_ != nullptr) runtime::end_owned(**context_, region_, where_);
  }
  [[nodiscard]] const Region<N>& operator*() const { return region_; }
  [[nodiscard]] const Region<N>* operator->() const { return &region_; }

 private:
  runtime::LivingContext context_;
  Region<N> region_;
  Where where_;
};

}  // namespace refrain
