#include "machine/main_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/control_group.hpp"
#include "base/text.hpp"

namespace refrain::machine {

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
