#pragma once
// A task with one body of plain C++, for cores and for GPUs. A machine's GPUs are emulated as long as Refrain has no
// back end for real ones: threads with a memory of their own, which run the same loops. The body for GPUs is there on
// machines without GPUs, too, where nothing runs it: a mapping search on such a machine simulates others, and is told
// by it where a task could run.

#include <string>
#include <utility>

#include "refrain/refrain.hpp"

namespace apps {

template <class F>
refrain::Task<F> host_task(std::string name, F body) {
  using refrain::ProcessorKind;
  return refrain::Task{std::move(name), refrain::on<ProcessorKind::cpu>(body),
                       refrain::on<ProcessorKind::gpu>(body)};
}

}  // namespace apps
