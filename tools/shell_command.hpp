#pragma once
// Runs a program and waits for it.

#include <string>
#include <vector>

namespace refrain::tools {

/// Runs the program with these flags of the runtime beside its own; its standard output is discarded. Throws Error where
/// it cannot be started, or does not end with success.
void run_for_capture(const std::vector<std::string>& command, const std::string& flags);

}  // namespace refrain::tools
