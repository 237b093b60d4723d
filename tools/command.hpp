#pragma once
// The command-line tool is a list of subcommands, one file each: the file's function adds its options and
// its action to the tool.

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace refrain::tools {

/// The tool. Returns its exit status: 0; 1, when what was asked for failed; 2, when the command line is wrong. Of
/// `oracle record` and `oracle run` the status is the command's, with which the process ends at once.
int run_tool(int argc, char** argv);

void add_machine_command(CLI::App& tool);
/// `command`: the words behind `--`, as they are.
void add_oracle_command(CLI::App& tool, const std::vector<std::string>& command);
void add_report_command(CLI::App& tool);
void add_simulate_command(CLI::App& tool);
void add_capture_command(CLI::App& tool);
/// `command`: the words behind `--`, as they are.
void add_map_command(CLI::App& tool, const std::vector<std::string>& command);

/// Writes a file, whole or not at all. `what`: what messages call it. Throws Error, which names the file.
void write_new_file(const std::string& path, const std::string& text, const char* what);

/// What is wrong with the value of a flag that is to be a whole number from `least`; empty: nothing.
std::string whole_number_fault(const std::string& value, std::uint64_t least);

}  // namespace refrain::tools
