#include "fusion/fused_tasks.hpp"

#include <map>
#include <mutex>

#include "fusion/elementwise_task.hpp"
#include "fusion/plan.hpp"
#include "fusion/reduction_task.hpp"

namespace refrain::arrays::detail {

namespace {

std::string name_of(const WindowText& text) {
  constexpr int kShown = 2;
  std::string name;
  int shown = 0;
  for (const Step& step : text.steps) {
    if (step.cast && text.steps.size() > 1) continue;
    if (shown == kShown) {
      name += "...";
      break;
    }
    if (shown++ > 0) name += ' ';
    name += step.cast ? (step.type == step.result ? "copy" : "cast") : kernels::name_of(step.op);
  }
  if (text.reduction) {
    if (!name.empty()) name += ' ';
    name += detail::name_of(text.reduction->op);
  }
  return name.empty() ? "cast" : name;
}

}  // namespace

const DynamicTask& fused_task(const WindowText& text) {
  static std::mutex mutex;
  // Never destroyed: contexts may end after static objects.
  static auto& tasks = *new std::map<std::string, DynamicTask>;
  const std::string name = name_of(text);
  const std::lock_guard lock(mutex);
  const auto known = tasks.find(name);
  if (known != tasks.end()) return known->second;
  return tasks
      .emplace(name, text.reduction ? make_reduction_task(name) : make_elementwise_task(name))
      .first->second;
}

}  // namespace refrain::arrays::detail
