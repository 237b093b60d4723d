// Calls that no program should make, and values and mappers that fail where nobody expects it.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/expect_error.hpp"

namespace refrain::test::abuse_test {
namespace {

constexpr Field<double> mass{"mass"};

const Task add{"add", [](ReadWrite<double> x) {
                 for (auto p : x.domain()) x[p] += 1;
               }};

TEST(AbuseErrors, FillWithAnEmptyFuture) {
  expect_error<UsageError>(small_machine(), {"fill at", "@", "empty"}, [](Context& context) {
    auto cells = context.region(Rect1{0, 7}, mass);
    next_line_fails();
    context.fill(cells, mass, Future<double>{});
  });
}

TEST(AbuseErrors, FillWithAFutureOfAnotherSize) {
  static const Task one{"one", [] { return 1; }};
  static const Task each{"each", [](Point1) { return 1.0; }};
  expect_error<UsageError>(small_machine(), {"fill at", "8 bytes", "4"}, [](Context& context) {
    auto cells = context.region(Rect1{0, 7}, mass);
    context.fill_future(cells, mass, context.launch(one));
  });
  expect_error<UsageError>(small_machine(), {"fill at", "one value"}, [](Context& context) {
    auto cells = context.region(Rect1{0, 7}, mass);
    context.fill_future(cells, mass, context.launch(each, 3));
  });
}

struct Unmovable {
  Unmovable() = default;
  Unmovable(const Unmovable&) { throw std::runtime_error("not copied"); }
};

TEST(AbuseErrors, ValueThatCannotBeMoved) {
  static const Task take{"take", [](const Unmovable&, Read<double>) {}};
  expect_error<UsageError>(small_machine(), {"'take' launched at", "@", "by-value", "not copied"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 7}, mass);
                             next_line_fails();
                             context.launch(take, Unmovable{}, cells[mass]);
                           });
  static const Task late{"late", [](Read<double>) {}};
  const ValueOps ops{4, 4, [](void*, void*) { throw std::runtime_error("not moved"); },
                     [](void*) { ADD_FAILURE() << "ended what was never made"; }};
  expect_error<UsageError>(
      small_machine(), {"'late' launched at", "@", "by-value", "not moved"}, [&](Context& context) {
        auto cells = context.region(Rect1{0, 7}, mass);
        const Requirement requirement = Requirement::of(cells, mass, Privilege::read);
        int value = 0;
        next_line_fails();
        LaunchRequest request(late);
        request.requirements = {&requirement, 1};
        request.values = &value;
        request.value_ops = &ops;
        context.launch(request);
      });
}

TEST(AbuseErrors, LaunchRequestsThatLackSomething) {
  static const DynamicTask nothing{"nothing", [](const TaskFrame&) {}};
  expect_error<UsageError>(small_machine(), {"@", "no task"}, [](Context& context) {
    LaunchRequest request;
    next_line_fails();
    request.where = std::source_location::current();
    context.launch(request);
  });
  const auto refused = [](std::initializer_list<std::string> words, const Requirement& change) {
    expect_error<UsageError>(small_machine(), words, [&](Context& context) {
      Requirement requirement = change;
      requirement.region = context.region(Rect1{0, 7}, mass);
      LaunchRequest request(nothing);
      request.requirements = {&requirement, 1};
      context.launch(request);
    });
  };
  static const ReductionOp empty;
  refused({"task 'nothing'", "argument 0", "no type"}, Requirement{});
  refused({"argument 0", "operator", "lacks"},
          Requirement::of(AnyRegion{}, mass, Privilege::reduce, &empty));
  refused({"argument 0", "unknown privilege"},
          Requirement::of(AnyRegion{}, mass, static_cast<Privilege>(9)));
  expect_error<UsageError>(small_machine(), {"task 'nothing'", "7 dimensions"},
                           [](Context& context) {
                             const LaunchDomain domain(7, Rect<3>{{0, 0, 0}, {1, 1, 1}});
                             LaunchRequest request(nothing);
                             request.domain = &domain;
                             context.launch(request);
                           });
  expect_error<UsageError>(small_machine(), {"task 'nothing'", "by-value arguments", "null"},
                           [](Context& context) {
                             LaunchRequest request(nothing);
                             request.value_ops = &value_ops<int>;
                             context.launch(request);
                           });
  EXPECT_THROW(DynamicTask(
                   "odd", [](const TaskFrame&) {}, ResultType{4, 3, nullptr}),
               UsageError);
  EXPECT_THROW(DynamicTask("odd", {{static_cast<ProcessorKind>(9), [](const TaskFrame&) {}}}),
               UsageError);
}

TEST(AbuseErrors, GroupOfTooManyPoints) {
  static const Task point{"point", [](Point1) {}};
  expect_error<UsageError>(small_machine(), {"task 'point'", "@", "4294967296"},
                           [](Context& context) {
                             next_line_fails();
                             context.launch(point, Coord{1} << 32);
                           });
}

TEST(AbuseErrors, NumbersOfPartitionsNameTheLine) {
  expect_error<UsageError>(small_machine(), {"halo at", "@", "region 0", "width"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 7}, mass);
                             auto blocks = context.blocks(cells, 2);
                             next_line_fails();
                             context.halo(blocks, -1);
                           });
  expect_error<UsageError>(small_machine(), {"partition at", "@", "region 0", "outside"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 7}, mass);
                             const std::vector<IndexSpace<1>> pieces{Rect1{5, 15}};
                             next_line_fails();
                             context.partition(cells, pieces);
                           });
}

TEST(AbuseErrors, OriginOfValuesThatLieApart) {
  static const Task gather{"gather", [](Read<double> x) { return *x.origin(); }};
  for (const bool check : {false, true}) {
    Options options = small_machine();
    options.check = check;
    std::array<double, 16> memory{};
    const char* who = check ? "argument 0 (region 0, field 'mass')" : "a task's argument";
    expect_error<TaskFailed>(options, {"'gather' launched at", who, "origin()", "16 bytes apart"},
                             [&](Context& context) {
                               auto cells = context.region(Rect1{0, 7}, mass);
                               context.attach(cells, mass, memory.data(), {{16, 0, 0}});
                               static_cast<void>(context.launch(gather, cells[mass]).get());
                             });
  }
}

TEST(AbuseErrors, FieldsBeyondTheLastOfAList) {
  const Task third{"third", [](FieldList<Read<double>> list) { return list[2].domain().volume(); }};
  static constexpr Field<double> charge{"charge"};
  expect_error<TaskFailed>(small_machine(),
                           {"'third'", "asks for field 2 of a FieldList", "2 of them"},
                           [&](Context& context) {
                             auto cells = context.region(Rect1{0, 3}, mass, charge);
                             const std::vector<Field<double>> both{mass, charge};
                             static_cast<void>(context.launch(third, cells[both]).get());
                           });
}

TEST(AbuseErrors, OwnersWhoseColoursHaveOtherDimensions) {
  constexpr Field<double> plane{"plane"};
  expect_error<UsageError>(small_machine(),
                           {"owners_of", "region 0[blocks]", "2 dimensions, not 1"},
                           [&](Context& context) {
                             auto cells = context.region(Rect2{{0, 0}, {3, 3}}, plane);
                             auto tiles = context.blocks(cells, {2, 2});
                             static_cast<void>(tiles.owners_of({{0, 0}, {1, 1}}));
                           });
}

TEST(AbuseErrors, RegionsWithAnEmptyListOfFields) {
  expect_error<UsageError>(small_machine(), {"region at", "@", "no field"}, [&](Context& context) {
    next_line_fails();
    static_cast<void>(context.region(Rect1{0, 3}, std::vector<Field<double>>{}));
  });
}

TEST(AbuseErrors, OwnersInADestroyedPartition) {
  expect_error<UsageError>(small_machine(), {"owners_of", "was destroyed"}, [&](Context& context) {
    auto cells = context.region(Rect1{0, 3}, mass);
    auto halves = context.blocks(cells, 2);
    context.destroy(halves);
    static_cast<void>(halves.owners_of({0, 1}));
  });
}

TEST(AbuseErrors, AttachedMemoryThatIsToBeCompact) {
  class Compact final : public Mapper {
   public:
    [[nodiscard]] std::string_view name() const override { return "compact"; }
    void map(const MappingInput&, MappingOutput& output) override {
      for (ArgumentMapping& argument : output.arguments) argument.layout.sparse = Sparse::compact;
    }
  };
  std::array<double, 16> memory{};
  Runtime runtime(small_machine());
  runtime.set_mapper(std::make_unique<Compact>());
  try {
    runtime.run([&](Context& context) {
      auto cells = context.region(IndexSpace<1>(std::vector{Rect1{0, 2}, Rect1{8, 9}}), mass);
      context.attach(cells, mass, memory.data());
      next_line_fails();
      context.launch(add, cells[mass]);
    });
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) {
    expect_words(error.what(), {"task 'add' launched at", line_that_fails, "argument 0",
                                "field 'mass' of region 0", "memory attached", "compact"});
  }
}

TEST(AbuseErrors, CompactValuesThatAreReachedByStrides) {
  static const Task by_origin{"by_origin", [](Read<double> x) { return *x.origin(); }};
  static const Task by_row{"by_row", [](Read<double> x) { return x.row(2, 999'999).back(); }};
  static const Task outside{"outside", [](Read<double> x) { return x[5]; }};
  static const Task by_stride{"by_stride", [](Read<double, 2> x) { return x.stride(0); }};
  const auto fails = [&](const auto& task, std::initializer_list<std::string> words) {
    expect_error<TaskFailed>(small_machine(), words, [&](Context& context) {
      const IndexSpace<1> apart(std::vector{Rect1{0, 2}, Rect1{1'000'000, 1'000'001}});
      static_cast<void>(context.launch(task, context.region(apart, mass)[mass]).get());
    });
  };
  fails(by_origin, {"'by_origin' launched at", "origin()", "compact", "operator[]"});
  static const Task by_values{"by_values", [](Read<double> x) { return x.values()[0]; }};
  expect_error<TaskFailed>(small_machine(),
                           {"'by_values' launched at", "values()", "side by side", "Extent::exact"},
                           [&](Context& context) {
                             auto cells = context.region(Rect1{0, 9}, mass);
                             const IndexSpace<1> ends(std::vector{Rect1{0, 2}, Rect1{8, 9}});
                             auto pieces = context.partition(cells, std::vector{ends});
                             static_cast<void>(context.launch(by_values, pieces(0)[mass]).get());
                           });
  fails(by_row, {"'by_row' launched at", "row of 999999 values", "leaves its rectangle",
                 "domain().rect(i)"});
  fails(outside, {"'outside' launched at", "access to point 5 outside"});
  expect_error<TaskFailed>(
      small_machine(), {"'by_stride' launched at", "stride()", "compact"}, [&](Context& context) {
        const IndexSpace<2> corners(
            std::vector{Rect2{{0, 0}, {1, 1}}, Rect2{{1000, 1000}, {1001, 1001}}});
        static_cast<void>(context.launch(by_stride, context.region(corners, mass)[mass]).get());
      });
}

// Whenever the task runs: its error is the same with and without workers.
TEST(AbuseErrors, APieceThatIsDestroyedMeanwhileHasItsNameToTheEnd) {
  static const Task reach{"reach", [](Read<double> x) { return x[12]; }};
  Options options = small_machine();
  options.check = true;
  for (const int workers : {0, 1}) {
    options.workers = workers;
    expect_error<TaskFailed>(options,
                             {"argument 0 (region 0[blocks 0], field 'mass')", "point 12 outside"},
                             [&](Context& context) {
                               auto blocks = context.blocks(context.region(Rect1{0, 39}, mass), 4);
                               auto result = context.launch(reach, blocks(0)[mass]);
                               context.destroy(blocks);
                               static_cast<void>(result.get());
                             });
  }
}

TEST(AbuseErrors, AttachedValuesThatOverlapOrAreMisaligned) {
  std::array<double, 16> memory{};
  const auto refused = [&](const char* what, Coord stride0, Coord stride1, std::size_t shift) {
    expect_error<UsageError>(small_machine(), {"attach at", "'mass'", "region 0", what},
                             [&](Context& context) {
                               auto cells = context.region(Rect2{{0, 0}, {2, 2}}, mass);
                               auto* at = reinterpret_cast<std::byte*>(memory.data()) + shift;
                               context.attach_memory(cells, mass, at, {{stride0, stride1, 0}});
                             });
  };
  refused("overlap", 8, 8, 0);
  refused("overlap", 16, 8, 0);
  refused("overlap", 8, 0, 0);
  refused("not aligned", 24, 12, 0);
  refused("not aligned", 24, 8, 4);
  Runtime runtime(small_machine());
  runtime.run([&](Context& context) {  // columns, backwards, with room between them
    auto cells = context.region(Rect2{{1, 1}, {3, 3}}, mass);
    memory[10] = 5;
    context.attach(cells, mass, memory.data() + 10, {{8, -32, 0}});
    EXPECT_EQ((context.access<Read>(cells[mass])[{1, 1}]), 5);
    context.detach(cells, mass);
  });
}

class Asking : public Mapper {
 public:
  explicit Asking(std::function<void(MappingOutput&)> answer) : answer_(std::move(answer)) {}
  [[nodiscard]] std::string_view name() const override { return "asking"; }
  void map(const MappingInput&, MappingOutput& output) override { answer_(output); }

 private:
  std::function<void(MappingOutput&)> answer_;
};

TEST(AbuseErrors, MapperThatUsesTheContext) {
  Runtime runtime(small_machine());
  Context* used = nullptr;
  AnyRegion region;
  runtime.set_mapper(std::make_unique<Asking>([&](MappingOutput&) { used->destroy(region); }));
  EXPECT_THROW(runtime.run([&](Context& context) {
    auto cells = context.region(Rect1{0, 7}, mass);
    used = &context;
    region = cells;
    context.launch(add, cells[mass]);
  }),
               UsageError);
}

TEST(AbuseErrors, MapperThatInventsALayout) {
  Runtime runtime(small_machine());
  runtime.set_mapper(std::make_unique<Asking>(
      [](MappingOutput& output) { output.arguments[0].layout.order = static_cast<Order>(77); }));
  try {
    runtime.run([](Context& context) {
      auto cells = context.region(Rect1{0, 7}, mass);
      context.launch(add, cells[mass]);
    });
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) {
    expect_words(error.what(), {"mapper 'asking'", "'add'", "argument 0", "order", "77"});
  }
}

TEST(AbuseErrors, RunInsideARun) {
  Runtime runtime(small_machine());
  runtime.run([&](Context&) {
    EXPECT_THROW(runtime.run([](Context&) {}), UsageError);
    Runtime other(small_machine());
    expect_usable(other);
  });
  expect_usable(runtime);
}

TEST(AbuseErrors, WaitInTheContextOfAnotherRuntime) {
  Runtime outer(small_machine()), inner(small_machine());
  outer.run([&](Context& context) {
    auto cells = context.region(Rect1{0, 7}, mass);
    const auto held = context.access<Read>(cells[mass]);
    EXPECT_THROW(inner.run([&](Context&) {
      context.launch(add, cells[mass]);
      context.fence();
    }),
                 UsageError);
  });
}

/// What a call says that another thread makes, while the program's own waits for that thread.
template <class Call>
std::string error_on_another_thread(Call call) {
  std::string text = "no error";
  std::thread([&] {
    try {
      call();
    } catch (const UsageError& error) { text = error.what(); }
  }).join();
  return text;
}

// Without --refrain:check as well, while nothing runs, in a trace, and in a body.
TEST(AbuseErrors, AContextOnAnotherThread) {
  Options options = small_machine();
  options.check = false;
  Runtime runtime(options);
  runtime.run([](Context& context) {
    auto cells = context.region(Rect1{0, 7}, mass);
    const auto is_refused = [&](const char* call, auto make_call) {
      expect_words(error_on_another_thread(make_call),
                   {call, "at abuse_test.cpp:", "belongs to another thread", "has started"});
    };
    const auto launch = [&] { context.launch(add, cells[mass]); };
    const Trace loop("loop");
    for (int i = 0; i < 4; ++i) {
      context.trace(loop, [&] {
        launch();
        is_refused("launch", launch);
        launch();
      });
    }
    is_refused("launch", launch);
    is_refused("fence", [&] { context.fence(); });
    is_refused("region", [&] { context.region(Rect1{0, 7}, mass); });
    is_refused("blocks", [&] { context.blocks(cells, 2); });
    is_refused("fill", [&] { context.fill(cells, mass, 1.0); });
    is_refused("access", [&] { context.access<Read>(cells[mass]); });
    EXPECT_EQ(context.access<Read>(cells[mass])[3], 8);
  });
  expect_usable(runtime);
}

TEST(AbuseErrors, AFutureOnAnotherThread) {
  static const Task one{"one", [](Read<double> x) { return x[0]; }};
  Runtime runtime(small_machine("emulated:cpus=1", 0));
  runtime.run([](Context& context) {
    auto cells = context.region(Rect1{0, 7}, mass);
    context.fill(cells, mass, 1.0);
    const Future<double> result = context.launch(one, cells[mass]);
    expect_words(error_on_another_thread([&] { static_cast<void>(result.get()); }),
                 {"a thread on which neither the program nor a task runs waits for a future"});
    EXPECT_EQ(result.get(), 1);
  });
}

TEST(AbuseErrors, RegionsCutAgainAndAgain) {
  expect_error<UsageError>(
      small_machine(), {"region 0[blocks 0][blocks 0][blocks 0][blocks 0][19992 more][blocks 0]"},
      [](Context& context) {
        Region<1> piece = context.region(Rect1{0, 7}, mass);
        for (int i = 0; i < 20'000; ++i) piece = context.blocks(piece, 1)(0);
        context.detach(piece, mass);
      });
}

TEST(AbuseErrors, FenceBesideAnAccessThatNothingWaitsFor) {
  Runtime runtime(small_machine());
  runtime.run([](Context& context) {
    auto cells = context.region(Rect1{0, 7}, mass), others = context.region(Rect1{0, 7}, mass);
    const auto held = context.access<ReadWrite>(cells[mass]);
    context.launch(add, others[mass]);
    context.fence();
    EXPECT_EQ(context.access<Read>(others[mass])[3], 1);
    context.launch(add, cells[mass]);
    EXPECT_THROW(context.fence(), Deadlock);
  });
}

}  // namespace
}  // namespace refrain::test::abuse_test
