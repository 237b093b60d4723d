// Errors have NumPy's words, the shapes, and the line of the call.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run.hpp"

namespace refrain::test::errors_test {
namespace {

using namespace arrays;
using arrays::Array;

/// The program throws E, whose text begins with a line of this file and then has this.
template <class E>
void expect_error(const std::string& text, const std::function<void(Session&)>& program) {
  run_arrays([&](Session& np) {
    try {
      program(np);
      ADD_FAILURE() << "nothing was thrown, expected " << text;
    } catch (const E& error) {
      const std::string what = error.what();
      EXPECT_EQ(what.rfind("errors_test.cpp:", 0), 0u) << what;
      EXPECT_NE(what.find(text), std::string::npos) << what << "\nis not about\n" << text;
    }
  });
}

TEST(ArrayErrors, ShapesThatDoNotBroadcast) {
  expect_error<ValueError>("operands could not be broadcast together with shapes (3, 4) (5,)",
                           [](Session& np) {
                             np.zeros({3, 4}) + np.zeros(5);
                           });
  expect_error<ValueError>("could not broadcast input array from shape (3,) into shape (4,)",
                           [](Session& np) {
                             Array a = np.zeros(4);
                             a[":"] = np.ones(3);
                           });
  expect_error<ValueError>(
      "non-broadcastable output operand with shape (3,) doesn't match the "
      "broadcast shape (2, 3)",
      [](Session& np) {
        Array a = np.zeros(3);
        a += np.ones({2, 3});
      });
}

TEST(ArrayErrors, MessageAndLineApart) {
  run_arrays([](Session& np) {
    const Array a = np.zeros(3), b = np.zeros(4);
    try {
      a + b;
      FAIL() << "did not throw";
    } catch (const ArrayError& error) {
      EXPECT_EQ(error.message(), "operands could not be broadcast together with shapes (3,) (4,)");
      EXPECT_TRUE(std::string_view(error.where().file_name()).ends_with("errors_test.cpp"));
      EXPECT_EQ(refrain::to_string(error.where()) + ": " + error.message(), error.what());
    }
  });
}

TEST(ArrayErrors, TheLineIsThatOfTheCall) {
  run_arrays([](Session& np) {
    const Array a = np.zeros(3), b = np.zeros(4);
    unsigned line = 0;
    try {
      line = __LINE__ + 1;
      a* b;
      FAIL();
    } catch (const ValueError& error) {
      const std::string expected = "errors_test.cpp:" + std::to_string(line) + ": operands";
      EXPECT_EQ(std::string(error.what()).rfind(expected, 0), 0u) << error.what();
    }
    try {
      line = __LINE__ + 1;
      a["5"];
      FAIL();
    } catch (const IndexError& error) {
      const std::string expected = "errors_test.cpp:" + std::to_string(line) + ": index 5";
      EXPECT_EQ(std::string(error.what()).rfind(expected, 0), 0u) << error.what();
    }
    try {
      line = __LINE__ + 1;
      a(0, 0);
      FAIL();
    } catch (const IndexError& error) {
      const std::string expected = "errors_test.cpp:" + std::to_string(line) + ": too many";
      EXPECT_EQ(std::string(error.what()).rfind(expected, 0), 0u) << error.what();
    }
  });
}

TEST(ArrayErrors, Indices) {
  expect_error<IndexError>("index -4 is out of bounds for axis 1 with size 3", [](Session& np) {
    np.zeros({2, 3})(0, -4);
  });
  expect_error<IndexError>("index 7 is out of bounds for axis 0 with size 3", [](Session& np) {
    gather(np.zeros(3), np.array<std::int64_t>({0, 7}));
  });
  expect_error<IndexError>(
      "boolean index did not match indexed array along dimension 0; dimension "
      "is 3 but corresponding boolean dimension is 2",
      [](Session& np) { gather(np.zeros(3), np.ones(2, DType::boolean)); });
  expect_error<IndexError>("arrays used as indices must be of integer (or boolean) type",
                           [](Session& np) { gather(np.zeros(3), np.zeros(3)); });
}

TEST(ArrayErrors, Axes) {
  expect_error<AxisError>("axis 2 is out of bounds for array of dimension 2", [](Session& np) {
    sum(np.zeros({2, 3}), 2);
  });
  expect_error<ValueError>("duplicate value in 'axis'", [](Session& np) {
    sum(np.zeros({2, 3}), {0, -2});
  });
}

TEST(ArrayErrors, Types) {
  expect_error<TypeError>(
      "Cannot cast ufunc 'add' output from dtype('float64') to dtype('int64') "
      "with casting rule 'same_kind'",
      [](Session& np) {
        Array a = np.arange(3);
        a += 0.5;
      });
  expect_error<TypeError>("boolean subtract, the `-` operator, is not supported", [](Session& np) {
    const Array a = np.ones(3, DType::boolean);
    a - a;
  });
  expect_error<TypeError>("ufunc 'bitwise_and' not supported for the input type float64",
                          [](Session& np) { np.zeros(3) & 1; });
}

TEST(ArrayErrors, NothingToReduce) {
  expect_error<ValueError>("zero-size array to reduction operation minimum which has no identity",
                           [](Session& np) { min(np.zeros(0)); });
  expect_error<ValueError>("attempt to get argmax of an empty sequence", [](Session& np) {
    argmax(np.zeros({0, 3}), 0);
  });
}

TEST(ArrayErrors, Products) {
  expect_error<ValueError>("shapes (2, 3) and (2, 3) not aligned: 3 (dim 1) != 2 (dim 0)",
                           [](Session& np) {
                             dot(np.zeros({2, 3}), np.zeros({2, 3}));
                           });
  expect_error<ValueError>("matmul: input operand does not have enough dimensions",
                           [](Session& np) { matmul(np.zeros(3), 2.0); });
}

TEST(ArrayErrors, Shapes) {
  expect_error<ValueError>("cannot reshape array of size 6 into shape (4,)", [](Session& np) {
    np.zeros({2, 3}).reshape(4);
  });
  expect_error<ValueError>("cannot reshape array of size 2 into shape (3,)",
                           [](Session& np) { np.from_memory("ab", 2, DType::boolean, 3); });
  expect_error<ValueError>("negative dimensions are not allowed", [](Session& np) {
    np.zeros({2, -3});
  });
  expect_error<ValueError>("assignment destination is read-only", [](Session& np) {
    broadcast_to(np.zeros(3), {2, 3})["0"] = 1.0;
  });
}

TEST(ArrayErrors, ArraysThatDoNotFitInMemory) {
  expect_error<MemoryError>(
      "Unable to allocate 8.00 TiB for an array with shape (1048576, 1048576) "
      "and data type float64: other arrays use ",
      [](Session& np) {
        np.zeros({1 << 20, 1 << 20});
      });
  // What is there stays as it is, and the session goes on.
  run_arrays([](Session& np) {
    const Array a = np.arange(5.0);
    EXPECT_THROW(outer(np.zeros(1 << 22), np.zeros(1 << 22)), MemoryError);
    EXPECT_EQ(sum(a).item<double>(), 10.0);
  });
}

TEST(ArrayErrors, ShapesThatNoMemoryHolds) {
  const std::string text = "array is too big";
  constexpr Coord kHuge = std::numeric_limits<Coord>::max();
  expect_error<ValueError>(text, [](Session& np) { tile(np.zeros(1 << 20), Coord{1} << 50); });
  expect_error<ValueError>(text, [](Session& np) { repeat(np.zeros(8), Coord{1} << 61); });
  expect_error<ValueError>(text, [](Session& np) { diag(np.zeros(2), kHuge); });
  expect_error<ValueError>(text, [](Session& np) {
    broadcast_to(np.zeros(1), {1L << 40, 1L << 40});
  });
  expect_error<ValueError>(text, [](Session& np) { bincount(np.array<std::int64_t>({kHuge})); });
  expect_error<ValueError>(text, [](Session& np) {
    np.zeros(4).reshape({(Coord{1} << 62) + 1, 4});
  });
  expect_error<ValueError>(text, [](Session& np) {
    outer(broadcast_to(np.zeros(1), 1L << 40), broadcast_to(np.zeros(1), 1L << 40));
  });
}

TEST(ArrayErrors, NumbersThatDoNotFit) {
  expect_error<ValueError>("integer 5000000000 out of bounds for int32",
                           [](Session& np) { np.zeros(3, DType::int32) + 5'000'000'000; });
  expect_error<ValueError>("integer 5000000000 out of bounds for int32",
                           [](Session& np) { np.zeros(3, DType::int32)["0"] = 5'000'000'000; });
  const std::string text = "integer 5000000000 out of bounds for int32";
  constexpr Coord kLarge = 5'000'000'000;
  expect_error<ValueError>(text, [](Session& np) { clip(np.ones(3, DType::int32), 0, kLarge); });
  expect_error<ValueError>(text, [](Session& np) { power(np.ones(3, DType::int32), kLarge); });
  expect_error<ValueError>(text, [](Session& np) { np.full(3, kLarge, DType::int32); });
  expect_error<ValueError>(text,
                           [](Session& np) { np.full_like(np.ones(3, DType::int32), kLarge); });
  expect_error<ValueError>(text, [](Session& np) {
    const Array a = np.ones(3, DType::int32);
    where(a > 0, a, kLarge);
  });
  run_arrays([](Session& np) {
    const Array a = np.array<std::int32_t>({1, 2, 0});
    EXPECT_FALSE(any(a == (Coord{1} << 32)).item<bool>());
    EXPECT_FALSE(any(a >= (Coord{1} << 32)).item<bool>());
    EXPECT_TRUE(all(np.full(3, -1) < std::numeric_limits<std::uint64_t>::max()).item<bool>());
  });
}

TEST(ArrayErrors, PendingArraysHaveTheirRoom) {
  Options options;
  options.machine = "emulated:cpus=2,system=4MiB";
  options.workers = 1;
  Runtime runtime(options);
  runtime.run([](Context& ctx) {
    Session np(ctx);
    std::vector<Array> many;
    for (int i = 0; i < 5; ++i) many.push_back(np.full(100'000, double(i)));
    EXPECT_THROW(np.full(100'000, 5.0), MemoryError);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(sum(many[i]).item<double>(), 100'000.0 * i);
    // Nor do operators in place need any.
    many[4] += 1.0;
    many[4]["1:"] *= 2.0;
    EXPECT_EQ(sum(many[4]).item<double>(), 999'995.0);
    // What cannot be done without says so, and leaves all as it is.
    EXPECT_THROW((many[4]["1:"] += many[4][":-1"]), MemoryError);
    EXPECT_EQ(sum(many[4]).item<double>(), 999'995.0);
    for (int i = 0; i < 200; ++i) many[3] += 1.0;
    EXPECT_EQ(sum(many[3]).item<double>(), 20'300'000.0);
    // Temporaries that are never stored take none.
    Array chain = many[0];
    many.resize(3);
    for (int i = 0; i < 40; ++i) chain = chain + 1.0;
    EXPECT_EQ(sum(chain).item<double>(), 4'000'000.0);
  });
}

TEST(ArrayErrors, WhatAFailedLaunchShouldHaveComputedIsLost) {
  Options options;
  options.machine = "emulated:cpus=2,system=4MiB";
  options.workers = 1;
  Runtime runtime(options);
  runtime.run([](Context& ctx) {
    Session np(ctx);
    const Array there = np.ones(1000);
    np.flush();
    // What else the program keeps in this memory the session knows nothing of.
    constexpr Field<double> kOther{"other"};
    const auto other = ctx.region(Rect1{0, 399'999}, kOther);
    auto held = std::make_optional(ctx.access<ReadWrite>(other[kOther]));
    std::vector<Array> many;
    for (int i = 0; i < 4; ++i) many.push_back(np.full(100'000, double(i)));
    EXPECT_THROW(np.flush(), MemoryError);
    EXPECT_THROW(sum(many[0]), ArrayError);
    EXPECT_THROW(many[1] + 1.0, ArrayError);
    EXPECT_THROW(static_cast<void>(many[2].to_vector<double>()), ArrayError);
    many.clear();
    EXPECT_EQ(sum(there).item<double>(), 1000.0);
    held.reset();
    ctx.destroy(other);
    EXPECT_EQ(sum(np.ones(100'000)).item<double>(), 100'000.0);
  });
}

TEST(ArrayErrors, WhatFindsNoRoomWhenItIsLaunched) {
  Options options;
  options.machine = "emulated:cpus=2,system=4MiB";
  options.workers = 1;
  Runtime runtime(options);
  runtime.run([](Context& ctx) {
    Session np(ctx);
    const Array small = np.arange(1000.0), matrix = small.reshape({50, 20});
    np.flush();
    constexpr Field<double> kOther{"other"};
    const auto other = ctx.region(Rect1{0, 399'999}, kOther);
    auto held = std::make_optional(ctx.access<ReadWrite>(other[kOther]));
    const std::vector<double> values(150'000);
    EXPECT_THROW(np.random.uniform(150'000), MemoryError);
    EXPECT_THROW(np.array(values), MemoryError);
    EXPECT_THROW(np.arange(150'000), MemoryError);
    EXPECT_THROW(gather(small, np.zeros(150'000, DType::int64)), MemoryError);
    EXPECT_THROW(dot(matrix, np.random.uniform({20, 7500})), MemoryError);
    EXPECT_THROW(static_cast<void>(np.full(150'000, 1.0).to_vector<double>()), MemoryError);
    held.reset();
    ctx.destroy(other);
    EXPECT_EQ(sum(small).item<double>(), 499'500.0);
    EXPECT_EQ(np.array(values).size(), 150'000);
  });
}

TEST(ArrayErrors, ValuesOfSeveralElements) {
  expect_error<ValueError>("can only convert an array of size 1 to a number, not one of shape (2,)",
                           [](Session& np) { np.zeros(2).item<double>(); });
}

TEST(ArrayErrors, EmptyHandles) {
  const Array nothing;
  EXPECT_THROW(nothing + 1.0, ArrayError);
  EXPECT_THROW(sum(nothing), ArrayError);
  EXPECT_THROW(nothing.transpose(), ArrayError);
  run_arrays(
      [&](Session& np) { EXPECT_THROW(scatter(np.zeros(3), np.arange(2), nothing), ArrayError); });
}

TEST(ArrayErrors, HandlesOutliveTheirSession) {
  Array left;
  run_arrays([&](Session& np) { left = np.ones(3) + 1.0; });
  EXPECT_EQ(left.size(), 3);
  EXPECT_THROW(static_cast<void>(left.to_vector<double>()), ArrayError);
  EXPECT_THROW(left + 1.0, ArrayError);
}

TEST(ArrayErrors, SessionsDoNotMix) {
  run_arrays([](Session& np) {
    Session other(np.context());
    const Array a = np.ones(3), b = other.ones(3);
    EXPECT_THROW(a + b, ArrayError);
    EXPECT_THROW(scatter(a, np.arange(3), b), ArrayError);
    EXPECT_THROW(bincount(np.arange(3), b), ArrayError);
  });
}

}  // namespace
}  // namespace refrain::test::errors_test
