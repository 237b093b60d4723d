#pragma once
// A program that is run in a process group of its own, with a limit of time, and that leaves nothing behind: when it has
// ended, whatever it has started is killed. When this process ends before, in any way, or the limit is over, a guard ends
// the group: by SIGTERM, which a runtime takes as the time to write its reports, and a second later by SIGKILL. The guard
// is a process of that group. A process that makes a group of its own gets away.

#include <string>
#include <vector>

namespace refrain::map {

struct Command {
  std::vector<std::string> words;  ///< the program, which is looked for in PATH, and its arguments
  std::vector<std::string> environment;  ///< "NAME=VALUE", all of it
  std::string output, errors;            ///< files, which are emptied; it reads /dev/null
};

struct Ending {
  int status = 0;        ///< as of waitpid
  double seconds = 0;    ///< from its start to its end, on the clock
  bool is_late = false;  ///< the limit was over
};

/// This process's environment, with flags of the runtime behind those that it says: the last one of a kind counts.
[[nodiscard]] std::vector<std::string> environment_with(const std::vector<std::string>& flags);

/// Runs it, and waits. `limit`: seconds; 0: none. Throws Error where it cannot be started. Any thread. Requires that the
/// process does not ignore SIGCHLD.
[[nodiscard]] Ending run_guarded(const Command& command, double limit);

}  // namespace refrain::map
