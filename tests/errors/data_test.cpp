// What is refused of regions, partitions, copies, fills, accesses and attached memory.

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <stdexcept>

#include "support/expect_error.hpp"

namespace refrain::test::data_test {
namespace {

constexpr Field<double> mass{"mass"};
constexpr Field<float> charge{"charge"};

TEST(DataErrors, EverythingAfterDestruction) {
  const auto with_dead = [](auto&& use) {
    expect_error<UsageError>(small_machine(), {"region 0", "destroyed"}, [&](Context& context) {
      auto dead = context.region(Rect1{0, 7}, mass);
      auto alive = context.region(Rect1{0, 7}, mass);
      context.destroy(dead);
      use(context, dead, alive);
    });
  };
  with_dead([](Context& c, const Region<1>& dead, const Region<1>&) { c.fill(dead, mass, 1.0); });
  with_dead([](Context& c, const Region<1>& dead, const Region<1>& alive) {
    c.copy(dead[mass], alive[mass]);
  });
  with_dead([](Context& c, const Region<1>& dead, const Region<1>& alive) {
    c.copy(alive[mass], dead[mass]);
  });
  with_dead([](Context& c, const Region<1>& dead, const Region<1>&) {
    (void)c.access<Read>(dead[mass]);
  });
  with_dead([](Context& c, const Region<1>& dead, const Region<1>&) { c.blocks(dead, 2); });
  with_dead([](Context& c, const Region<1>& dead, const Region<1>&) { c.destroy(dead); });
}

TEST(DataErrors, MessagesNameTheLine) {
  expect_error<UsageError>(small_machine(), {"@"}, [](Context& context) {
    auto dead = context.region(Rect1{0, 7}, mass);
    context.destroy(dead);
    next_line_fails();
    context.fill(dead, mass, 1.0);
  });
}

TEST(DataErrors, TheUnionOfPartitionsOfDifferentRegions) {
  expect_error<UsageError>(
      small_machine(),
      {"unite at", "@", "region 0[blocks 0][blocks]", "region 0[blocks 1][blocks]",
       "are partitions of different regions", "colour 0 of region 0[blocks 1][blocks] has point 4",
       "which region 0[blocks 0] has not"},
      [](Context& context) {
        auto halves = context.blocks(context.region(Rect1{0, 7}, mass), 2);
        auto left = context.blocks(halves(0), 2), right = context.blocks(halves(1), 2);
        next_line_fails();
        context.unite(left, right);
      });
}

TEST(DataErrors, PiecesOutsideTheirRegion) {
  expect_error<UsageError>(small_machine(),
                           {"partition at", "@",
                            "of region 0: the piece of colour 1 has points "
                            "outside its region, 8 for one"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 7}, mass);
                             const std::vector<IndexSpace<1>> pieces{Rect1{0, 3}, Rect1{4, 8}};
                             next_line_fails();
                             context.partition(cells, pieces);
                           });
}

TEST(DataErrors, APartitionByAFieldThatTheRegionDoesNotHave) {
  constexpr Field<Point1> next{"next"};
  const auto expect = [&](const char* call, auto&& make) {
    expect_error<UsageError>(small_machine(),
                             {call, "data_test.cpp", "region 0 has no field 'next'"},
                             [&](Context& context) {
                               auto cells = context.region(Rect1{0, 7}, mass);
                               make(context, cells, context.blocks(cells, 2));
                             });
  };
  using Cells = const Region<1>&;
  using Blocks = const Partition<1>&;
  expect("image at", [&](Context& c, Cells cells, Blocks b) { c.image(cells, b, next); });
  expect("preimage at", [&](Context& c, Cells cells, Blocks b) { c.preimage(cells, b, next); });
  expect("by_colour at", [&](Context& c, Cells cells, Blocks) {
    c.by_colour(cells, next, IndexSpace<1>(Rect1{0, 1}));
  });
}

TEST(DataErrors, DestroyingASubregion) {
  expect_error<UsageError>(small_machine(), {"region 0", "subregion"}, [](Context& context) {
    auto blocks = context.blocks(context.region(Rect1{0, 7}, mass), 2);
    context.destroy(blocks(1));
  });
}

TEST(DataErrors, CopyThatTheSourceCannotServe) {
  expect_error<UsageError>(
      small_machine(), {"copy", "region 0", "region 1", "does not contain"}, [](Context& context) {
        auto small = context.region(Rect1{0, 7}, mass), large = context.region(Rect1{0, 8}, mass);
        context.copy(small[mass], large[mass]);
      });
}

TEST(DataErrors, TwoFieldsOfOneName) {
  expect_error<UsageError>(
      small_machine(),
      {"region at", "@", "two fields are named 'mass', of types double and float",
       "give each its own"},
      [](Context& context) {
        next_line_fails();
        context.region(Rect1{0, 7}, mass, Field<float>{"mass"});
      });
}

TEST(DataErrors, CoordinatesOutOfRange) {
  constexpr Coord far = Coord{1} << 61;
  expect_error<UsageError>(small_machine(), {"region at", "@", "2^60"}, [](Context& context) {
    next_line_fails();
    context.region(Rect1{0, far}, mass);
  });
  expect_error<UsageError>(small_machine(), {"region at", "@", "2^60"}, [](Context& context) {
    next_line_fails();
    context.region(Rect3{{0, 0, -far}, {1, 1, 1}}, mass);
  });
}

TEST(DataErrors, MorePiecesThanMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer ends the process where memory is refused";
#endif
  expect_error<OutOfMemory>(small_machine(), {"blocks at", "@", "region 0", "so many pieces"},
                            [](Context& context) {
                              auto cells = context.region(Rect1{0, Coord{1} << 59}, mass);
                              next_line_fails();
                              context.blocks(cells, Coord{1} << 58);
                            });
}

TEST(DataErrors, AttachedPointsFarApart) {
  expect_error<UsageError>(
      small_machine(), {"attach at", "@", "region 0", "more memory than there is"},
      [](Context& context) {
        constexpr Coord far = Coord{1} << 40;
        const IndexSpace<3> corners(std::vector<Point<3>>{{0, 0, 0}, {far, far, far}});
        auto cells = context.region(corners, mass);
        double memory = 0;
        next_line_fails();
        context.attach(cells, mass, &memory);
      });
}

TEST(DataErrors, NoPartition) {
  expect_error<UsageError>(small_machine(), {"parent", "empty partition handle"},
                           [](Context&) { static_cast<void>(Partition<1>{}.parent()); });
}

TEST(DataErrors, FieldsThatTheRegionHasAreListed) {
  expect_error<UsageError>(small_machine(), {"it has 'mass' (double), 'weight' (double)"},
                           [](Context& context) {
                             constexpr Field<double> weight{"weight"};
                             auto cells = context.region(Rect1{0, 7}, mass, weight);
                             context.fill(cells, charge, 1.0F);
                           });
}

TEST(DataErrors, FieldThatTheRegionDoesNotHave) {
  expect_error<UsageError>(small_machine(), {"fill", "region 0", "'charge'", "'mass'"},
                           [](Context& context) {
                             context.fill(context.region(Rect1{0, 7}, mass), charge, 1.0F);
                           });
}

TEST(DataErrors, Partitions) {
  expect_error<UsageError>(small_machine(), {"blocks", "region 0", "at least 1"},
                           [](Context& context) {
                             context.blocks(context.region(Rect1{0, 7}, mass), 0);
                           });
  expect_error<UsageError>(small_machine(),
                           {"unite at", "@", "different colours", "has [0..1]", "has [0..2]"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 7}, mass);
                             next_line_fails();
                             context.unite(context.blocks(cells, 2), context.blocks(cells, 3));
                           });
  expect_error<UsageError>(small_machine(), {"different regions", "region 0", "region 1"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 7}, mass);
                             auto others = context.region(Rect1{0, 7}, mass);
                             context.intersect(context.blocks(cells, 2), context.blocks(others, 2));
                           });
  expect_error<UsageError>(small_machine(), {"colour 1", "outside"}, [](Context& context) {
    auto cells = context.region(Rect1{0, 7}, mass);
    context.partition(cells, {IndexSpace<1>(Rect1{0, 3}), IndexSpace<1>(Rect1{4, 8})});
  });
  expect_error<UsageError>(small_machine(), {"affine"}, [](Context& context) {
    auto cells = context.region(Rect1{0, 7}, mass);
    const auto f = Projection::function("f", [](const Point<3>& p, std::uint64_t) { return p; });
    context.restrict_to(cells, IndexSpace<1>(Rect1{0, 1}), f, Rect1{0, 1});
  });
}

TEST(DataErrors, NumberOfColours) {
  static constexpr Field<Coord> colour{"colour"};
  const auto by_colour = [](Coord colours) {
    return [colours](Context& context) {
      auto cells = context.region(Rect1{0, 7}, colour);
      next_line_fails();
      context.by_colour(cells, colour, colours);
    };
  };
  using Limits = std::numeric_limits<Coord>;
  expect_error<UsageError>(small_machine(), {"by_colour", "region 0", "-1 colours", "@"},
                           by_colour(-1));
  expect_error<UsageError>(small_machine(), {"by_colour", "region 0", "at least 0", "@"},
                           by_colour(Limits::min()));
  expect_error<UsageError>(small_machine(), {"by_colour", "region 0", "2^60", "@"},
                           by_colour(Limits::max()));
  expect_error<OutOfMemory>(small_machine(), {"by_colour", "region 0", "so many pieces", "@"},
                            by_colour(Coord{1} << 58));
  Runtime runtime(small_machine());
  runtime.run([](Context& context) {
    auto cells = context.region(Rect1{0, 7}, colour);
    EXPECT_EQ(context.by_colour(cells, colour, 0).colours().volume(), 0u);
  });
}

// What the typed API does not let one write.
TEST(DataErrors, PartitionsWithoutTypes) {
  static constexpr Field<double> real{"real"};
  static constexpr Field<char> small{"small"};
  const auto fails = [](std::initializer_list<std::string> words,
                        const std::function<void(Context&, const AnyRegion&)>& program) {
    expect_error<UsageError>(small_machine(), words, [&](Context& context) {
      program(context, context.region(Rect2{{0, 0}, {3, 3}}, real, small));
    });
  };
  fails({"image", "'real'", "double", "2 dimensions", "data_test.cpp"},
        [](Context& context, const AnyRegion& region) {
          context.make_image(region, context.make_blocks(region, {2, 2, 1}), real);
        });
  fails({"by_colour", "'small'", "char", "1 dimensions"},
        [](Context& context, const AnyRegion& region) {
          context.make_by_colour(region, small, IndexSpace<1>(Rect1{0, 3}));
        });
  fails({"1 dimensions", "2"}, [](Context& context, const AnyRegion& region) {
    context.make_explicit(region, {IndexSpace<1>(Rect1{0, 3})});
  });
  fails({"blocks_of_size", "size 0", "dimension 1", "data_test.cpp"},
        [](Context& context, const AnyRegion& region) {
          context.make_blocks_of_size(region, {2, 0, 1});
        });
  fails({"index space", "4 dimensions"}, [](Context& context, const AnyRegion&) {
    const AnyField field = real;
    context.make_region(AnyIndexSpace(4, Rect<3>{}), {&field, 1});
  });
  fails({"copy", "does not contain"}, [](Context& context, const AnyRegion& region) {
    context.copy_fields(context.region(Rect1{0, 3}, real), real, region, real);
  });
}

TEST(DataErrors, AttachedPieces) {
  std::array<double, 8> memory{};
  const auto of_piece = [&](Point1 colour) {
    return &memory[static_cast<std::size_t>(4 * colour[0])];
  };
  const auto with_halves = [&](std::initializer_list<std::string> texts, auto&& use) {
    expect_error<UsageError>(small_machine(), texts, [&](Context& context) {
      const auto cells = context.region(Rect1{0, 7}, mass);
      const auto halves = context.blocks(cells, 2);
      use(context, cells, halves);
    });
  };
  with_halves({"attach at", "region 0[halo]", "share points"},
              [&](auto& context, auto&, auto& halves) {
                context.attach(context.halo(halves, 1), mass, of_piece);
              });
  with_halves({"attach at", "memory for region 0[blocks 1]", "null"},
              [&](auto& context, auto&, auto& halves) {
                context.attach(halves, mass, [&](Point1 colour) {
                  return colour == 1 ? nullptr : memory.data();
                });
              });
  with_halves({"attach at", "memory for region 0[blocks 0]", "no idea"},
              [&](auto& context, auto&, auto& halves) {
                context.attach(halves, mass, [](Point1 /*colour*/) -> double* {
                  throw std::runtime_error("no idea");
                });
              });
  with_halves({"region 0[blocks 1]", "shares bytes", "region 0[blocks 0]"},
              [&](auto& context, auto&, auto& halves) {
                context.attach(halves, mass, [&](Point1 /*colour*/) { return memory.data(); });
              });
  with_halves({"'mass'", "attached already"}, [&](auto& context, auto&, auto& halves) {
    context.attach(halves, mass, of_piece);
    context.attach(halves(1), mass, memory.data());
  });
  with_halves({"'mass'", "nothing is attached"}, [&](auto& context, auto& cells, auto& halves) {
    context.attach(halves, mass, of_piece);
    context.detach(cells, mass);
  });
  with_halves({"'mass'", "nothing is attached"}, [&](auto& context, auto& cells, auto& halves) {
    context.attach(cells, mass, memory.data());
    context.detach(halves, mass);
  });
}

TEST(DataErrors, FunctionsThatGiveMemory) {
  std::array<double, 8> memory{};
  expect_error<UsageError>(small_machine(),
                           {"attach at", "region 0[blocks (0, 0)]", "1 dimension(s)", "have 2"},
                           [&](Context& context) {
                             const auto cells = context.region(Rect2{{0, 0}, {1, 3}}, mass);
                             context.attach(context.blocks(cells, {1, 2}), mass,
                                            [&](Point1 /*colour*/) { return memory.data(); });
                           });
  expect_error<UsageError>(small_machine(), {"attach at", "region 0[blocks 0]", "uses the context"},
                           [&](Context& context) {
                             const auto cells = context.region(Rect1{0, 7}, mass);
                             context.attach(context.blocks(cells, 2), mass, [&](Point1 /*colour*/) {
                               context.attach(cells, mass, memory.data());
                               return memory.data();
                             });
                           });
}

TEST(DataErrors, ATaskAttachesNothingToItsArguments) {
  std::array<double, 8> memory{};
  const Task task{"task", [&](Context& context, ReadWrite<double> x) {
                    const auto halves = context.blocks(x.region(), 2);
                    context.attach(halves, mass, [&](Point1 colour) {
                      return &memory[static_cast<std::size_t>(4 * colour[0])];
                    });
                  }};
  expect_error<TaskFailed>(small_machine(), {"attach at", "made by another context"},
                           [&](Context& context) {
                             const auto cells = context.region(Rect1{0, 7}, mass);
                             context.launch(task, cells[mass]);
                             context.fence();
                           });
}

TEST(DataErrors, PartitionsThatEndWhileTheirPiecesAreAttached) {
  std::array<double, 8> memory{};
  Runtime runtime(small_machine());
  runtime.run([&](Context& context) {
    const auto cells = context.region(Rect1{0, 7}, mass);
    const auto halves = context.blocks(cells, 2);
    context.attach(halves, mass,
                   [&](Point1 colour) { return &memory[static_cast<std::size_t>(4 * colour[0])]; });
    context.destroy(halves);
    context.fill(cells, mass, 2.0);
    context.detach(context.blocks(cells, 2), mass);  // as those of equal points have
    EXPECT_EQ(memory[7], 2.0);
  });
}

TEST(DataErrors, AttachedMemory) {
  std::array<double, 8> memory{};
  expect_error<UsageError>(small_machine(), {"region 0", "'mass'", "attached already"},
                           [&](Context& context) {
                             auto cells = context.region(Rect1{0, 7}, mass);
                             context.attach(cells, mass, memory.data());
                             context.attach(cells, mass, memory.data());
                           });
  expect_error<UsageError>(small_machine(), {"region 0", "'mass'", "nothing is attached"},
                           [&](Context& context) {
                             auto cells = context.region(Rect1{0, 7}, mass);
                             context.detach(cells, mass);
                           });
  expect_error<UsageError>(small_machine(), {"region 0", "null"}, [&](Context& context) {
    auto cells = context.region(Rect1{0, 7}, mass);
    context.attach(cells, mass, static_cast<double*>(nullptr));
  });
  expect_error<UsageError>(small_machine(), {"'mass'", "no values"}, [&](Context& context) {
    auto cells = context.region(Rect1{0, 7}, mass);
    context.attach(cells, mass, memory.data());
    context.detach(cells, mass);
    (void)context.access<Read>(cells[mass]);
  });
}

TEST(DataErrors, MemoryAttachedTwice) {
  struct Both {
    double first, second;
  };
  constexpr Field<double> weight{"weight"};
  std::array<Both, 8> memory{};
  double* const second = &memory[0].second;
  const auto refused = [&](const std::function<void(Context&, const Region<1>&)>& again) {
    expect_error<UsageError>(small_machine(),
                             {"attach at", "@", "'weight'", "shares bytes",
                              "field 'mass' of region 0, attached at data_test.cpp:"},
                             [&](Context& context) {
                               auto cells = context.region(Rect1{0, 7}, mass, weight);
                               context.attach(cells, mass, &memory[0].first, {{sizeof(Both)}});
                               again(context, cells);
                             });
  };
  refused([&](Context& context, const Region<1>& cells) {
    next_line_fails();
    context.attach(cells, weight, &memory[0].first);
  });
  refused([&](Context& context, const Region<1>&) {
    auto others = context.region(Rect1{0, 0}, weight);
    next_line_fails();
    context.attach(others, weight, &memory[7].first);
  });
  // Interleaved, or one after the other, it is each time another's.
  Runtime runtime(small_machine());
  for (int run = 0; run < 2; ++run)
    runtime.run([&](Context& context) {
      auto cells = context.region(Rect1{0, 7}, mass, weight);
      auto others = context.region(Rect1{0, 7}, mass);
      context.attach(cells, mass, &memory[0].first, {{sizeof(Both)}});
      context.attach(cells, weight, second, {{sizeof(Both)}});
      context.detach(cells, mass);
      context.attach(others, mass, &memory[0].first, {{sizeof(Both)}});
      context.destroy(others);
      context.attach(cells, mass, &memory[0].first, {{sizeof(Both)}});
    });
  EXPECT_THROW(runtime.run([&](Context& context) {
    context.attach(context.region(Rect1{0, 7}, mass), mass, &memory[0].first, {{sizeof(Both)}});
    throw std::runtime_error("never mind");
  }),
               std::runtime_error);
  runtime.run([&](Context& context) {
    context.attach(context.region(Rect1{0, 7}, mass), mass, &memory[0].first, {{sizeof(Both)}});
  });
}

// A task's own context knows of what the program has attached.
TEST(DataErrors, MemoryAttachedTwiceByATaskOfItsOwn) {
  static std::array<double, 8> memory{};
  static const Task nested{"nested", [](Context& context) {
                             auto mine = context.region(Rect1{0, 1}, mass);
                             context.attach(mine, mass, &memory[6]);
                           }};
  expect_error<TaskFailed>(small_machine(), {"task 'nested'", "attach at", "shares bytes", "@"},
                           [](Context& context) {
                             auto cells = context.region(Rect1{0, 7}, mass);
                             next_line_fails();
                             context.attach(cells, mass, memory.data());
                             context.launch(nested);
                             context.fence();
                           });
}

TEST(DataErrors, MachineThatCannotBeRead) {
  try {
    const Runtime runtime(small_machine("emulated:gpus=two"));
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    expect_words(error.what(), {"emulated:gpus=two", ":1:", "'two'"});
  }
}

}  // namespace
}  // namespace refrain::test::data_test
