#pragma once
// The command-line tool is a list of subcommands, one file each: the file's function adds its options and
// its action to the tool.

namespace CLI {
class App;
}

namespace refrain::tools {

void add_machine_command(CLI::App& tool);
void add_report_command(CLI::App& tool);

}  // namespace refrain::tools
