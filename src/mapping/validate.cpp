#include "mapping/mapping.hpp"

#include <algorithm>
#include <string>

#include "data/box_list.hpp"
#include "graph/node.hpp"
#include "refrain/error.hpp"

namespace refrain::mapping {

namespace {

struct Answer {
  const Mapper& mapper;
  const MappingInput& input;
  const MappingOutput& output;

  [[nodiscard]] const Machine& machine() const { return *input.machine; }

  // mapper 'm' for task 't' launched at f.cpp:3, point [2]: expected ..., found ...
  [[noreturn]] void fail(const std::string& what, const std::string& expected,
                         const std::string& found) const {
    std::string text = "mapper '" + std::string(mapper.name()) + "' for " +
                       exec::launch_name(input.task, input.where);
    if (input.group) text += ", point " + data::to_string(input.point, input.dim);
    throw UsageError(text + ", " + what + ": expected " + expected + ", found " + found);
  }

  void check_processor() const {
    if (output.processor >= machine().processors().size())
      fail("processor",
           "one of the machine's " + std::to_string(machine().processors().size()) + " processors",
           "number " + std::to_string(output.processor));
    const Processor& processor = machine().processor(output.processor);
    if (std::ranges::find(input.variants, processor.kind) != input.variants.end()) return;
    std::string kinds;
    for (const ProcessorKind kind : input.variants)
      kinds += (kinds.empty() ? "" : " or ") + std::string(to_string(kind));
    fail("processor", "a " + kinds + ", which the task has a body for",
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
