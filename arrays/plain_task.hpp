#pragma once
// Tasks of this library: mere functions that launch nothing.

#include <string>
#include <utility>
#include <vector>

#include "refrain/dynamic.hpp"

namespace refrain::arrays::detail {

/// A task whose body is the function `body`, for processors of kind cpu.
template <void (*body)(const TaskFrame&)>
DynamicTask plain_task(std::string name, ResultType result = {}) {
  TaskVariant variant;
  variant.body = body;
  variant.plain = [](const void* frame) { body(*static_cast<const TaskFrame*>(frame)); };
  variant.may_launch = false;
  return DynamicTask(std::move(name), std::vector<TaskVariant>{std::move(variant)}, result);
}

}  // namespace refrain::arrays::detail
