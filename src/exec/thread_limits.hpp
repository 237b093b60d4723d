#pragma once
// Why no further thread can be started. The system reports the failure alone; the reason is found by comparing the
// limits of the control group, the user, the process and the system with their use.

#include <string>

namespace refrain::exec {

/// Which limits there are and which of them is reached, as a part of a sentence. Reads /proc and the control group.
std::string what_limits_threads();

/// The limits and their use. 0: not known.
struct ThreadLimits {
  std::string group;                                   ///< whose pids.max is the least
  unsigned long long group_most = 0, group_now = 0;    ///< threads in the control group
  unsigned long long user_most = 0, user_now = 0;      ///< of the user, RLIMIT_NPROC
  unsigned long long system_most = 0, system_now = 0;  ///< /proc/sys/kernel/threads-max
  unsigned long long memory_most = 0, memory_now = 0;  ///< bytes of addresses, RLIMIT_AS
  unsigned long long stack = 0;  ///< bytes that a thread's stack takes of those
};
/// The same sentence for given limits.
std::string what_limits_threads(const ThreadLimits& limits);

}  // namespace refrain::exec
