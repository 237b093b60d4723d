#include "mapping/mapping.hpp"

#include <algorithm>
#include <ranges>
#include <string>

#include "data/box_list.hpp"
#include "graph/node.hpp"
#include "machine/machine.hpp"
#include "refrain/error.hpp"

namespace refrain::mapping {

namespace {

std::string listed(std::span<const ProcessorKind> kinds, const char* separator = ", ") {
  std::string text;
  for (const ProcessorKind kind : kinds)
    text += (text.empty() ? "" : separator) + std::string(to_string(kind));
  return text.empty() ? "none" : text;
}

[[noreturn]] void fail_no_body(const MappingInput& input, std::span<const ProcessorKind> bodies) {
  std::vector<ProcessorKind> there;
  for (const auto& traits : machine::processor_table())
    if (input.machine->has(traits.kind)) there.push_back(traits.kind);
  throw UsageError(
      exec::launch_name(input.task, input.where) +
      ": no processor of this machine can run it; it has bodies for: " + listed(bodies) +
      "; the machine ('" + input.machine->name() + "') has: " + listed(there) +
      ". Add a body for one of these, or describe another machine with "
      "--refrain:machine");
}

const machine::ProcessorTraits& choose_kind(const MappingInput& input,
                                            std::span<const ProcessorKind> bodies) {
  for (const auto& traits : machine::processor_table() | std::views::reverse)
    if (input.machine->has(traits.kind) &&
        std::ranges::find(input.variants, traits.kind) != input.variants.end())
      return traits;
  fail_no_body(input, bodies);
}

ProcessorId deal(const MappingInput& input, std::span<const ProcessorId> processors) {
  using Wide = unsigned __int128;  // a launch domain may have 2^63 points
  const Wide points = std::max<std::size_t>(input.points, 1);
  return processors[static_cast<std::size_t>(Wide{input.rank} * processors.size() / points)];
}

}  // namespace

void map_by_default(const MappingInput& input, std::span<const ProcessorKind> bodies,
                    MappingOutput& output) {
  const Machine& machine = *input.machine;
  const machine::ProcessorTraits& traits = choose_kind(input, bodies);
  output.processor = deal(input, machine.processors(traits.kind));
  output.priority = 0;

  ArgumentMapping answer;
  answer.layout.extent = traits.is_device ? Extent::exact : Extent::whole;
  for (const MemoryKind wanted : traits.memories)
    if (const auto memory = machine.nearest(output.processor, wanted);
        memory && (traits.is_device || answer.memories.empty()))
      answer.memories.push_back(*memory);
  output.arguments.assign(input.arguments.size(), answer);
}

namespace {

// The answer comes filled in by the default rules, and stays as it is.
class DefaultMapper final : public Mapper {
 public:
  [[nodiscard]] std::string_view name() const override { return "default"; }
  void map(const MappingInput&, MappingOutput&) override {}
};

}  // namespace

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

  [[nodiscard]] const Machine& machine() const { return *input.machine; }

  // mapper 'm' for task 't' launched at f.cpp:3, point [2], what: expected ..., found ...
  [[noreturn]] void fail(const std::string& what, const std::string& expected,
                         const std::string& found) const {
    throw UsageError("mapper '" + std::string(mapper.name()) + "' for " +
                     exec::launch_name(input.task, input.where) +
                     (input.group ? ", point " + data::to_string(input.point, input.dim) : "") +
                     ", " + what + ": expected " + expected + ", found " + found);
  }

  void check_processor() const {
    if (output.processor >= machine().processors().size())
      fail("processor",
           "one of the machine's " + std::to_string(machine().processors().size()) + " processors",
           "number " + std::to_string(output.processor));
    const Processor& processor = machine().processor(output.processor);
    if (std::ranges::find(input.variants, processor.kind) != input.variants.end()) return;
    fail("processor", "a " + listed(input.variants, " or ") + ", which the task has a body for",
         processor.name + ", a " + std::string(to_string(processor.kind)));
  }

  [[nodiscard]] std::string argument(std::size_t i) const {
    return "argument " + std::to_string(i) + " (field '" + std::string(input.arguments[i].field) +
           "')";
  }

  void check_memory(std::size_t i, MemoryId id) const {
    const Processor& processor = machine().processor(output.processor);
    if (id >= machine().memories().size())
      fail(argument(i),
           "one of the machine's " + std::to_string(machine().memories().size()) + " memories",
           "number " + std::to_string(id));
    if (machine().reaches(processor.id, id) && machine().memory(id).kind != MemoryKind::file)
      return;
    std::string reached;
    for (const MemoryId memory : processor.memories)
      reached += (reached.empty() ? "" : ", ") + machine().memory(memory).name;
    fail(argument(i), "a memory that " + processor.name + " reaches (" + reached + ")",
         machine().memory(id).name + ", a " + std::string(to_string(machine().memory(id).kind)) +
             " memory");
  }

  void check_layout(std::size_t i) const {
    const Layout& layout = output.arguments[i].layout;
    const auto check = [&](auto found, auto last, const char* what) {
      if (found > last)
        fail(argument(i), std::string("a known ") + what + " of its layout",
             "number " + std::to_string(static_cast<int>(found)));
    };
    check(layout.order, Order::fortran, "order");
    check(layout.extent, Extent::exact, "extent");
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
