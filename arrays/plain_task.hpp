#pragma once
// Tasks of this library: mere functions that launch nothing.

#include <string>
#include <utility>

#include "refrain/dynamic.hpp"

namespace refrain::arrays::detail {

/// A task whose body is the function `body`, for cores and for GPUs. GPUs are emulated: threads with a memory of their
/// own.
template <void (*body)(const TaskFrame&)>
DynamicTask plain_task(std::string name, ResultType result = {}) {
  const auto on = [](ProcessorKind kind) {
    return TaskVariant{kind, body, false,
                       [](const void* frame) { body(*static_cast<const TaskFrame*>(frame)); }};
  };
  return DynamicTask(std::move(name), {on(ProcessorKind::cpu), on(ProcessorKind::gpu)}, result);
}

}  // namespace refrain::arrays::detail
