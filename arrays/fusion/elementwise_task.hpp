#pragma once
// The task that runs a window's program on its share of the elements.

#include <memory>
#include <string>
#include <utility>

#include "fusion/plan.hpp"

namespace refrain::arrays::detail {

/// By-value arguments of a launch: what is done, and the constants in it.
class ElementwiseCall {
 public:
  ElementwiseCall(std::shared_ptr<const Plan> plan, std::size_t constants)
      : plan_(std::move(plan)) {
    if (constants > kInline) more_ = std::make_unique<Constant[]>(constants);
  }
  [[nodiscard]] const Plan& plan() const { return *plan_; }
  [[nodiscard]] Constant* constants() { return more_ != nullptr ? more_.get() : few_; }
  [[nodiscard]] const Constant* constants() const { return more_ != nullptr ? more_.get() : few_; }

 private:
  static constexpr std::size_t kInline = 4;
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<Constant[]> more_;
  Constant few_[kInline];
};

DynamicTask make_elementwise_task(const std::string& name);

}  // namespace refrain::arrays::detail
