#include "fusion/fused_tasks.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "fusion/elementwise_task.hpp"
#include "fusion/plan.hpp"
#include "fusion/reduction_task.hpp"
#include "storage/hash.hpp"

namespace refrain::arrays::detail {

namespace {

using Operations = std::vector<std::string_view>;

constexpr std::size_t kShown = 5;         // operations of a window's name
constexpr std::size_t kMostTasks = 4096;  // they stay for as long as the process

// Each once, where it comes first; the reduction is the last one. Casts count where nothing else is done.
Operations operations_of(const WindowText& text) {
  Operations operations;
  for (const Step& step : text.steps)
    if (const auto name = kernels::name_of(step.op);
        !step.cast && std::ranges::find(operations, name) == operations.end())
      operations.push_back(name);
  if (text.reduction) operations.push_back(name_of(text.reduction->op));
  if (!operations.empty()) return operations;
  const auto copies = [](const Step& step) { return step.type == step.result; };
  return {std::ranges::all_of(text.steps, copies) ? "copy" : "cast"};
}

std::string join(std::span<const std::string_view> operations) {
  std::string text;
  for (const std::string_view operation : operations)
    text.append(text.empty() ? "" : "+").append(operation);
  return text;
}

std::string name_of(const WindowText& text) {
  const Operations operations = operations_of(text);
  if (operations.size() <= kShown) return join(operations);
  WordHash hash;
  for (const char letter : join(operations)) hash.add(static_cast<unsigned char>(letter));
  const std::size_t first = kShown - 1;
  char between[32];
  std::snprintf(between, sizeof between, "+%zu more (%04x)+", operations.size() - kShown,
                static_cast<unsigned>(hash.value() >> 48));
  return join(std::span(operations).first(first)).append(between).append(operations.back());
}

}  // namespace

const DynamicTask& fused_task(const WindowText& text) {
  static std::mutex mutex;
  // Never destroyed: contexts may end after static objects.
  static auto& tasks = *new std::map<std::string, DynamicTask>;
  std::string name = name_of(text);
  const std::lock_guard lock(mutex);
  if (tasks.size() >= kMostTasks && !tasks.contains(name))
    name = text.reduction ? "reduction" : "elementwise";
  const auto known = tasks.find(name);
  if (known != tasks.end()) return known->second;
  return tasks
      .emplace(name, text.reduction ? make_reduction_task(name) : make_elementwise_task(name))
      .first->second;
}

}  // namespace refrain::arrays::detail
