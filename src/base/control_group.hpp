#pragma once
// What the control groups of this process allow it (cgroups(7), version 2 and 1): the least of the limits of its
// group and of all that this is in. Reads /proc/self/cgroup and /sys/fs/cgroup; where these tell nothing there is no
// limit.

#include <cstdint>
#include <initializer_list>
#include <string>

namespace refrain {

struct GroupLimit {
  std::string group;  ///< whose limit is the least, as a folder of the hierarchy: "/batch/job7"
  std::string file;   ///< in which it stands: "memory.max"
  std::uint64_t limit = 0;    ///< 0: there is none
  std::uint64_t current = 0;  ///< used of it; 0: not known
};

/// Of `controller` ("memory", "pids"), by the numbers in these files, and how much is used by the one in `current`.
/// Files that do not exist in a version are not looked at. `root` stands before all paths, for tests.
GroupLimit least_group_limit(const std::string& controller,
                             std::initializer_list<const char*> limits,
                             std::initializer_list<const char*> current,
                             const std::string& root = {});

}  // namespace refrain
