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

/// Waits until it ends, and returns what a shell would: its exit status, or 128 and the signal that killed it. Signals
/// of the terminal are the command's. Error: there is no such command, or there are no preload libraries.
int run_preloaded(const std::vector<std::string>& command, const OracleFiles& files);

}  // namespace refrain::tools
