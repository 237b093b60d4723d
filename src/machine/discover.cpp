// The machine as it is, and what of it this process may use. hwloc reads the topology; what it cannot tell (a container
// without /sys, no memory sizes) is replaced by what the operating system always knows.

#include "machine/machine.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <sys/resource.h>

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

/// Null: it cannot be read.
std::shared_ptr<hwloc_topology> read_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  std::shared_ptr<hwloc_topology> topology(raw, hwloc_topology_destroy);
  return hwloc_topology_load(raw) == 0 ? topology : nullptr;
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

}  // namespace

// One hardware thread of each core that has an allowed one, in the order of the topology.
Hardware find_hardware() {
  const std::vector<int>& allowed = allowed_cpus();
  const std::shared_ptr<hwloc_topology> topology = read_topology();
  Hardware hardware;
  std::set<hwloc_obj_t> cores;
  std::vector<hwloc_obj_t> domains;  // null: not known
  const auto add = [&](std::vector<int> cpus, hwloc_obj_t domain) {
    auto known = std::ranges::find(domains, domain);
    if (known == domains.end()) known = domains.insert(known, domain);
    hardware.cpus.push_back({static_cast<int>(known - domains.begin()), std::move(cpus)});
  };
  hwloc_obj_t unit = nullptr;
  while (topology &&
         (unit = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_PU, unit)) != nullptr) {
    const int cpu = static_cast<int>(unit->os_index);
    if (!allowed.empty() && std::ranges::find(allowed, cpu) == allowed.end()) continue;
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology.get(), HWLOC_OBJ_CORE, unit);
    if (!cores.insert(core != nullptr ? core : unit).second) continue;
    const auto domain = static_cast<unsigned>(hwloc_bitmap_first(unit->nodeset));
    add({cpu}, hwloc_get_numanode_obj_by_os_index(topology.get(), domain));
  }
  if (hardware.cpus.empty())  // as many as the process may use
    for (const int cpu : allowed) add({cpu}, nullptr);
  if (hardware.cpus.empty())
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
      add({}, nullptr);
  // A domain's part is what it has of all domains' memory: hardware that shows its domains' memory wrong, as virtual
  // machines do, still shows it in proportion.
  const std::uint64_t usable = find_main_memory().bytes;
  const std::uint64_t in_all = topology ? hwloc_get_root_obj(topology.get())->total_memory : 0;
  for (hwloc_obj_t domain : domains)
    hardware.domains.push_back(share_of_domain(
        usable, domain ? domain->attr->numanode.local_memory : 0, in_all, domains.size()));
  return hardware;
}

void check_runs_here(const Machine& machine, std::string_view description) {
  if (description.empty()) return;
  if (machine.ranks() > 1)
    throw InputError(
        fmt::format("machine description '{}': it has {} nodes, and a process runs on one; such a "
                    "machine can be simulated",
                    description, machine.ranks()));
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

std::optional<std::uint64_t> number_in(const std::string& path, std::string_view key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", key.size());
    std::uint64_t number = 0;
    if (begin == std::string::npos ||
        std::from_chars(line.data() + begin, line.data() + line.size(), number).ec != std::errc())
      break;
    return number;
  }
  return {};
}

std::optional<GroupLimit> least_group_limit(const std::string& controller,
                                            std::initializer_list<const char*> limits,
                                            const char* current, const std::string& root) {
  // A limit as large as that is none: version 1 writes the largest number of pages.
  constexpr std::uint64_t kNone = std::uint64_t{1} << 62;
  const std::string groups = root + "/sys/fs/cgroup/";
  std::optional<GroupLimit> least;
  // In a group and those around it, of a hierarchy that is mounted there.
  const auto look = [&](const std::string& mount, const std::string& group) {
    for (auto folder = std::filesystem::path(group).lexically_normal();;
         folder = folder.parent_path()) {
      const auto number_of = [&](const char* file) {
        return number_in(groups + mount + (folder / file).string());
      };
      for (const char* file : limits) {
        const std::optional<std::uint64_t> limit = number_of(file);
        if (!limit || *limit >= kNone || (least && *limit >= least->limit)) continue;
        least = GroupLimit{folder.string(), file, *limit, {}};
        if (current != nullptr) least->current = number_of(current);
      }
      if (!folder.has_relative_path()) return;
    }
  };
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // "ID:CONTROLLERS:FOLDER"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string folder = line.substr(second + 1);
    const bool any = controllers.empty();  // version 2, perhaps beside version 1
    if (!any && ("," + controllers + ",").find("," + controller + ",") == std::string::npos)
      continue;
    look(any ? "" : controller, folder);
    look(any ? "unified" : controllers, folder);
  }
  // A container may see its own group as the root, whatever it is called outside.
  look("", "/");
  look(controller, "/");
  return least;
}

MainMemory find_main_memory(const std::string& root) {
  // What the kernel manages; where it does not tell, a GiB.
  const std::uint64_t all = number_in(root + "/proc/meminfo", "MemTotal:").value_or(1 << 20) << 10;
  MainMemory memory{all, "all that the machine has"};
  const auto at_most = [&](std::uint64_t bytes, const std::string& why) {
    if (bytes < memory.bytes) memory = {bytes, why + " (the machine has " + short_size(all) + ")"};
  };
  if (const auto group = least_group_limit(
          "memory", {"memory.max", "memory.high", "memory.limit_in_bytes"}, nullptr, root))
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
