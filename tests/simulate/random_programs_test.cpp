// Random programs, run and simulated under the same mapping: the simulation copies, fills, folds and evicts what the run
// did, and over the same links.

#include <gtest/gtest.h>

#include <map>

#include "runtime/runtime_impl.hpp"
#include "simulate/simulation.hpp"
#include "support/crash_note.hpp"
#include "support/generate.hpp"
#include "support/interpreter.hpp"
#include "support/mapping_rule.hpp"
#include "support/random.hpp"
#include "support/runner.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_budget.hpp"
#include "support/text.hpp"

namespace refrain::test::random_programs_test {
namespace {

struct Described {
  const char* description;
  MappingRule::Style style;
};
constexpr Described kMachines[] = {
    {"emulated:cpus=3", MappingRule::Style::standard},
    {"emulated:cpus=2,gpus=2", MappingRule::Style::spread},
    {"emulated:cpus=2,gpus=2", MappingRule::Style::standard},
    {"emulated:cpus=4,numa=2", MappingRule::Style::spread},
    {"emulated:cpus=2,gpus=2,framebuffer=512B", MappingRule::Style::spread},
};

/// Without what is not captured, or depends on what bodies do.
GenerateOptions plain_options(std::uint64_t seed) {
  GenerateOptions options = options_for(seed);
  options.nested = options.attach = options.failures = false;
  return options;
}

/// What was moved, as a text.
std::string text_of(const Counters& c,
                    const std::map<std::pair<std::string, std::string>,
                                   std::pair<std::uint64_t, std::uint64_t>>& links) {
  std::string text = fmt::format(
      "{} launches, {} tasks, {} copies of {} bytes, {} fills, {} folds, {} evictions\n",
      c.launches, c.tasks, c.copies, c.copied_bytes, c.fills, c.folds, c.evictions);
  for (const auto& [ends, use] : links)
    text += fmt::format("{} > {}: {} copies, {} bytes\n", ends.first, ends.second, use.first,
                        use.second);
  return text;
}

std::string run(const Program& program, const Options& options, const MappingRule::Style style,
                std::uint64_t seed) {
  Runtime runtime(options);
  if (style != MappingRule::Style::standard)
    runtime.set_mapper(MappingRule(runtime.machine(), style, seed).mapper(false));
  const RunOutcome outcome = execute(runtime, program);
  for (const std::string& complaint : outcome.complaints) ADD_FAILURE() << complaint;
  const Machine& machine = runtime.machine();
  std::map<std::pair<std::string, std::string>, std::pair<std::uint64_t, std::uint64_t>> links;
  const auto& counted = runtime.impl().totals().analysis.links;
  for (std::size_t link = 0; link < counted.size(); ++link)
    if (counted[link].copies > 0)
      links[{machine.memory(static_cast<MemoryId>(link / machine.memories().size())).name,
             machine.memory(static_cast<MemoryId>(link % machine.memories().size())).name}] = {
          counted[link].copies, counted[link].bytes};
  runtime.write_reports();
  return text_of(runtime.counters(), links);
}

std::string simulated(const std::string& file, const Options& options, MappingRule::Style style,
                      std::uint64_t seed) {
  simulate::Simulation simulation;
  simulation.options = options;
  simulation.options.capture.clear();
  if (style != MappingRule::Style::standard)
    simulation.mapper = [=](const Machine& machine) {
      return MappingRule(machine, style, seed).mapper(false);
    };
  const simulate::Outcome outcome = simulate::simulate(capture::load(file), simulation);
  std::map<std::pair<std::string, std::string>, std::pair<std::uint64_t, std::uint64_t>> links;
  for (const simulate::LinkBusy& link : outcome.links)
    links[{link.from, link.to}] = {link.copies, link.bytes};
  return text_of(outcome.counters, links);
}

TEST(SimulatedRandomPrograms, MoveWhatTheRunMoves) {
  const TemporaryFolder folder;
  for (TestBudget budget(600, 30); budget.more(); budget.next()) {
    const std::uint64_t seed = budget.seed();
    set_crash_note("seed " + std::to_string(seed), 300);
    const Described& machine = kMachines[seed % std::size(kMachines)];
    Plan plan = generate(seed, plain_options(seed));
    std::erase_if(plan.statements,
                  [](const Statement& s) { return s.kind == Statement::Kind::remap; });
    const Program program = resolve(plan, nullptr);
    Options options;
    options.machine = machine.description;
    options.workers = static_cast<int>(seed % 3);
    // What traces are found depends on how far the search for them is.
    options.autotrace = false;
    options.capture = folder.path("program.json");
    const std::string expected = run(program, options, machine.style, mix(seed, 9));
    std::string found;
    try {
      found = simulated(options.capture, options, machine.style, mix(seed, 9));
    } catch (const std::exception& error) { found = error.what(); }
    ASSERT_EQ(found, expected) << "seed " << seed << ", " << machine.description << "\n"
                               << to_text(program);
  }
  clear_crash_note();
}

}  // namespace
}  // namespace refrain::test::random_programs_test
