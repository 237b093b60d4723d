// What is refused when a launch is made: each message names the task, the argument, the region and the
// line of the launch.

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>

#include "support/expect_error.hpp"

namespace refrain::test::launch_test {
namespace {

constexpr Field<double> mass{"mass"}, charge{"charge"};

const Task read_one{"read_one", [](Read<double>) {}};
const Task write_one{"write_one", [](Write<double>) {}};
const Task update_two{"update_two", [](ReadWrite<double>, Read<double>) {}};
const Task on_gpu{"on_gpu", on<ProcessorKind::gpu>([](ReadWrite<double>) {})};

TEST(LaunchErrors, ColourThatThePartitionDoesNotHave) {
  expect_error<UsageError>(
      small_machine(),
      {"'read_one'", "argument 0", "region 0", "blocks", "point 3", "colour 4", "[0..3]", "@"},
      [](Context& context) {
        auto cells = context.region(Rect1{0, 15}, mass);
        auto blocks = context.blocks(cells, 4);
        next_line_fails();
        context.launch(read_one, 4, blocks.at(shift(1))[mass]);
      });
}

TEST(LaunchErrors, FunctionThatLeavesThePartition) {
  expect_error<UsageError>(
      small_machine(), {"'read_one'", "argument 0", "colour -7", "away"}, [](Context& context) {
        auto cells = context.region(Rect1{0, 15}, mass);
        const auto away = Projection::function("away", [](const Point<3>&, std::uint64_t) {
          return Point<3>{-7, 0, 0};
        });
        context.launch(read_one, 2, context.blocks(cells, 4).at(away)[mass]);
      });
}

TEST(LaunchErrors, MorePointsThanThereAreCoordinates) {
  static const Task at_point{"at_point", [](Point<1>) {}};
  expect_error<UsageError>(small_machine(), {"'at_point'", "its domain", "2^60", "@"},
                           [](Context& context) {
                             next_line_fails();
                             context.launch(at_point, std::numeric_limits<std::size_t>::max());
                           });
}

TEST(LaunchErrors, ANegativeNumberOfPoints) {
  static const Task at_point{"at_point", [](Point<1>, int) {}};
  static const DynamicTask dynamic{"dynamic", [](const TaskFrame&) {}};
  const auto numbers = per_point([](Point1) { return 1; });
  for (const Coord points : {Coord{-5}, std::numeric_limits<Coord>::min()}) {
    const std::string number = std::to_string(points) + " points";
    expect_error<UsageError>(small_machine(), {"'at_point'", "its domain", number, "@"},
                             [&](Context& context) {
                               next_line_fails();
                               context.launch(at_point, points, 1);
                             });
    expect_error<UsageError>(small_machine(), {"'at_point'", "its domain", number, "@"},
                             [&](Context& context) {
                               next_line_fails();
                               context.launch(at_point, points, numbers);
                             });
    expect_error<UsageError>(small_machine(), {"'dynamic'", "its domain", number, "@"},
                             [&](Context& context) {
                               const LaunchDomain domain(points);
                               next_line_fails();
                               LaunchRequest request(dynamic);
                               request.domain = &domain;
                               context.launch(request);
                             });
  }
}

TEST(LaunchErrors, PointsOfAGroupThatAreNotIndependent) {
  expect_error<UsageError>(small_machine(),
                           {"'write_one'", "argument 0", "region 0", "'mass'", "halo", "point 0",
                            "point 1", "not independent", "@"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 15}, mass);
                             auto halo = context.halo(context.blocks(cells, 4), 1);
                             next_line_fails();
                             context.launch(write_one, 4, halo[mass]);
                           });
}

TEST(LaunchErrors, GroupThatWritesOneRegion) {
  expect_error<UsageError>(small_machine(), {"'write_one'", "not independent"},
                           [](Context& context) {
                             context.launch(write_one, 2, context.region(Rect1{0, 15}, mass)[mass]);
                           });
}

TEST(LaunchErrors, ArgumentsThatConflictWithEachOther) {
  expect_error<UsageError>(small_machine(),
                           {"'update_two'", "argument 0", "argument 1", "conflicts"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 15}, mass);
                             context.launch(update_two, cells[mass], cells[mass]);
                           });
}

TEST(LaunchErrors, DifferentFieldsAndReadsDoNotConflict) {
  Runtime runtime(small_machine());
  runtime.run([](Context& context) {
    auto cells = context.region(Rect1{0, 15}, mass, charge);
    context.launch(update_two, cells[mass], cells[charge]);
    context.launch(read_one, 4, cells[mass]);
  });
}

TEST(LaunchErrors, RegionUsedAfterItsDestruction) {
  expect_error<UsageError>(small_machine(),
                           {"'read_one'", "argument 0", "region 0", "destroyed", "@"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 15}, mass);
                             context.destroy(cells);
                             context.region(Rect1{0, 15}, mass);  // takes the slot again
                             next_line_fails();
                             context.launch(read_one, cells[mass]);
                           });
}

TEST(LaunchErrors, PartitionUsedAfterItsDestruction) {
  expect_error<UsageError>(small_machine(), {"'read_one'", "argument 0", "destroyed", "@"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 15}, mass);
                             auto blocks = context.blocks(cells, 4);
                             context.destroy(blocks);
                             next_line_fails();
                             context.launch(read_one, 4, blocks[mass]);
                           });
}

TEST(LaunchErrors, PieceOfADestroyedPartition) {
  expect_error<UsageError>(small_machine(), {"'read_one'", "argument 0", "destroyed"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 15}, mass);
                             auto blocks = context.blocks(cells, 4);
                             auto piece = blocks(2);
                             context.destroy(blocks);
                             context.launch(read_one, piece[mass]);
                           });
}

TEST(LaunchErrors, FieldThatTheRegionDoesNotHave) {
  expect_error<UsageError>(small_machine(),
                           {"'read_one'", "argument 0", "region 0", "'charge'", "'mass'", "@"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 15}, mass);
                             next_line_fails();
                             context.launch(read_one, cells[charge]);
                           });
}

TEST(LaunchErrors, FieldOfAnotherType) {
  expect_error<UsageError>(small_machine(),
                           {"'read_one'", "argument 0", "region 0", "'mass'", "double", "float"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 15}, Field<float>{"mass"});
                             context.launch(read_one, cells[mass]);
                           });
}

TEST(LaunchErrors, ColourOfAPiece) {
  expect_error<UsageError>(small_machine(), {"region 0", "blocks", "colour 9"},
                           [](Context& context) {
                             auto blocks = context.blocks(context.region(Rect1{0, 15}, mass), 4);
                             context.launch(read_one, blocks(9)[mass]);
                           });
}

TEST(LaunchErrors, NoVariantForAnyProcessorOfTheMachine) {
  expect_error<UsageError>(small_machine(), {"'on_gpu'", "gpu", "@"}, [](Context& context) {
    auto cells = context.region(Rect1{0, 15}, mass);
    next_line_fails();
    context.launch(on_gpu, cells[mass]);
  });
}

TEST(LaunchErrors, RegionThatFitsInNoMemory) {
  expect_error<OutOfMemory>(
      small_machine("emulated:cpus=2,gpus=1,framebuffer=64KiB,pinned=4KiB"),
      {"'on_gpu'", "argument 0", "'mass'", "framebuffer", "capacity 64KiB", "@"},
      [](Context& context) {
        auto cells = context.region(Rect1{0, 99'999}, mass);
        next_line_fails();
        context.launch(on_gpu, cells[mass]);
      });
}

/// Keeps everything of one launch in the framebuffer.
TEST(LaunchErrors, FullMemorySaysWhoFillsIt) {
  static const Task two{"two", on<ProcessorKind::gpu>([](ReadWrite<double>, ReadWrite<double>) {})};
  expect_error<OutOfMemory>(
      small_machine("emulated:cpus=2,gpus=1,framebuffer=64KiB,pinned=4KiB"),
      {"'two'", "argument 1", "'charge'", "'mass'", "made by task 'two' launched at", "48"},
      [](Context& context) {
        auto cells = context.region(Rect1{0, 6'143}, mass, charge);
        context.launch(two, cells[mass], cells[charge]);
      });
}

class WrongMemory : public Mapper {
 public:
  std::string_view name() const override { return "wrong_memory"; }
  void map(const MappingInput&, MappingOutput& output) override {
    output.arguments[0].memories = {77};
  }
};

TEST(LaunchErrors, InvalidAnswerOfAMapper) {
  Runtime runtime(small_machine());
  runtime.set_mapper(std::make_unique<WrongMemory>());
  try {
    runtime.run([](Context& context) {
      auto cells = context.region(Rect1{0, 15}, mass);
      next_line_fails();
      context.launch(read_one, cells[mass]);
    });
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) {
    expect_words(error.what(), {"'wrong_memory'", "'read_one'", "argument 0", "'mass'", "77", "@"});
  }
}

// Other languages name the lines of their own sources.
TEST(LaunchErrors, PlacesOfOtherLanguages) {
  const DynamicTask task("from_a_script", [](const TaskFrame&) {});
  const Where here("lib/script.py", 12, "solve");
  expect_error<UsageError>(small_machine(), {"'from_a_script' launched at script.py:12"},
                           [&](Context& context) {
                             const Requirement nothing;
                             LaunchRequest request(task, here);
                             request.requirements = {&nothing, 1};
                             context.launch(request);
                           });
  expect_error<UsageError>(
      small_machine(), {"fill at script.py:13", "null"}, [&](Context& context) {
        const AnyField field = mass;
        const AnyRegion cells =
            context.make_region(AnyIndexSpace(1, Rect<3>{{0, 0, 0}, {9, 0, 0}}), {&field, 1}, here);
        context.fill_bytes(cells, field, nullptr, Where("lib/script.py", 13));
      });
  expect_error<TaskFailed>(
      small_machine(), {"'throws' launched at script.py:12", "no more"}, [&](Context& context) {
        const DynamicTask throws("throws",
                                 [](const TaskFrame&) { throw std::runtime_error("no more"); });
        context.launch(LaunchRequest(throws, here));
        context.fence();
      });
}

TEST(LaunchErrors, DynamicRequirements) {
  const DynamicTask task("dynamic", [](const TaskFrame&) {});
  const auto launch = [&](Context& context, const Requirement& requirement) {
    LaunchRequest request;
    request.task = task.record().get();
    request.requirements = {&requirement, 1};
    request.where = std::source_location::current();
    context.launch(request);
  };
  expect_error<UsageError>(
      small_machine(), {"'dynamic'", "argument 0", "partition", "single launch"},
      [&](Context& context) {
        auto cells = context.region(Rect1{0, 15}, mass);
        launch(context, Requirement::of(context.blocks(cells, 2), mass, Privilege::read));
      });
  expect_error<
      UsageError>(small_machine(), {"'dynamic'", "argument 0", "operator"}, [&](Context& context) {
    launch(context, Requirement::of(context.region(Rect1{0, 15}, mass), mass, Privilege::reduce));
  });
  expect_error<UsageError>(
      small_machine(), {"'dynamic'", "argument 0", "float", "double"}, [&](Context& context) {
        launch(context, Requirement::of(context.region(Rect1{0, 15}, mass), mass, Privilege::reduce,
                                        &reduction_op<Sum, float>));
      });
  expect_error<UsageError>(small_machine(), {"'dynamic'", "argument 0", "empty region handle"},
                           [&](Context& context) {
                             Requirement nothing;
                             nothing.field = mass;
                             launch(context, nothing);
                           });
}

}  // namespace
}  // namespace refrain::test::launch_test
