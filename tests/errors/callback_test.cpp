// What the program's own functions throw while a launch is made or a contribution folded: mappers,
// projections, per_point, operators. The message names the launch; the exception itself is nested in it, or is
// the original of the TaskFailed.

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "support/expect_error.hpp"

namespace refrain::test::callback_test {
namespace {

constexpr Field<double> mass{"mass"};

struct Trouble : std::runtime_error {
  using std::runtime_error::runtime_error;
};

const Task look{"look", [](Read<double>, Coord, Coord) {}};

class Failing : public Mapper {
 public:
  [[nodiscard]] std::string_view name() const override { return "failing"; }
  void map(const MappingInput& input, MappingOutput&) override {
    if (input.rank == 1) throw Trouble("no idea");
  }
};

template <class F>
void expect_nested(F&& fails) {
  try {
    fails();
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) { EXPECT_THROW(std::rethrow_if_nested(error), Trouble); }
}

TEST(CallbackErrors, Mapper) {
  Runtime runtime(small_machine());
  runtime.set_mapper(std::make_unique<Failing>());
  try {
    runtime.run([](Context& context) {
      auto blocks = context.blocks(context.region(Rect1{0, 7}, mass), 2);
      expect_nested([&] { context.launch(look, 2, blocks[mass], 1, 2); });
      next_line_fails();
      context.launch(look, 2, blocks[mass], 1, 2);
    });
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) {
    expect_words(error.what(),
                 {"mapper 'failing'", "task 'look' launched at", "@", "point 1", "no idea"});
  }
}

TEST(CallbackErrors, MapperAskedWhetherToAsk) {
  class Undecided : public Mapper {
   public:
    [[nodiscard]] std::string_view name() const override { return "undecided"; }
    void map(const MappingInput&, MappingOutput&) override {}
    [[nodiscard]] bool every_launch() const override { throw Trouble("who knows"); }
  };
  static const Task nothing{"nothing", [] {}};
  Runtime runtime(small_machine());
  runtime.set_mapper(std::make_unique<Undecided>());
  try {
    runtime.run([](Context& context) {
      expect_nested([&] { context.launch(nothing); });
      next_line_fails();
      context.launch(nothing);
    });
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) {
    expect_words(error.what(), {"mapper 'undecided'", "task 'nothing' launched at", "@",
                                "every_launch", "who knows"});
  }
}

// It leaves the context alone: a launch within it would take the place of the one that it is asked about.
TEST(CallbackErrors, MapperThatLaunchesWhenAskedWhetherToAsk) {
  static const Task other{"other", [] {}};
  class Launching : public Mapper {
   public:
    [[nodiscard]] std::string_view name() const override { return "launching"; }
    void map(const MappingInput&, MappingOutput&) override {}
    [[nodiscard]] bool every_launch() const override {
      if (context != nullptr) context->launch(other);
      return false;
    }
    Context* context = nullptr;
  };
  static const Task add{"add", [](ReadWrite<double> x) {
                          for (auto p : x.domain()) x[p] += 1;
                        }};
  Runtime runtime(small_machine());
  auto* mapper = new Launching;
  runtime.set_mapper(std::unique_ptr<Mapper>(mapper));
  runtime.run([&](Context& context) {
    const auto cells = context.region(Rect1{0, 7}, mass);
    for (int i = 0; i < 5; ++i) {
      mapper->context = &context;
      EXPECT_THROW(context.launch(add, cells[mass]), UsageError);
      mapper->context = nullptr;
      context.launch(add, cells[mass]);
    }
    EXPECT_EQ(context.access<Read>(cells[mass])[3], 5);
  });
}

// Wherever it throws, also while a trace is followed, the context goes on.
TEST(CallbackErrors, MapperThatThrowsNowAndThenWhenAskedWhetherToAsk) {
  class Moody : public Mapper {
   public:
    explicit Moody(int every) : period(every) {}
    [[nodiscard]] std::string_view name() const override { return "moody"; }
    void map(const MappingInput&, MappingOutput&) override {}
    [[nodiscard]] bool every_launch() const override {
      if (++asked % period == 0) throw Trouble("not now");
      return false;
    }
    const int period;
    mutable int asked = 0;
  };
  static const Task add{"add", [](ReadWrite<double> x) {
                          for (auto p : x.domain()) x[p] += 1;
                        }};
  for (const int period : {2, 3, 5}) {
    Runtime runtime(small_machine());
    runtime.set_mapper(std::make_unique<Moody>(period));
    runtime.run([&](Context& context) {
      const auto cells = context.region(Rect1{0, 7}, mass);
      const Trace step{"step"};
      int launched = 0;
      for (int i = 0; i < 40; ++i)
        context.trace(step, [&] {
          for (int k = 0; k < 4; ++k) try {
              context.launch(add, cells[mass]);
              ++launched;
            } catch (const UsageError& error) {
              EXPECT_THROW(std::rethrow_if_nested(error), Trouble);
            }
        });
      EXPECT_EQ(context.access<Read>(cells[mass])[3], launched) << "period " << period;
    });
  }
}

// Plans are dropped with their tasks, whose captures may launch when they end.
TEST(CallbackErrors, TaskThatLaunchesWhenItEnds) {
  static const Task other{"other", [] {}};
  int ended = 0;
  bool in_program = true;
  Runtime runtime(small_machine());
  runtime.run([&](Context& context) {
    for (int i = 0; i < 4000; ++i) {
      std::shared_ptr<void> at_its_end(nullptr, [&](void*) {
        ++ended;
        if (in_program) context.launch(other);
      });
      const Task passing{"passing", [held = std::move(at_its_end)](ReadWrite<double>) {}};
      const auto cells = context.region(Rect1{0, i}, mass);  // another plan each time
      context.launch(passing, cells[mass]);
      context.destroy(cells);
    }
    EXPECT_GT(ended, 1000);
    context.fence();
    in_program = false;  // the rest ends with the context
  });
}

// Of what is no std::bad_alloc no error says that memory ran out.
TEST(CallbackErrors, InTheMiddleOfACall) {
  class Nameless : public Failing {
   public:
    [[nodiscard]] std::string_view name() const override { throw Trouble("it has none"); }
  };
  Runtime runtime(small_machine());
  runtime.set_mapper(std::make_unique<Nameless>());
  try {
    runtime.run([](Context& context) {
      auto blocks = context.blocks(context.region(Rect1{0, 7}, mass), 2);
      next_line_fails();
      context.launch(look, 2, blocks[mass], 1, 2);
    });
    ADD_FAILURE() << "no error";
  } catch (const OutOfMemory& error) { ADD_FAILURE() << error.what(); } catch (const Error& error) {
    expect_words(error.what(), {"task 'look' launched at", "@", "Trouble: it has none",
                                "nothing more is launched"});
  }
}

// An error of Refrain that an argument meets stays what it is.
TEST(CallbackErrors, ByValueArgument) {
  struct Heavy {
    explicit Heavy(bool own) : own_error(own) {}
    Heavy(const Heavy& other) : own_error(other.own_error) {
      if (own_error) throw OutOfMemory("none left");
      throw Trouble("too heavy");
    }
    bool own_error;
  };
  static const Task take{"take", [](Coord, const Heavy&) {}};
  const Heavy foreign(false), own(true);
  expect_error<UsageError>(small_machine(),
                           {"task 'take' launched at", "@", "by-value argument", "too heavy"},
                           [&](Context& context) {
                             expect_nested([&] { context.launch(take, 1, foreign); });
                             next_line_fails();
                             context.launch(take, 1, foreign);
                           });
  expect_error<OutOfMemory>(small_machine(), {"none left"},
                            [&](Context& context) { context.launch(take, 1, own); });
}

TEST(CallbackErrors, Projection) {
  const auto lost = Projection::function("lost", [](const Point<3>& p, std::uint64_t) {
    return p[0] < 2 ? p : throw Trouble("which way?");
  });
  expect_error<UsageError>(
      small_machine(),
      {"task 'look' launched at", "@", "argument 0", "projection lost", "point 2", "which way?"},
      [&](Context& context) {
        auto blocks = context.blocks(context.region(Rect1{0, 7}, mass), 4);
        expect_nested([&] { context.launch(look, 3, blocks.at(lost)[mass], 1, 2); });
        next_line_fails();
        context.launch(look, 3, blocks.at(lost)[mass], 1, 2);
      });
}

TEST(CallbackErrors, PerPoint) {
  const auto choose =
      per_point([](Point1 p) { return p[0] < 3 ? p[0] : throw Trouble("too many"); });
  expect_error<UsageError>(
      small_machine(),
      {"task 'look' launched at", "@", "by-value argument 1", "per_point", "point 3", "too many"},
      [&](Context& context) {
        auto blocks = context.blocks(context.region(Rect1{0, 7}, mass), 4);
        expect_nested([&] { context.launch(look, 4, blocks[mass], 1, choose); });
        next_line_fails();
        context.launch(look, 4, blocks[mass], 1, choose);
      });
}

TEST(CallbackErrors, SurplusCoordinatesOfAColour) {
  const auto plane = Projection::function("plane", [](const Point<3>& p, std::uint64_t) {
    return Point<3>{p[0], 1, 0};
  });
  expect_error<UsageError>(small_machine(),
                           {"task 'look' launched at", "@", "argument 0", "point 0", "plane",
                            "1 dimensions", "must be 0"},
                           [&](Context& context) {
                             auto blocks = context.blocks(context.region(Rect1{0, 7}, mass), 4);
                             next_line_fails();
                             context.launch(look, 2, blocks.at(plane)[mass], 1, 2);
                           });
}

struct Refusing {
  static constexpr std::string_view name = "refusing";
  template <class T>
  static constexpr T identity() {
    return T{};
  }
  template <class T>
  static T fold(T, T) {
    throw Trouble("no sum of these");
  }
};

TEST(CallbackErrors, OperatorWhileReducingFutures) {
  static const Task rank{"rank", [](Point1 p) { return static_cast<double>(p[0]); }};
  expect_error<TaskFailed>(small_machine(), {"reduce", "@", "no sum of these"},
                           [](Context& context) {
                             const auto values = context.launch(rank, 4);
                             next_line_fails();
                             const auto sum = context.reduce(values, Refusing{});
                             static_cast<void>(sum.get());
                           });
}

// The body only writes its contribution down; the operator throws when it is folded into the region.
TEST(CallbackErrors, OperatorWhileFolding) {
  static const DynamicTask touch{
      "touch", [](const TaskFrame& frame) {
        *reinterpret_cast<double*>(frame.arguments[1].contribution({1, 0, 0})) = 2;
      }};
  for (const int times : {1, 200}) {  // the launch may have come back long before
    expect_error<TaskFailed>(
        small_machine(),
        {"task 'touch' launched at", "@", "argument 1", "'mass'", "region 0", "[0..3]",
         "no sum of these"},
        [&](Context& context) {
          auto cells = context.region(Rect1{0, 7}, mass);
          auto halves = context.blocks(cells, 2);
          const Requirement requirements[] = {
              Requirement::of(halves(1), mass, Privilege::read),
              Requirement::of(halves(0), mass, Privilege::reduce, &reduction_op<Refusing, double>)};
          next_line_fails();
          LaunchRequest request(touch);
          request.requirements = requirements;
          for (int i = 0; i < times; ++i) context.launch(request);
          context.fence();
        });
  }
}

struct Aimless {
  static constexpr std::string_view name = "aimless";
  template <class T>
  static T identity() {
    throw Trouble("no identity");
  }
  template <class T>
  static constexpr T fold(T a, T b) {
    return a + b;
  }
};

// Of what the accumulator had taken already nothing is lost (the sanitizer looks).
TEST(CallbackErrors, IdentityOfAnOperator) {
  static const Task add{"add", [](Reduce<Aimless, double> x) { x.reduce(0, 1); }};
  expect_error<TaskFailed>(small_machine(), {"task 'add' launched at", "@", "no identity"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 7}, mass);
                             next_line_fails();
                             context.launch(add, cells[mass]);
                             context.fence();
                           });
}

struct Speechless : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return nullptr; }
};

TEST(CallbackErrors, ExceptionWithoutAText) {
  static const Task mute{"mute", [] { throw Speechless(); }};
  expect_error<TaskFailed>(small_machine(), {"task 'mute' launched at", "@", "without a text"},
                           [](Context& context) {
                             next_line_fails();
                             context.launch(mute);
                             context.fence();
                           });
}

}  // namespace
}  // namespace refrain::test::callback_test
