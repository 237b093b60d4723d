#pragma once
// Limits that the kernel puts on this process: its control groups (cgroups(7), version 2 and 1), and numbers in small
// files. The limit of a process is the least of its group's and of all enclosing groups'. Reads /proc/self/cgroup and
// /sys/fs/cgroup at each call; where they say nothing there is no limit. Any thread.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace refrain {

/// A number in a small file of the kernel's, under /proc, /sys or a control group: the one that begins the first line, or
/// follows `key` in the first line that begins with it ("MemTotal:  123 kB"). Nothing where there is no such file, line
/// or number ("max"), or it is 2^64 or more.
std::optional<std::uint64_t> number_in(const std::string& path, std::string_view key = {});

struct GroupLimit {
  std::string group;  ///< whose limit is the least, as a folder of the hierarchy: "/batch/job7"
  std::string file;   ///< in which it stands: "memory.max"
  std::uint64_t limit = 0;
  std::optional<std::uint64_t> current = {};  ///< used of it, where that is known
};

/// Of `controller` ("memory", "pids"), by the numbers in these files, and how much is used by the one in `current`;
/// nothing where none of them holds a limit. Files that do not exist in a version are not looked at. `root` stands
/// before all paths, for tests.
std::optional<GroupLimit> least_group_limit(const std::string& controller,
                                            std::initializer_list<const char*> limits,
                                            std::initializer_list<const char*> current,
                                            const std::string& root = {});

}  // namespace refrain
