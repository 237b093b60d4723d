// The command-line tool `refrain`: what can be done with machines and runs from outside a program.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "base/new_file.hpp"
#include "command.hpp"
#include "refrain/error.hpp"
#include "refrain/version.hpp"

namespace refrain::tools {

namespace {

constexpr int kFailed = 1, kNotUnderstood = 2;

std::string version() {
  return std::to_string(REFRAIN_VERSION_MAJOR) + "." + std::to_string(REFRAIN_VERSION_MINOR) + "." +
         std::to_string(REFRAIN_VERSION_PATCH);
}

}  // namespace

void write_new_file(const std::string& path, const std::string& text, const char* what) {
  NewFile file(path);
  file.out() << text;
  const int error = file.keep();
  if (error != 0 || file.error() != 0)
    throw Error(path + ": the " + what +
                " cannot be written: " + std::strerror(error != 0 ? error : file.error()));
}

int run_tool(int argc, char** argv) {
  CLI::App tool{"Refrain's tool: looks at machines and runs", "refrain"};
  tool.set_version_flag("--version", version());
  tool.require_subcommand(1);
  tool.failure_message([](const CLI::App* app, const CLI::Error& error) {
    return "refrain: " + CLI::FailureMessage::simple(app, error);
  });
  add_machine_command(tool);
  // What is behind "--" is another program's, and not parsed.
  char** const end = argv + argc;
  char** const mark = std::find(argv, end, std::string_view("--"));
  const std::vector<std::string> command(mark == end ? end : mark + 1, end);
  add_oracle_command(tool, command);
  add_report_command(tool);
  add_simulate_command(tool);
  add_capture_command(tool);
#ifdef REFRAIN_BUILD_MAP_SEARCH
  add_map_command(tool, command);
#endif
  try {
    tool.parse(static_cast<int>(mark - argv), argv);
  } catch (const CLI::ParseError& error) {
    return tool.exit(error) == 0 ? 0 : kNotUnderstood;  // 0: help was asked for
  } catch (const std::exception& error) {  // ours, and those of files, databases and memory
    std::fprintf(stderr, "refrain: %s\n", error.what());
    return kFailed;
  }
  return 0;
}

}  // namespace refrain::tools
