#pragma once
// Mining on the executor's threads, when they have nothing else to do.

#include <memory>

#include "finder/trace_finder.hpp"
#include "graph/executor.hpp"

namespace refrain::runtime {

/// `executor` outlives it.
std::unique_ptr<autotrace::Miners> make_miners(exec::Executor& executor);

}  // namespace refrain::runtime
