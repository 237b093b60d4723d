// The machine as it is, and what of it this process may use. hwloc reads the topology; what it cannot tell (a container
// without /sys, no memory sizes) is replaced by what the operating system always knows.

#include "machine/machine.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>

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

// The hardware threads this process may run on, by the scheduler: right even where /sys is missing. Empty when the
// scheduler does not tell (more of them than a cpu_set_t holds). As they were at the first call: a later one may come
// from a thread that a runtime has bound to one core.
const std::vector<int>& allowed_cpus() {
  static const std::vector<int> cpus = [] {
    std::vector<int> found;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
      for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(static_cast<unsigned>(cpu), &set)) found.push_back(cpu);
    return found;
  }();
  return cpus;
}

// A hardware thread to bind to (-1: none), and its NUMA domain, where that is known.
struct Core {
  int cpu;
  hwloc_obj_t domain;
};

// One hardware thread of each core that has an allowed one, in the order of the topology.
std::vector<Core> usable_cores_of(hwloc_topology_t topology, const std::vector<int>& allowed) {
  std::vector<Core> cores;
  std::set<hwloc_obj_t> seen;
  hwloc_obj_t unit = nullptr;
  while ((unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr) {
    const int cpu = static_cast<int>(unit->os_index);
    if (!allowed.empty() && std::ranges::find(allowed, cpu) == allowed.end()) continue;
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
    if (!seen.insert(core != nullptr ? core : unit).second) continue;
    const auto domain = static_cast<unsigned>(hwloc_bitmap_first(unit->nodeset));
    cores.push_back({cpu, hwloc_get_numanode_obj_by_os_index(topology, domain)});
  }
  return cores;
}

// As many as the process may use.
std::vector<Core> cores_without_topology(const std::vector<int>& allowed) {
  std::vector<Core> cores;
  for (const int cpu : allowed) cores.push_back({cpu, nullptr});
  if (cores.empty()) cores.resize(std::max(1U, std::thread::hardware_concurrency()), {-1, nullptr});
  return cores;
}

}  // namespace

Description discover_description() {
  const std::vector<int>& allowed = allowed_cpus();
  const Topology topology = read_topology();
  std::vector<Core> cores;
  if (topology) cores = usable_cores_of(topology.get(), allowed);
  if (cores.empty()) cores = cores_without_topology(allowed);
  std::vector<hwloc_obj_t> domains;
  for (const Core& core : cores)
    if (std::ranges::find(domains, core.domain) == domains.end()) domains.push_back(core.domain);
  Description machine;
  machine.name = "this machine";
  // A domain's part is what it has of all domains' memory: hardware that shows its domains' memory wrong, as virtual
  // machines do, still shows it in proportion.
  const std::uint64_t usable = find_main_memory().bytes;
  const std::uint64_t in_all = topology ? hwloc_get_root_obj(topology.get())->total_memory : 0;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    const std::uint64_t found = domains[d] ? domains[d]->attr->numanode.local_memory : 0;
    machine.add(MemoryKind::system, fmt::format("system{}", d),
                share_of_domain(usable, found, in_all, domains.size()), static_cast<int>(d));
  }
  for (const Core& core : cores) {
    Processor& cpu = machine.add_cpu(
        static_cast<int>(std::ranges::find(domains, core.domain) - domains.begin()));
    if (core.cpu >= 0) cpu.cpus = {core.cpu};
  }
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
    if (traits_of(processor.kind).is_device && !processor.emulated)
      fail(processor,
           "is a GPU that is not there: there is no back end for real ones; \"emulated\": true "
           "makes it a thread with a memory of its own");
    for (const int cpu : processor.cpus)
      if (!allowed.empty() && std::ranges::find(allowed, cpu) == allowed.end())
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

std::optional<std::uint64_t> number_in(const std::string& path, std::string_view key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", key.size());
    std::uint64_t number = 0;
    if (begin != std::string::npos &&
        std::from_chars(line.data() + begin, line.data() + line.size(), number).ec == std::errc())
      return number;
    break;
  }
  return {};
}

namespace {

/// A limit as large as that is none: version 1 writes the largest number of pages.
constexpr std::uint64_t kNone = std::uint64_t{1} << 62;

/// A hierarchy that the process is in: where it is mounted, and the process's folder in it.
struct Place {
  std::string mount, folder;
};

std::vector<Place> places_of(const std::string& controller, const std::string& root) {
  const std::string groups = root + "/sys/fs/cgroup", inside = groups + "/";
  std::vector<Place> places;
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // "ID:CONTROLLERS:FOLDER"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string folder = line.substr(second + 1);
    if (controllers.empty()) {
      places.push_back({groups, folder});
      places.push_back({inside + "unified", folder});  // beside version 1
    } else if (("," + controllers + ",").find("," + controller + ",") != std::string::npos) {
      places.push_back({inside + controller, folder});
      if (controllers != controller) places.push_back({inside + controllers, folder});
    }
  }
  // A container may see its own group as the root, whatever it is called outside.
  places.push_back({groups, "/"});
  places.push_back({inside + controller, "/"});
  return places;
}

}  // namespace

std::optional<GroupLimit> least_group_limit(const std::string& controller,
                                            std::initializer_list<const char*> limits,
                                            std::initializer_list<const char*> current,
                                            const std::string& root) {
  std::optional<GroupLimit> least;
  const auto look = [&](const Place& place, const std::string& folder) {
    const std::string at = place.mount + (folder == "/" ? "" : folder) + "/";
    for (const char* file : limits) {
      const std::optional<std::uint64_t> limit = number_in(at + file);
      if (!limit || *limit >= kNone || (least && *limit >= least->limit)) continue;
      least = GroupLimit{folder, file, *limit, {}};
      for (const char* used : current)
        if (!least->current) least->current = number_in(at + used);
    }
  };
  for (const Place& place : places_of(controller, root)) {
    std::filesystem::path folder = std::filesystem::path(place.folder).lexically_normal();
    for (; folder.has_relative_path(); folder = folder.parent_path()) look(place, folder.string());
    look(place, "/");
  }
  return least;
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
