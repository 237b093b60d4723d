// `refrain simulate FILE`: how long a captured program takes on a described machine under a mapping.
// `refrain capture show FILE`: what a captured program is.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/new_file.hpp"
#include "command.hpp"
#include "machine/machine.hpp"
#include "simulate/simulation.hpp"

namespace refrain::tools {
namespace {

struct SimulationRequest {
  std::string file, machine;
  simulate::Simulation simulation;
  bool json = false, no_tracing = false;
};

void print_simulation(SimulationRequest& request) {
  const capture::Program program = capture::load(request.file);
  if (!request.machine.empty()) request.simulation.machine = machine::load(request.machine);
  request.simulation.options.tracing = !request.no_tracing;
  const simulate::Outcome outcome = [&] {
    try {
      return simulate::simulate(program, request.simulation);
    } catch (const InputError&) { throw; } catch (const Error& error) {
      throw Error(request.file + ": " + error.what());
    }
  }();
  const std::string text = request.json ? to_json(outcome) : to_text(outcome);
  std::fputs(text.c_str(), stdout);
}

}  // namespace

void add_simulate_command(CLI::App& tool) {
  CLI::App* command = tool.add_subcommand(
      "simulate", "Foretell how long a captured program takes on a described machine");
  auto request = std::make_shared<SimulationRequest>();
  command->add_option("file", request->file, "what --refrain:capture has written")->required();
  command->add_option(
      "--machine", request->machine,
      "a description, or a name such as lassen (default: that of the captured run)");
  command->add_option("--mapping", request->simulation.options.mapping, "a mapping file");
  command->add_option("--costs", request->simulation.costs,
                      "a file that says how long tasks take, where the model is not to");
  command->add_option("--workers", request->simulation.options.workers,
                      "threads beside the program's (default: one fewer than the cpus)");
  command->add_option("--window", request->simulation.options.window, "most operations in flight")
      ->check(CLI::PositiveNumber);
  command->add_option("--timeline", request->simulation.options.timeline,
                      "write the timeline of the simulated run to this file");
  command->add_flag("--no-tracing", request->no_tracing, "analyse each call");
  command->add_flag("--json", request->json, "as JSON");
  command->callback([request] { print_simulation(*request); });
}

void add_capture_command(CLI::App& tool) {
  CLI::App* command = tool.add_subcommand("capture", "Look at captured programs");
  command->require_subcommand(1);
  CLI::App* show = command->add_subcommand("show", "What a captured program is, for people");
  auto file = std::make_shared<std::string>();
  show->add_option("file", *file, "what --refrain:capture has written")->required();
  struct Merge {
    std::string output;
    std::vector<std::string> files;
  };
  auto merge = std::make_shared<Merge>();
  CLI::App* merging = command->add_subcommand(
      "merge",
      "The program of the first file, with the times of all: of runs under other mappings");
  merging->add_option("files", merge->files, "captured runs of one program")->required();
  merging->add_option("-o,--output", merge->output, "the file to write")->required();
  merging->callback([merge] {
    capture::Program program = capture::load(merge->files.front());
    std::vector<capture::Program> others;
    for (std::size_t i = 1; i < merge->files.size(); ++i)
      others.push_back(capture::load(merge->files[i]));
    capture::add_times(program, others);
    write_new_file(merge->output, to_json(program), "captured program");
  });
  show->callback([file] { std::fputs(to_text(capture::load(*file)).c_str(), stdout); });
}

}  // namespace refrain::tools
