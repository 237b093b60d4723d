// The machine as it is. hwloc reads the topology; what it cannot tell (a container without /sys, no
// memory sizes) is replaced by what the operating system always knows.

#include "machine/machine.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/control_group.hpp"
#include "base/text.hpp"
#include "refrain/error.hpp"

namespace refrain::machine {

namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

Topology read_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  if (hwloc_topology_load(raw) != 0) return nullptr;
  return topology;
}

// The hardware threads this thread may run on, by the scheduler: right even where /sys is missing.
// Empty when the scheduler does not tell (more of them than a cpu_set_t holds).
std::vector<int> read_allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(static_cast<int>(cpu));
  return cpus;
}

// As they were at the first call: a later one may come from a thread that a runtime has bound to one core.
const std::vector<int>& allowed_cpus() {
  static const std::vector<int> cpus = read_allowed_cpus();
  return cpus;
}

// One hardware thread of each core that has an allowed one, with the core's NUMA domain, in the order of
// the topology.
struct Core {
  int cpu;
  hwloc_obj_t domain;
};
std::vector<Core> usable_cores_of(hwloc_topology_t topology, const std::vector<int>& allowed) {
  std::vector<Core> cores;
  std::vector<hwloc_obj_t> seen;
  hwloc_obj_t unit = nullptr;
  while ((unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr) {
    const int cpu = static_cast<int>(unit->os_index);
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), cpu) == allowed.end())
      continue;
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
    if (core == nullptr) core = unit;
    if (std::find(seen.begin(), seen.end(), core) != seen.end()) continue;
    seen.push_back(core);
    hwloc_obj_t domain = nullptr;
    while ((domain = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, domain)) != nullptr)
      if (hwloc_bitmap_isset(domain->cpuset, unit->os_index)) break;
    cores.push_back({cpu, domain});
  }
  return cores;
}

// The memories a cpu of domain `own` reaches: its own first, then the others in order.
std::vector<MemoryId> own_first(MemoryId own, std::size_t count) {
  std::vector<MemoryId> order{own};
  for (MemoryId m = 0; m < count; ++m)
    if (m != own) order.push_back(m);
  return order;
}

Description from_topology(hwloc_topology_t topology, const std::vector<int>& allowed) {
  Description machine;
  const std::vector<Core> cores = usable_cores_of(topology, allowed);
  std::vector<hwloc_obj_t> domains;
  for (const Core& core : cores)
    if (std::find(domains.begin(), domains.end(), core.domain) == domains.end())
      domains.push_back(core.domain);
  // A domain's part is what it has of all domains' memory: hardware that shows its domains' memory wrong, as virtual
  // machines do, still shows it in proportion.
  std::uint64_t in_domains = 0;
  hwloc_obj_t any = nullptr;
  while ((any = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, any)) != nullptr)
    in_domains += any->attr->numanode.local_memory;
  const std::uint64_t usable = find_main_memory().bytes;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    const std::uint64_t found =
        domains[d] != nullptr ? domains[d]->attr->numanode.local_memory : std::uint64_t{0};
    machine.add(MemoryKind::system, fmt::format("system{}", d),
                share_of_domain(usable, found, in_domains, domains.size()), static_cast<int>(d));
  }
  for (const Core& core : cores) {
    const auto d = static_cast<MemoryId>(std::find(domains.begin(), domains.end(), core.domain) -
                                         domains.begin());
    const ProcessorId cpu =
        machine.add(ProcessorKind::cpu, fmt::format("cpu{}", machine.processors.size()),
                    static_cast<int>(d), own_first(d, domains.size()));
    machine.processors[cpu].cpus = {core.cpu};
  }
  return machine;
}

Description without_topology(const std::vector<int>& allowed) {
  Description machine;
  machine.add(MemoryKind::system, "system0", find_main_memory().bytes, 0);
  const std::size_t count =
      allowed.empty() ? std::max(1U, std::thread::hardware_concurrency()) : allowed.size();
  for (std::size_t i = 0; i < count; ++i) {
    const ProcessorId cpu = machine.add(ProcessorKind::cpu, fmt::format("cpu{}", i), 0, {0});
    if (i < allowed.size()) machine.processors[cpu].cpus = {allowed[i]};
  }
  return machine;
}

}  // namespace

Description discover_description() {
  const std::vector<int>& allowed = allowed_cpus();
  Description machine;
  if (const Topology topology = read_topology()) machine = from_topology(topology.get(), allowed);
  if (machine.processors.empty()) machine = without_topology(allowed);
  machine.name = "this machine";
  machine.add_nominal_links();
  return machine;
}

void check_runs_here(const Machine& machine, std::string_view description) {
  if (description.empty()) return;
  const auto fail = [&](const Processor& processor, const std::string& what) {
    throw InputError(fmt::format("machine description '{}': processor '{}' {}", description,
                                 processor.name, what));
  };
  const std::vector<int>& allowed = allowed_cpus();
  for (const Processor& processor : machine.processors()) {
    if (processor.kind == ProcessorKind::gpu && !processor.emulated)
      fail(processor,
           "is a GPU that is not there: there is no back end for real ones; \"emulated\": true "
           "makes it a thread with a memory of its own");
    for (const int cpu : processor.cpus)
      if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), cpu) == allowed.end())
        fail(processor, fmt::format("is bound to hardware thread {}, and this process may use {}; "
                                    "without \"cpus\" it is not bound",
                                    cpu, in_ranges(allowed)));
  }
}

Machine discover() {
  Description machine = discover_description();
  machine.add_gangs();
  return std::move(machine).build();
}

namespace {

/// What the kernel manages; where it does not tell, a GiB.
std::uint64_t memory_of_machine(const std::string& root) {
  if (const auto kibibytes = number_in(root + "/proc/meminfo", "MemTotal:"))
    return *kibibytes << 10;
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::uint64_t{1} << 30;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

}  // namespace

MainMemory find_main_memory(const std::string& root) {
  const std::uint64_t all = memory_of_machine(root);
  MainMemory memory{all, "all that the machine has"};
  const auto at_most = [&](std::uint64_t bytes, const std::string& why) {
    if (bytes < memory.bytes) memory = {bytes, why + " (the machine has " + short_size(all) + ")"};
  };
  if (const auto group = least_group_limit(
          "memory", {"memory.max", "memory.high", "memory.limit_in_bytes"}, {}, root))
    at_most(group->limit,
            "what " + group->file + " of the control group '" + group->group + "' allows");
  for (const auto& [what, name] : {std::pair{RLIMIT_AS, "-v"}, std::pair{RLIMIT_DATA, "-d"}}) {
    rlimit limit{};
    if (getrlimit(what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      at_most(limit.rlim_cur, std::string("what ulimit ") + name + " allows");
  }
  return memory;
}

std::uint64_t share_of_domain(std::uint64_t usable, std::uint64_t found, std::uint64_t in_all,
                              std::size_t domains) {
  if (found == 0 || in_all == 0) return usable / std::max<std::size_t>(domains, 1);
  return static_cast<std::uint64_t>(static_cast<double>(usable) * static_cast<double>(found) /
                                    static_cast<double>(in_all));
}

}  // namespace refrain::machine
