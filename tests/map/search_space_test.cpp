// The search space of a captured program, mapping files of its mappings, and searches by simulation.

#include "map/search_space.hpp"

#include <gtest/gtest.h>

#include "machine/machine.hpp"
#include "map/simulations.hpp"
#include "map_search/search.hpp"
#include "mapping/mapping_file.hpp"
#include "refrain/error.hpp"
#include "refrain/refrain.hpp"
#include "support/settings.hpp"
#include "support/temporary_folder.hpp"

namespace refrain::test::search_space_test {
namespace {

constexpr Field<double> kX{"x"}, kY{"y"};
constexpr Coord kPoints = 100'000;

/// A loop in which one task reads what the other writes.
capture::Program captured() {
  const TemporaryFolder folder;
  Options options;
  options.machine = "emulated:cpus=2";
  options.capture = folder.path("program.json");
  Runtime runtime(options);
  runtime.run([](Context& ctx) {
    const auto region = ctx.region(Rect1{0, kPoints - 1}, kX, kY);
    const auto blocks = ctx.blocks(region, 4);
    const auto both = [](auto body) {
      return std::pair{on<ProcessorKind::cpu>(body), on<ProcessorKind::gpu>(body)};
    };
    const auto writes = both([](Write<double> x) {
      for (auto p : x.domain()) x[p] = 1;
    });
    const auto reads = both([](Read<double> x, ReadWrite<double> y) {
      for (auto p : y.domain()) y[p] += x[p];
    });
    const Task write{"write", writes.first, writes.second};
    const Task read{"read", reads.first, reads.second};
    const Task last{"last", [](Read<double>) {}};
    ctx.fill(region, kY, 0.0);
    for (int i = 0; i < 20; ++i) {
      ctx.launch(write, 4, blocks[kX]);
      ctx.launch(read, 4, blocks[kX], blocks[kY]);
    }
    ctx.launch(last, blocks(2)[kY]);
  });
  runtime.write_reports();
  capture::Program program = capture::load(options.capture);
  // Nothing is to depend on how long it took here.
  for (std::size_t task = 0; task < program.tasks.size(); ++task)
    program.tasks[task].costs = {
        capture::Costs{{kPoints, 10, static_cast<double>(task + 1) * 1e-3, 0}}};
  program.copies = program.fills = program.folds = {};
  return program;
}

Machine with_gpu(const std::string& gpu_bandwidth) {
  return machine::parse_json(R"({"name": "with gpu",
    "memories": [{"name": "sys", "kind": "system", "capacity": "1GB"},
                 {"name": "pin", "kind": "pinned", "capacity": "1GB"},
                 {"name": "fb", "kind": "framebuffer", "capacity": "1GB"}],
    "processors": [{"name": "core", "kind": "cpu", "memories": ["sys", "pin"], "count": 2},
                   {"name": "gpu", "kind": "gpu", "memories": ["fb", "pin"]}],
    "links": [{"between": ["sys", "fb"], "bandwidth": ")" +
                                 gpu_bandwidth + R"(", "latency": "1us"},
              {"between": ["sys", "pin"], "bandwidth": "10GB/s", "latency": "1us"},
              {"between": ["pin", "fb"], "bandwidth": ")" +
                                 gpu_bandwidth + R"(", "latency": "1us"}]})",
                             "machine.json");
}

TEST(SearchSpace, HasTheTasksTheirArgumentsAndWhatTheyShare) {
  const map_search::Space space = map::search_space(captured(), with_gpu("10GB/s"));
  map_search::check(space);
  ASSERT_EQ(space.tasks.size(), 3U);
  EXPECT_EQ(space.tasks[0].name, "write");
  EXPECT_EQ(space.tasks[0].variants.size(), 2U);
  EXPECT_EQ(space.tasks[2].variants.size(), 1U);
  EXPECT_GT(space.tasks[1].seconds, 0);
  ASSERT_EQ(space.arguments.size(), 4U);
  EXPECT_EQ(space.arguments[0].bytes, kPoints * sizeof(double));
  EXPECT_EQ(space.arguments[3].bytes, kPoints / 4 * sizeof(double));
  ASSERT_EQ(space.overlaps.size(), 2U);  // x in write and read; y in read and last
  EXPECT_EQ(space.overlaps[0].bytes, kPoints * sizeof(double));
  EXPECT_EQ(space.overlaps[1].bytes, kPoints / 4 * sizeof(double));
  ASSERT_EQ(space.memories.size(), 3U);
  EXPECT_EQ(space.processors[1].name, "gpu");
  EXPECT_TRUE(space.processors[1].accelerator);
  EXPECT_EQ(space.memories[space.processors[1].nearest].name, "framebuffer");
}

TEST(SearchSpace, APartOfItMayBeSearched) {
  const capture::Program program = captured();
  EXPECT_EQ(map::search_space(program, with_gpu("10GB/s"), "w*").tasks.size(), 1U);
  EXPECT_TRUE(mentions(error_of<UsageError>([&] {
                         static_cast<void>(map::search_space(program, with_gpu("1GB/s"), "none"));
                       }),
                       {"launches no task that is called 'none'"}));
}

TEST(SearchSpace, MappingsAreMappingFiles) {
  const capture::Program program = captured();
  const Machine machine = with_gpu("10GB/s");
  const map_search::Space space = map::search_space(program, machine);
  map_search::Mapping mapping = map_search::first_mapping(space);
  do {
    const mapping::MappingFile file(map::mapping_file(space, mapping, "a test"), "f.json", machine);
  } while (map_search::advance(space, mapping));
}

TEST(Simulations, TheSearchFindsTheBestOfAllMappings) {
  const capture::Program program = captured();
  // Over a slow link it is best to stay on one side.
  for (const char* bandwidth : {"10GB/s", "10MB/s"}) {
    const Machine machine = with_gpu(bandwidth);
    const map_search::Space space = map::search_space(program, machine);
    simulate::Simulation simulation;
    simulation.machine = machine;
    map::Simulations evaluator(program, space, std::move(simulation));
    map_search::Options options;
    options.limits.runs = 1;
    options.final_runs = 0;
    const auto ccd = map_search::search(space, evaluator, nullptr, options);
    options.algorithm = map_search::Algorithm::exhaustive;
    const auto all = map_search::search(space, evaluator, nullptr, options);
    ASSERT_FALSE(ccd.finalists.empty());
    ASSERT_FALSE(all.finalists.empty());
    EXPECT_LE(ccd.finalists[0].measured.seconds.mean,
              1.02 * all.finalists[0].measured.seconds.mean);
    EXPECT_LT(ccd.counts.evaluated, all.counts.evaluated);
  }
}

}  // namespace
}  // namespace refrain::test::search_space_test
