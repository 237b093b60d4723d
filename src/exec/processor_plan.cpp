#include "exec/processor_plan.hpp"

#include <hwloc.h>

#include "refrain/machine.hpp"

namespace refrain::exec {

ProcessorPlan plan_processors(const Machine& machine) {
  ProcessorPlan plan;
  for (const ProcessorId id : machine.processors(ProcessorKind::cpu)) {
    plan.cpus.push_back({static_cast<int>(id), machine.processor(id).cpus});
  }
  if (plan.cpus.empty()) plan.cpus.push_back({0, {}});
  for (const ProcessorId id : machine.processors(ProcessorKind::gpu)) {
    plan.dedicated.push_back(static_cast<int>(id));
  }
  return plan;
}

void bind_this_thread(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return;
  if (hwloc_topology_load(topology) == 0) {
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    for (const int cpu : cpus) hwloc_bitmap_set(set, static_cast<unsigned>(cpu));
    hwloc_set_cpubind(topology, set, HWLOC_CPUBIND_THREAD);  // a refusal is no error
    hwloc_bitmap_free(set);
  }
  hwloc_topology_destroy(topology);
}

}  // namespace refrain::exec
