#pragma once
// Running a point task: from its node to its body. Called by the executor on whatever thread runs it.

#include "exec/executor.hpp"

namespace refrain::runtime {

void run_task(exec::Node& node, exec::Execution& execution);

}  // namespace refrain::runtime
