#pragma once
// Which threads stand for which processors of the machine.

#include <vector>

namespace refrain {
class Machine;
}

namespace refrain::exec {

struct CpuPlace {
  int processor;          ///< the machine's id
  std::vector<int> cpus;  ///< hardware threads to bind to; empty: none
};

struct ProcessorPlan {
  std::vector<CpuPlace> cpus;  ///< never empty; worker i stands for cpus[i % size]
  std::vector<int> dedicated;  ///< ids of processors with a thread and a queue of their own (gpus)
};

ProcessorPlan plan_processors(const Machine& machine);

/// Binds the calling thread through hwloc; does nothing when that is not possible.
void bind_this_thread(const std::vector<int>& cpus);

}  // namespace refrain::exec
