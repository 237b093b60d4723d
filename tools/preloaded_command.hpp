#pragma once
// Runs a command with the oracle's preload libraries and in the environment of a run.

#include <optional>
#include <string>
#include <vector>

namespace refrain::tools {

struct OracleFiles {
  std::optional<std::string> record, reference;
  std::string ledger;
};

/// The paths of the preload libraries, with colons between them. Error: there are none.
std::string preload_libraries();

/// 0, or what run_preloaded returns where there is no such command, which it says.
int status_if_not_found(const std::string& command);

/// Waits until it ends, and returns what a shell would: its exit status, 128 and the signal that killed it, or 127, if
/// there is no such command. Signals of the terminal, and those that ask this process to end, are the command's.
int run_preloaded(const std::string& libraries, const std::vector<std::string>& command,
                  const OracleFiles& files);

}  // namespace refrain::tools
