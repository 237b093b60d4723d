#pragma once
// Why no further thread can be started. The system reports the failure alone; the reason is found by comparing the
// limits of the control group, the user, the process and the system with their use.

#include <cstdint>
#include <optional>
#include <string>

namespace refrain::exec {

/// Which limits there are and which of them is reached, as a part of a sentence. Reads /proc and the control group.
std::string what_limits_threads();

/// The limits and their use.
struct ThreadLimits {
  struct Limit {
    std::optional<std::uint64_t> most;  ///< nothing: there is none, or it is not known
    std::uint64_t now = 0;              ///< used; 0 where that is not known
  };
  std::string group_name;   ///< whose pids.max is the least
  Limit group;              ///< threads in that control group
  Limit user;               ///< threads of the user, RLIMIT_NPROC
  Limit system;             ///< threads in all, /proc/sys/kernel/threads-max
  Limit addresses;          ///< bytes, RLIMIT_AS
  std::uint64_t stack = 0;  ///< bytes that a thread's stack takes of those
};
/// The same sentence for given limits.
std::string what_limits_threads(const ThreadLimits& limits);

}  // namespace refrain::exec
