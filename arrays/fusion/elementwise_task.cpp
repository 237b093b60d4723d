#include "fusion/elementwise_task.hpp"

#include "check.hpp"
#include "fusion/window.hpp"
#include "plain_task.hpp"
#include "storage/memory.hpp"

namespace refrain::arrays::detail {

namespace {

void run(const TaskFrame& frame) {
  const auto& call = *static_cast<const ElementwiseCall*>(frame.values);
  const Plan& plan = call.plan();
  std::byte* slots[Window::kMostArrays];
  REFRAIN_ARRAYS_CHECK(plan.slots.size() <= Window::kMostArrays, "windows are bounded");
  for (std::size_t i = 0; i < frame.arguments.size(); ++i) slots[i] = element_zero(frame, i);
  plan.program.run(plan.split[frame.rank], plan.split[frame.rank + 1], slots, call.constants());
}

}  // namespace

DynamicTask make_elementwise_task(const std::string& name) { return plain_task<run>(name); }

}  // namespace refrain::arrays::detail
