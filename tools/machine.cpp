// `refrain machine [DESCRIPTION]`: the processors, memories and links found on this machine, or those of a
// description.

#include "machine/machine.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/text.hpp"
#include "command.hpp"

namespace refrain::tools {
namespace {

struct MachineRequest {
  std::string description;
  bool json = false;
};

void print_machine(const MachineRequest& request) {
  const Machine machine = machine::load(request.description);
  const std::string text = request.json ? machine::to_json(machine) : machine::to_table(machine);
  std::fputs(text.c_str(), stdout);
  if (request.json || !request.description.empty()) return;
  const machine::MainMemory memory = machine::find_main_memory();
  std::printf("\nmain memory: %s, %s\n", short_size(memory.bytes).c_str(), memory.why.c_str());
}

}  // namespace

void add_machine_command(CLI::App& tool) {
  CLI::App* command =
      tool.add_subcommand("machine", "Print the processors, memories and links of a machine");
  auto request = std::make_shared<MachineRequest>();
  command->add_option(
      "description", request->description,
      "a JSON file, a name such as lassen:nodes=4, or a text such as emulated:gpus=2 "
      "(default: this machine)");
  command->add_flag("--json", request->json, "as a machine description in JSON");
  command->callback([request] { print_machine(*request); });
}

}  // namespace refrain::tools
