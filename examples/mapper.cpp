// Lesson 7: a mapper decides where tasks run. It changes where and how fast, never what comes out.
#include <refrain/refrain.hpp>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
using namespace refrain;

struct Cell { static constexpr Field<int> value{"value"}; };

constexpr auto add = [](ReadWrite<int> value, int amount) {
  for (auto p : value.domain()) value[p] += amount;
};
// One body per kind of processor; here they tell where they ran.
const Task work{"work",
                on<ProcessorKind::cpu>([](ReadWrite<int> value) { add(value, 1); return 'c'; }),
                on<ProcessorKind::gpu>([](ReadWrite<int> value) { add(value, 1); return 'g'; })};

// Every third point to a GPU, the others to the cpus, in turn.
class EveryThird : public Mapper {
 public:
  std::string_view name() const override { return "every third"; }
  void map(const MappingInput& input, MappingOutput& output) override {
    const bool to_gpu = input.rank % 3 == 0;
    const auto kind = to_gpu ? ProcessorKind::gpu : ProcessorKind::cpu;
    const auto processors = input.machine->processors(kind);
    output.processor = processors[input.rank % processors.size()];
    const auto& memories = input.machine->processor(output.processor).memories;
    for (ArgumentMapping& argument : output.arguments) argument.memories = memories;
  }
};

int main(int argc, char** argv) try {
  Options options = parse_options(argc, argv);
  if (options.machine.empty()) options.machine = "emulated:gpus=2,framebuffer=16MiB";
  Runtime runtime(options);
  runtime.set_mapper(std::make_unique<EveryThird>());
  runtime.run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 999}, Cell::value);
    auto part = ctx.blocks(cells, 10);
    ctx.fill(cells, Cell::value, 41);
    auto places = ctx.launch(work, 10, part[Cell::value]);
    std::printf("points ran on: ");
    for (std::size_t i = 0; i < places.size(); ++i) std::printf("%c", places.get(i));
    auto value = ctx.access<Read>(cells[Cell::value]);
    std::printf("\nvalues: %d ... %d\n", value[0], value[999]);
  });
  runtime.write_reports();  // statistics, timeline and graph, if flags ask for them
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
