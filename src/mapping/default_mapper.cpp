#include "mapping/mapping.hpp"

#include <algorithm>
#include <ranges>
#include <string>

#include "graph/node.hpp"
#include "machine/machine.hpp"
#include "refrain/error.hpp"

namespace refrain::mapping {

namespace {

std::string listed(std::span<const ProcessorKind> kinds) {
  std::string text;
  for (const ProcessorKind kind : kinds)
    text += (text.empty() ? "" : ", ") + std::string(to_string(kind));
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

}  // namespace refrain::mapping
