#include "mapping/mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <ranges>

#include "data/box_list.hpp"
#include "graph/node.hpp"
#include "machine/machine.hpp"
#include "refrain/error.hpp"

namespace refrain::mapping {

namespace {

bool contains(std::span<const ProcessorKind> kinds, ProcessorKind kind) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

/// The names of kinds of processors, or of memories.
std::string listed(auto&& all, auto name_of, std::string_view separator = ", ") {
  std::string text;
  for (const std::string_view name : all | std::views::transform(name_of))
    text.append(text.empty() ? "" : separator).append(name);
  return text.empty() ? "none" : text;
}

std::string_view name_of(ProcessorKind kind) { return to_string(kind); }

const machine::ProcessorTraits& choose_kind(const MappingInput& input,
                                            std::span<const ProcessorKind> bodies) {
  const auto is_there = [&](const auto& traits) { return input.machine->has(traits.kind); };
  auto there = machine::processor_table() | std::views::filter(is_there);
  for (const auto& traits : there | std::views::reverse)
    if (contains(input.variants, traits.kind)) return traits;
  throw UsageError(fmt::format(
      "{}: no processor of this machine can run it; it has bodies for: {}; the machine ('{}') has: "
      "{}. Add a body for one of these, or describe another machine with --refrain:machine",
      exec::launch_name(input.task, input.where), listed(bodies, name_of), input.machine->name(),
      listed(there, &machine::ProcessorTraits::name)));
}

ProcessorId deal(const MappingInput& input, std::span<const ProcessorId> processors) {
  using Wide = unsigned __int128;  // a launch domain may have 2^63 points
  const Wide points = std::max<std::size_t>(input.points, 1);
  return processors[static_cast<std::size_t>(Wide{input.rank} * processors.size() / points)];
}

/// Whether the pieces of all points of the launch take a hundredth of the memory at most.
bool is_small(const MappingInput& input, const MappingArgument& argument, const Memory& memory) {
  const double bytes = static_cast<double>(argument.points) *
                       static_cast<double>(argument.value_size) *
                       static_cast<double>(argument.partitioned ? input.points : 1);
  return bytes * 100 <= static_cast<double>(memory.capacity);
}

// The answer comes filled in by the default rules, and stays as it is.
class DefaultMapper final : public Mapper {
 public:
  [[nodiscard]] std::string_view name() const override { return "default"; }
  void map(const MappingInput&, MappingOutput&) override {}
};

}  // namespace

void map_by_default(const MappingInput& input, std::span<const ProcessorKind> bodies,
                    MappingOutput& output) {
  const Machine& machine = *input.machine;
  const machine::ProcessorTraits& traits = choose_kind(input, bodies);
  output.processor = deal(input, machine.processors(traits.kind));
  output.priority = 0;

  Layout layout;
  layout.extent = traits.is_device ? Extent::exact : Extent::whole;
  boost::container::small_vector<MemoryId, 4> memories;
  for (const MemoryKind wanted : traits.memories)
    if (const auto memory = machine.nearest(output.processor, wanted);
        memory && (traits.is_device || memories.empty()))
      memories.push_back(*memory);
  output.arguments.resize(input.arguments.size());
  for (ArgumentMapping& argument : output.arguments) {  // of an earlier answer: they have room
    argument.memories.assign(memories.begin(), memories.end());
    argument.layout = layout;
    argument.when_full = WhenFull::evict;
  }
  // Of several nodes, as a simulation has them, each holds what its shard uses: a part, where all of it has no room.
  if (layout.extent == Extent::whole && machine.ranks() > 1)
    for (std::size_t i = 0; i < input.arguments.size(); ++i)
      if (!is_small(input, input.arguments[i], machine.memory(memories.front())))
        output.arguments[i].layout.extent = Extent::exact;
}

std::unique_ptr<Mapper> make_mapper(const std::string& name) {
  if (name != "default")
    throw InputError("--refrain:mapper: expected 'default', found '" + name + "'");
  return std::make_unique<DefaultMapper>();
}

// --- the check of an answer ----------------------------------------------------------------------------------

namespace {

struct Answer {
  const Mapper& mapper;
  const MappingInput& input;
  const MappingOutput& output;
  const Machine& machine = *input.machine;

  // mapper 'm' for task 't' launched at f.cpp:3, point [2], what: expected ..., found ...
  [[noreturn]] void fail(const std::string& what, const std::string& expected,
                         const std::string& found) const {
    throw UsageError(
        fmt::format("mapper '{}' for {}{}, {}: expected {}, found {}", mapper.name(),
                    exec::launch_name(input.task, input.where),
                    input.group ? ", point " + data::to_string(input.point, input.dim) : "", what,
                    expected, found));
  }

  void check_processor() const {
    if (output.processor >= machine.processors().size())
      fail("processor",
           fmt::format("one of the machine's {} processors", machine.processors().size()),
           fmt::format("number {}", output.processor));
    const Processor& processor = machine.processor(output.processor);
    if (contains(input.variants, processor.kind)) return;
    fail("processor",
         "a " + listed(input.variants, name_of, " or ") + ", which the task has a body for",
         fmt::format("{}, a {}", processor.name, name_of(processor.kind)));
  }

  [[nodiscard]] std::string argument(std::size_t i) const {
    return fmt::format("argument {} (field '{}')", i, input.arguments[i].field);
  }

  void check_memory(std::size_t i, MemoryId id) const {
    if (id >= machine.memories().size())
      fail(argument(i), fmt::format("one of the machine's {} memories", machine.memories().size()),
           fmt::format("number {}", id));
    const Processor& processor = machine.processor(output.processor);
    const Memory& memory = machine.memory(id);
    if (machine.reaches(processor.id, id) && memory.kind != MemoryKind::file) return;
    const auto name_of_memory = [&](MemoryId reached) -> std::string_view {
      return machine.memory(reached).name;
    };
    fail(argument(i),
         fmt::format("a memory that {} reaches ({})", processor.name,
                     listed(processor.memories, name_of_memory)),
         fmt::format("{}, a {} memory", memory.name, to_string(memory.kind)));
  }

  void check_layout(std::size_t i) const {
    const Layout& layout = output.arguments[i].layout;
    const auto check = [&](auto found, auto last, const char* what) {
      if (found > last)
        fail(argument(i), fmt::format("a known {} of its layout", what),
             fmt::format("number {}", static_cast<int>(found)));
    };
    check(layout.order, Order::fortran, "order");
    check(layout.extent, Extent::exact, "extent");
    check(layout.sparse, Sparse::compact, "treatment of scattered points");
  }
};

}  // namespace

void validate(const Mapper& mapper, const MappingInput& input, const MappingOutput& output) {
  const Answer answer{mapper, input, output};
  answer.check_processor();
  if (output.arguments.size() != input.arguments.size())
    answer.fail("arguments", "an answer for each of " + std::to_string(input.arguments.size()),
                std::to_string(output.arguments.size()));
  for (std::size_t i = 0; i < output.arguments.size(); ++i) {
    if (output.arguments[i].memories.empty())
      answer.fail(answer.argument(i), "at least one memory", "none");
    for (const MemoryId memory : output.arguments[i].memories) answer.check_memory(i, memory);
    answer.check_layout(i);
  }
}

}  // namespace refrain::mapping
