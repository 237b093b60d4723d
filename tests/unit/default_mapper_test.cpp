#include "mapping/mapping.hpp"

#include <gtest/gtest.h>

#include "machine/machine.hpp"

namespace refrain::mapping::default_mapper_test {
namespace {

using Kinds = std::vector<ProcessorKind>;
constexpr auto cpu = ProcessorKind::cpu, gang = ProcessorKind::gang, gpu = ProcessorKind::gpu;

class Silent final : public Mapper {
 public:
  [[nodiscard]] std::string_view name() const override { return "silent"; }
  void map(const MappingInput&, MappingOutput&) override {}
};

// Two domains of two cpus each, two gpus.
const Machine& machine() {
  static const Machine m =
      machine::load("emulated:cpus=4,numa=2,gpus=2,framebuffer=64MiB,pinned=16MiB");
  return m;
}

MappingOutput answer(const Machine& m, const Kinds& bodies, std::size_t points, std::size_t rank) {
  const std::vector<MappingArgument> arguments = {{"a", Privilege::read, 8, 100, true},
                                                  {"b", Privilege::reduce, 8, 100, false}};
  Kinds variants;
  for (const auto kind : bodies)
    if (m.has(kind)) variants.push_back(kind);
  MappingInput input;
  input.task = "t";
  input.points = points;
  input.group = points > 1;
  input.rank = rank;
  input.arguments = arguments;
  input.variants = variants;
  input.machine = &m;
  MappingOutput output;
  map_by_default(input, bodies, output);
  EXPECT_EQ(output.arguments.size(), 2U);
  Silent mapper;
  EXPECT_NO_THROW(validate(mapper, input, output));
  return output;
}

TEST(DefaultMapper, PrefersGpusThenGangs) {
  EXPECT_EQ(machine().processor(answer(machine(), {cpu, gang, gpu}, 1, 0).processor).kind, gpu);
  EXPECT_EQ(machine().processor(answer(machine(), {cpu, gang}, 1, 0).processor).kind, gang);
  EXPECT_EQ(machine().processor(answer(machine(), {cpu}, 1, 0).processor).kind, cpu);
  const Machine plain = machine::load("emulated:cpus=2");
  EXPECT_EQ(plain.processor(answer(plain, {gpu, cpu}, 1, 0).processor).kind, cpu);
}

TEST(DefaultMapper, DealsPointsInBlocks) {
  const auto gpus = machine().processors(gpu);
  for (std::size_t rank = 0; rank < 6; ++rank) {
    const MappingOutput output = answer(machine(), {gpu}, 6, rank);
    EXPECT_EQ(output.processor, gpus[rank / 3]);
    ASSERT_EQ(output.arguments[0].memories.size(), 2U);
    EXPECT_EQ(machine().memory(output.arguments[0].memories[0]).owner, output.processor);
    EXPECT_EQ(machine().memory(output.arguments[0].memories[1]).kind, MemoryKind::pinned);
    EXPECT_EQ(output.arguments[1].layout.extent, Extent::exact);
  }
  EXPECT_EQ(answer(machine(), {gpu}, std::size_t{1} << 62, (std::size_t{1} << 62) - 1).processor,
            gpus[1]);
}

TEST(DefaultMapper, CpusUseTheMemoryOfTheirDomain) {
  for (const auto kind : {cpu, gang})
    for (std::size_t rank = 0; rank < 8; ++rank) {
      const MappingOutput output = answer(machine(), {kind}, 8, rank);
      const int domain = rank < 4 ? 0 : 1;
      EXPECT_EQ(machine().processor(output.processor).numa, domain);
      ASSERT_EQ(output.arguments[0].memories.size(), 1U);
      const Memory& memory = machine().memory(output.arguments[0].memories[0]);
      EXPECT_EQ(memory.kind, MemoryKind::system);
      EXPECT_EQ(memory.numa, domain);
      EXPECT_EQ(output.arguments[0].layout.extent, Extent::whole);
    }
}

TEST(DefaultMapper, MorePlacesThanPoints) {
  EXPECT_EQ(answer(machine(), {cpu}, 2, 1).processor, machine().processors(cpu)[2]);
  EXPECT_EQ(answer(machine(), {cpu}, 1, 0).processor, machine().processors(cpu)[0]);
}

}  // namespace
}  // namespace refrain::mapping::default_mapper_test
