#pragma once
// A task whose one body is plain C++: for cores, and for emulated GPUs, which are threads of this
// machine with a memory of their own. A real GPU could not run it.

#include <algorithm>

#include "refrain/refrain.hpp"

namespace apps {

template <class F>
refrain::Task<F> host_task(const refrain::Context& ctx, const char* name, F body) {
  using refrain::ProcessorKind;
  const auto gpus = ctx.machine().processors(ProcessorKind::gpu);
  const bool emulated =
      !gpus.empty() && std::all_of(gpus.begin(), gpus.end(), [&](refrain::ProcessorId id) {
        return ctx.machine().processor(id).emulated;
      });
  if (!emulated) return refrain::Task{name, std::move(body)};
  return refrain::Task{name, refrain::on<ProcessorKind::cpu>(body),
                       refrain::on<ProcessorKind::gpu>(body)};
}

}  // namespace apps
