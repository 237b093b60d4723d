#include "simulate/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "machine/machine.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"
#include "runtime/runtime_impl.hpp"

namespace refrain::simulate {

namespace {

constexpr std::uint64_t kMostCalls = 100'000'000'000;

/// Of several nodes each has memories of these names.
std::string name_of(const Machine& machine, const Memory& memory) {
  return machine.ranks() == 1 ? memory.name : fmt::format("node{}.{}", memory.rank, memory.name);
}

/// What the simulation has come to, but for what the runtime itself counts.
void note_use(const Machine& machine, const Lanes& lanes, const Player& player,
              const VirtualExecutor& executor, Outcome& outcome) {
  outcome.seconds = std::max(executor.now(), executor.end());
  outcome.phases = player.phases();
  outcome.loop = player.longest_loop();
  outcome.tasks = player.tasks();
  outcome.operations = executor.executed();
  for (std::uint32_t processor = 0; processor < lanes.all(); ++processor)
    outcome.processors.push_back({lanes.name(processor), executor.busy()[processor]});
  for (const auto& used : executor.links().uses())
    outcome.links.push_back({name_of(machine, machine.memory(used.first.first)),
                             name_of(machine, machine.memory(used.first.second)),
                             used.second.copies, used.second.bytes, used.second.busy});
}

const Machine& machine_of(const Simulation& simulation, const Machine& measured) {
  return simulation.machine ? *simulation.machine : measured;
}

}  // namespace

Outcome simulate(const capture::Program& program, const Simulation& simulation) {
  if (program.stream.length(0) > kMostCalls)
    throw UsageError(fmt::format("the captured program makes {} calls; {} can be simulated",
                                 grouped(program.stream.length(0)), grouped(kMostCalls)));
  const Machine measured = machine::parse_json(program.machine, "the machine of the captured run");
  const Machine& machine = machine_of(simulation, measured);
  std::size_t cpus = 0;
  for (const ProcessorId cpu : machine.processors(ProcessorKind::cpu))
    cpus += machine.processor(cpu).rank == 0 ? 1 : 0;
  exec::ExecutorOptions chosen;
  chosen.workers =
      simulation.options.workers >= 0 ? simulation.options.workers : static_cast<int>(cpus) - 1;
  const Lanes lanes(machine, chosen.workers);
  std::unique_ptr<const CostFile> costs;
  if (!simulation.costs.empty())
    costs = std::make_unique<CostFile>(JsonFile::read(simulation.costs, "file of costs"),
                                       simulation.costs, program);
  CostModel model(program, measured, machine, lanes, costs.get());
  const auto executor = std::make_shared<VirtualExecutor>(chosen, machine, lanes, model);

  refrain::Options options = simulation.options;
  options.machine.clear();
  runtime::World world;
  world.executor = executor;
  world.task_slots = refrain::detail::TaskSlots::beside_process();
  world.imagined = machine;
  runtime::RuntimeImpl runtime(std::move(options), std::move(world));
  if (simulation.mapper) runtime.set_mapper(simulation.mapper(machine));
  Player player(program, model, *executor);
  Outcome outcome;
  {
    runtime::RuntimeImpl::Program running(runtime, "simulate");
    try {
      player.play(running.context().facade());
      for (const Memory& memory : machine.memories())
        if (const std::uint64_t peak = runtime.memories().pool(memory.id).usage().peak; peak > 0)
          outcome.memories.push_back({name_of(machine, memory), peak, memory.capacity});
      running.close();
    } catch (...) {
      running.note_error(std::current_exception());
      throw;
    }
  }
  runtime.write_reports();
  note_use(machine, lanes, player, *executor, outcome);
  outcome.counters = runtime.totals().counters();
  return outcome;
}

std::string to_text(const Outcome& outcome) {
  const auto percent = [&](double seconds) {
    return outcome.seconds > 0 ? 100 * seconds / outcome.seconds : 0;
  };
  std::string text = fmt::format("simulated time   {}\n", short_duration(outcome.seconds));
  if (const std::optional<Loop>& loop = outcome.loop)
    text += fmt::format("an iteration     {} ({} times {} calls)\n",
                        short_duration(loop->iteration_seconds()), loop->times, loop->calls);
  text += fmt::format("tasks            {}\n", grouped(outcome.tasks));
  const Counters& counters = outcome.counters;
  text += fmt::format("copies           {}, {}\n", grouped(counters.copies),
                      short_size(counters.copied_bytes));
  text += fmt::format("evictions        {}\n", grouped(counters.evictions));
  text += "\nprocessor            busy\n";
  // Many that are alike would hide the others.
  constexpr std::size_t kShown = 24;
  std::size_t shown = 0;
  for (const Busy& processor : outcome.processors) {
    if (processor.seconds == 0) continue;
    if (++shown <= kShown)
      text += fmt::format("{:<20} {:>5.1f}%\n", processor.name, percent(processor.seconds));
  }
  if (shown > kShown) text += fmt::format("... and {} more\n", shown - kShown);
  if (!outcome.links.empty())
    text += "\nlink                           copies       bytes    busy\n";
  shown = 0;
  for (const LinkBusy& link : outcome.links)
    if (++shown <= kShown)
      text += fmt::format("{:<28} {:>8} {:>11}  {:>5.1f}%\n", link.from + " > " + link.to,
                          grouped(link.copies), short_size(link.bytes), percent(link.seconds));
  if (shown > kShown) text += fmt::format("... and {} more\n", shown - kShown);
  text += "\nmemory                 peak    capacity\n";
  shown = 0;
  for (const Peak& memory : outcome.memories)
    if (++shown <= kShown)
      text += fmt::format("{:<16} {:>10} {:>11}\n", memory.name, short_size(memory.bytes),
                          short_size(memory.capacity));
  if (shown > kShown) text += fmt::format("... and {} more\n", shown - kShown);
  return text;
}

std::string to_json(const Outcome& outcome) {
  using Json = nlohmann::ordered_json;
  Json json{{"seconds", outcome.seconds},
            {"tasks", outcome.tasks},
            {"operations", outcome.operations},
            {"copies", outcome.counters.copies},
            {"copied_bytes", outcome.counters.copied_bytes},
            {"fills", outcome.counters.fills},
            {"folds", outcome.counters.folds},
            {"evictions", outcome.counters.evictions}};
  if (const std::optional<Loop>& loop = outcome.loop)
    json["loop"] = Json{{"times", loop->times},
                        {"calls", loop->calls},
                        {"iteration_seconds", loop->iteration_seconds()}};
  json["phases"] = Json::array();
  for (const Phase& phase : outcome.phases)
    json["phases"].push_back(Json{{"begin", phase.begin},
                                  {"end", phase.end},
                                  {"calls", phase.calls},
                                  {"tasks", phase.tasks}});
  json["processors"] = Json::array();
  for (const Busy& processor : outcome.processors)
    json["processors"].push_back(Json{{"name", processor.name}, {"busy", processor.seconds}});
  json["links"] = Json::array();
  for (const LinkBusy& link : outcome.links)
    json["links"].push_back(Json{{"from", link.from},
                                 {"to", link.to},
                                 {"copies", link.copies},
                                 {"bytes", link.bytes},
                                 {"busy", link.seconds}});
  json["memories"] = Json::array();
  for (const Peak& memory : outcome.memories)
    json["memories"].push_back(
        Json{{"name", memory.name}, {"peak", memory.bytes}, {"capacity", memory.capacity}});
  return json.dump(2) + "\n";
}

}  // namespace refrain::simulate
