// One case per message about mappings.

#include <gtest/gtest.h>

#include "data/box_list.hpp"
#include "machine/machine.hpp"
#include "mapping/mapping.hpp"
#include "refrain/error.hpp"

namespace refrain::mapping::mapping_test {
namespace {

using Kinds = std::vector<ProcessorKind>;

class Named final : public Mapper {
 public:
  [[nodiscard]] std::string_view name() const override { return "mine"; }
  void map(const MappingInput&, MappingOutput&) override {}
};

class MappingErrors : public testing::Test {
 protected:
  MappingErrors() {
    input_.task = "step";
    input_.where = std::source_location::current();
    input_.arguments = arguments_;
    input_.variants = variants_;
    input_.machine = &machine_;
    launched_ = "task 'step' launched at " + to_string(input_.where);
    output_.processor = machine_.processors(ProcessorKind::gpu)[0];
    output_.arguments.resize(2);
    for (ArgumentMapping& a : output_.arguments)
      a.memories = {*machine_.nearest(output_.processor, MemoryKind::framebuffer)};
  }

  template <class F>
  static std::string message_of(F&& f) {
    try {
      f();
    } catch (const UsageError& error) { return error.what(); }
    return "no error";
  }
  // What follows "mapper 'mine' for task 'step' launched at FILE:LINE, ".
  std::string invalid() {
    const Named mapper;
    const std::string text = message_of([&] { validate(mapper, input_, output_); });
    const std::string head = "mapper 'mine' for " + launched_ + ", ";
    EXPECT_EQ(text.substr(0, head.size()), head);
    return text.size() < head.size() ? text : text.substr(head.size());
  }
  [[nodiscard]] std::string name_of(MemoryKind kind) const {
    return machine_.memory(machine_.memories(kind)[0]).name;
  }

  const Machine machine_ = machine::load("emulated:cpus=1,gpus=1,framebuffer=1MiB,pinned=1MiB");
  const std::vector<MappingArgument> arguments_ = {{"u", Privilege::read, 8, 10, true},
                                                   {"v", Privilege::write, 8, 10, true}};
  const Kinds variants_ = {ProcessorKind::gpu};
  MappingInput input_;
  MappingOutput output_;
  std::string launched_;
};

TEST_F(MappingErrors, NoBodyForThisMachine) {
  const Machine plain = machine::load("emulated:cpus=1");
  input_.machine = &plain;
  input_.variants = {};
  EXPECT_EQ(message_of([&] { map_by_default(input_, Kinds{ProcessorKind::gpu}, output_); }),
            launched_ +
                ": no processor of this machine can run it; it has bodies for: gpu; the "
                "machine ('" +
                plain.name() +
                "') has: cpu, gang. Add a body for one of "
                "these, or describe another machine with --refrain:machine");
}

TEST_F(MappingErrors, UnknownProcessor) {
  output_.processor = 77;
  EXPECT_EQ(invalid(), "processor: expected one of the machine's 3 processors, found number 77");
}

TEST_F(MappingErrors, ProcessorWithoutABody) {
  output_.processor = machine_.processors(ProcessorKind::cpu)[0];
  EXPECT_EQ(invalid(), "processor: expected a gpu, which the task has a body for, found " +
                           machine_.processor(output_.processor).name + ", a cpu");
}

TEST_F(MappingErrors, NotAsManyAnswersAsArguments) {
  output_.arguments.pop_back();
  EXPECT_EQ(invalid(), "arguments: expected an answer for each of 2, found 1");
}

TEST_F(MappingErrors, NoMemory) {
  output_.arguments[1].memories.clear();
  EXPECT_EQ(invalid(), "argument 1 (field 'v'): expected at least one memory, found none");
}

TEST_F(MappingErrors, UnknownMemory) {
  output_.arguments[0].memories.push_back(9);
  EXPECT_EQ(invalid(),
            "argument 0 (field 'u'): expected one of the machine's 3 memories, found number 9");
}

TEST_F(MappingErrors, MemoryOutOfReach) {
  output_.arguments[0].memories.push_back(machine_.memories(MemoryKind::system)[0]);
  EXPECT_EQ(invalid(), "argument 0 (field 'u'): expected a memory that " +
                           machine_.processor(output_.processor).name + " reaches (" +
                           name_of(MemoryKind::framebuffer) + ", " + name_of(MemoryKind::pinned) +
                           "), found " + name_of(MemoryKind::system) + ", a system memory");
}

TEST_F(MappingErrors, PointsAreNamed) {
  input_.group = true;
  input_.dim = 2;
  input_.point = {3, 4, 0};
  output_.arguments.clear();
  EXPECT_EQ(invalid(), "point " + data::to_string(Point<3>{3, 4, 0}, 2) +
                           ", arguments: expected an answer for each of 2, found 0");
}

}  // namespace
}  // namespace refrain::mapping::mapping_test
