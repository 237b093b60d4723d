#pragma once
// Mining on the executor's threads, when they have nothing else to do.

#include <memory>

#include "autotrace/trace_finder.hpp"
#include "exec/executor.hpp"

namespace refrain::runtime {

/// `executor` outlives it.
std::unique_ptr<autotrace::Miners> make_miners(exec::Executor& executor);

}  // namespace refrain::runtime
