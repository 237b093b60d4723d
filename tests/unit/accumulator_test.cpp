#include "memory/accumulator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <thread>

#include "data/layout.hpp"
#include "point_sets.hpp"
#include "support/test_budget.hpp"

namespace refrain::detail::accumulator_test {
namespace {

using data::BoxPoint;
using data::IndexSpace;
using data::IndexSpaceRef;

template <std::size_t Words>
using Wide = std::array<std::uint64_t, Words>;

struct WideSum {
  static constexpr std::string_view name = "wide +";
  template <class T>
  static constexpr T identity() {
    return T{};
  }
  template <class T>
  static constexpr T fold(T a, const T& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }
};

template <class T>
T value_of(std::uint64_t number) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(static_cast<double>(number % 1000) / 7);
  } else {
    T value;
    value.fill(number);
    return value;
  }
}

std::size_t index_in(const data::Box& bounds, const BoxPoint& p) {
  std::size_t index = 0;
  for (int d = 0; d < 3; ++d)
    index = index * static_cast<std::size_t>(bounds.hi[d] - bounds.lo[d] + 1) +
            static_cast<std::size_t>(p[d] - bounds.lo[d]);
  return index;
}

// Values at every point of a bounding box, affine.
template <class T>
struct Field {
  Field(const IndexSpaceRef& points, Order order, Sparse sparse)
      : space(points), layout(*space, sizeof(T), layout_of(order, sparse)) {
    values.resize(layout.bytes / sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of<T>(i * 31);
  }
  static Layout layout_of(Order order, Sparse sparse) {
    Layout l;
    l.order = order;
    l.sparse = sparse;
    return l;
  }
  Placement placement() {
    const Coord(&stride)[3] = layout.stride;
    return {reinterpret_cast<std::byte*>(values.data()) + layout.offset,
            {stride[0], stride[1], stride[2]},
            layout.compact ? space.get() : nullptr,
            nullptr};
  }
  T& at(const BoxPoint& p) {
    if (layout.compact) return values[*space->rank_by_boxes(p)];
    std::ptrdiff_t place = layout.offset;
    for (int d = 0; d < 3; ++d) place += p[d] * layout.stride[d];
    return values[static_cast<std::size_t>(place) / sizeof(T)];
  }
  IndexSpaceRef space;
  data::InstanceLayout layout;
  std::vector<T> values;
};

// What a message about these points should have.
template <class Op, class T>
std::vector<T> packed(const std::map<BoxPoint, T>& contributions, const IndexSpaceRef& points) {
  std::vector<T> values;
  for (const data::Box& box : points->boxes())
    IndexSpace::dense(points->dim(), box)->for_each_point([&](const BoxPoint& p) {
      const auto found = contributions.find(p);
      values.push_back(found == contributions.end() ? Op::template identity<T>() : found->second);
    });
  return values;
}

// Touches random points, folds into some of them, directly or by a message, and compares with folding every point in
// full.
template <class Op, class T>
void check(const IndexSpaceRef& points, const IndexSpaceRef& into, data::RandomSets& random,
           std::size_t contributions) {
  const auto sparse = [&] { return static_cast<Sparse>(random.number(0, 2)); };
  Accumulator accumulator(reduction_op<Op, T>, *points, sparse());
  const bool slots = random.number(0, 1) == 0;
  std::map<BoxPoint, T> dense;
  for (std::size_t i = 0; i < contributions; ++i) {
    const BoxPoint p = points->nth(
        static_cast<std::size_t>(random.number(0, static_cast<Coord>(points->volume()) - 1)));
    const T value = value_of<T>(static_cast<std::uint64_t>(random.number(0, 1 << 20)));
    const std::size_t index = accumulator.compact() != nullptr ? *points->rank_by_boxes(p)
                                                               : index_in(points->bounds(), p);
    if (slots && random.number(0, 1) == 0) {
      T& slot = *static_cast<T*>(accumulator.slot(index));
      slot = Op::fold(slot, value);
    } else {
      accumulator.contribute(index, &value);
    }
    T& expected = dense.emplace(p, Op::template identity<T>()).first->second;
    expected = Op::fold(expected, value);
  }
  Field<T> field(points, random.number(0, 1) == 0 ? Order::c : Order::fortran,
                 random.number(0, 1) == 0 ? Sparse::box : Sparse::compact);
  Field<T> expected = field;
  into->for_each_point([&](const BoxPoint& p) {
    const auto found = dense.find(p);
    T& value = expected.at(p);
    value = Op::fold(value, found == dense.end() ? Op::template identity<T>() : found->second);
  });
  std::vector<T> message(into->volume());
  accumulator.pack(*into, reinterpret_cast<std::byte*>(message.data()));
  ASSERT_EQ(message, (packed<Op, T>(dense, into)));
  Accumulator received(reduction_op<Op, T>, *into, sparse());
  received.unpack(*into, reinterpret_cast<const std::byte*>(message.data()));
  Accumulator parent(reduction_op<Op, T>, *points, sparse());
  accumulator.fold_into(*into, parent, random.number(0, 1) == 0);
  Accumulator* const folded[] = {&accumulator, &received, &parent};
  folded[random.number(0, 2)]->fold_into(*into, field.placement());
  ASSERT_EQ(std::memcmp(field.values.data(), expected.values.data(), field.layout.bytes), 0);
}

IndexSpaceRef part_of(int dim, const IndexSpaceRef& space, data::RandomSets& random) {
  if (random.number(0, 1) == 0) return space;
  return data::space_of(
      dim, data::common(data::points_of(space), data::points_of(random.space(dim, 30))));
}

TEST(Accumulator, EqualsTheDenseFold) {
  for (test::TestBudget budget{600, 60}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    data::RandomSets random(static_cast<unsigned>(budget.seed()));
    const int dim = static_cast<int>(random.number(1, 3));
    const IndexSpaceRef points = random.space(dim, dim == 1 ? 5000 : dim == 2 ? 40 : 10);
    if (points->empty()) continue;
    const IndexSpaceRef into = part_of(dim, points, random);
    const auto n = static_cast<std::size_t>(random.number(0, 40));
    switch (random.number(0, 5)) {
      case 0: check<Sum, double>(points, into, random, n); break;
      case 1: check<Sum, std::int32_t>(points, into, random, n); break;
      case 2: check<Max, float>(points, into, random, n); break;
      case 3: check<Min, std::uint8_t>(points, into, random, n); break;
      case 4: check<WideSum, Wide<3>>(points, into, random, n); break;
      default: check<WideSum, Wide<100>>(points, into, random, n); break;
    }
  }
}

TEST(Accumulator, SparseTouchesOfLargeSpaces) {
  data::RandomSets random(9);
  const auto line = IndexSpace::dense(Rect<1>{-1000, 1'000'000});
  const auto plane = IndexSpace::dense(Rect<2>{{-5, -7}, {1500, 300}});
  const auto strip = IndexSpace::dense(Rect<2>{{0, 0}, {300'000, 2}});
  const auto solid = IndexSpace::dense(Rect<3>{{0, 0, 0}, {80, 90, 70}});
  data::BoxList columns;
  for (Coord y = 0; y < 300; y += 30) columns.push_back({{0, y, 0}, {1500, y + y / 100, 0}});
  const auto comb = IndexSpace::from_boxes(2, columns);
  for (const IndexSpaceRef& space : {line, plane, strip, solid, comb})
    for (const std::size_t n : {1, 30, 3000}) check<Sum, double>(space, space, random, n);
  // Contributions beside the points folded into stay out.
  check<Sum, double>(plane, comb, random, 50);
  const auto slabs = IndexSpace::from_boxes(
      3, {{{10, 0, 0}, {20, 90, 70}}, {{30, 40, 0}, {31, 60, 70}}, {{40, 5, 5}, {70, 85, 60}}});
  for (const std::size_t n : {10, 100, 1000}) check<Sum, double>(solid, slabs, random, n);
}

// Looked for in each of the boxes, the values would take minutes.
TEST(Accumulator, PacksScatteredValuesOfManyBoxes) {
  constexpr Coord count = 200'000;
  data::BoxList boxes;
  for (Coord i = 0; i < count; ++i) boxes.push_back({{100 * i, 0, 0}, {100 * i, 0, 0}});
  const auto points = IndexSpace::from_boxes(1, std::move(boxes));
  Accumulator accumulator(reduction_op<Sum, double>, *points);
  for (Coord i = 0; i < count; ++i) {
    const auto value = static_cast<double>(i);
    accumulator.contribute(static_cast<std::size_t>(i), &value);
  }
  std::vector<double> message(count);
  accumulator.pack(*points, reinterpret_cast<std::byte*>(message.data()));
  for (Coord i = 0; i < count; ++i) ASSERT_EQ(message[static_cast<std::size_t>(i)], i);
}

TEST(Accumulator, ValuesLargerThanAChunk) {
  data::RandomSets random(4);
  const auto space = IndexSpace::dense(Rect<1>{0, 40});
  check<WideSum, Wide<700>>(space, space, random, 10);
}

TEST(Accumulator, UntouchedValuesKeepTheirBits) {
  const auto space = IndexSpace::dense(Rect<1>{0, 9});
  std::vector<double> values(10, -0.0);
  values[3] = std::nan("7");
  const std::vector<double> before = values;
  Accumulator accumulator(reduction_op<Sum, double>, *space);
  *static_cast<double*>(accumulator.slot(5)) += 1;
  accumulator.fold_into(*space, {reinterpret_cast<std::byte*>(values.data()), {8, 0, 0}});
  EXPECT_EQ(values[5], 1);
  values[5] = -0.0;
  EXPECT_EQ(std::memcmp(values.data(), before.data(), 80), 0);
}

// The storage of an accumulator which was given `touched` values, `step` points apart.
std::size_t bytes_for(std::size_t touched, std::size_t step) {
  const auto space = IndexSpace::dense(Rect<1>{0, 9'999'999});
  Accumulator accumulator(reduction_op<Sum, double>, *space);
  const double one = 1;
  for (std::size_t i = 0; i < touched; ++i) accumulator.contribute(i * step, &one);
  return accumulator.bytes();
}

TEST(Accumulator, PaysForWhatIsTouchedAlsoWhereItIsScattered) {
  constexpr std::size_t values = 10'000'000;
  // Less than five times their bytes; fifty where each is by itself, and not ten thousand.
  EXPECT_LT(bytes_for(values / 100, 100), values / 100 * 8 * 5);
  EXPECT_LT(bytes_for(values / 10'000, 10'000), values / 10'000 * 8 * 50);
  EXPECT_LT(bytes_for(values / 100, 1), values / 100 * 8 * 2);
}

// A table for the box around them would be larger than all memory.
TEST(Accumulator, PointsFarApartTakeTheRoomOfTheirValues) {
  constexpr Coord count = 10'000, apart = 10'000'000'000'000;
  data::BoxList boxes;
  for (Coord i = 0; i < count; ++i) boxes.push_back({{apart * i, 0, 0}, {apart * i, 0, 0}});
  const auto points = IndexSpace::from_boxes(1, std::move(boxes));
  Accumulator accumulator(reduction_op<Sum, double>, *points);
  const double one = 1;
  for (std::size_t i = 0; i < count; ++i) accumulator.contribute(i, &one);
  EXPECT_LE(accumulator.bytes(), count * 8 + 3 * 4096);
}

TEST(Accumulator, PaysForWhatIsTouched) {
  const auto space = IndexSpace::dense(Rect<1>{0, 100'000'000});
  for (int round = 0; round < 3; ++round) {
    Accumulator accumulator(reduction_op<Sum, double>, *space);
    EXPECT_EQ(accumulator.bytes(), 0U);
    for (std::size_t i = 0; i < 1000; ++i)
      *static_cast<double*>(accumulator.slot(50'000'000 + i)) += 1;
    EXPECT_LE(accumulator.bytes(), 3U * 4096);
    // A recycled table is clean: only what was touched is folded.
    double value = 0;
    accumulator.fold_into(*space, {reinterpret_cast<std::byte*>(&value), {}});
    EXPECT_EQ(value, 1000);
  }
}

TEST(Accumulator, CountsTheLiving) {
  const std::size_t before = Accumulator::live_count();
  const auto space = IndexSpace::dense(Rect<1>{0, 10});
  {
    const auto a = std::make_unique<Accumulator>(reduction_op<Sum, int>, *space);
    const Accumulator b(reduction_op<Sum, int>, *IndexSpace::empty_space(1));
    EXPECT_EQ(Accumulator::live_count(), before + 2);
  }
  EXPECT_EQ(Accumulator::live_count(), before);
}

TEST(Accumulator, ThreadsOfAGangReduceToDifferentPoints) {
  const auto space = IndexSpace::dense(Rect<2>{{2, 3}, {101, 402}});
  Accumulator accumulator(reduction_op<Sum, double>, *space);
  PhysicalArgument argument;
  ArgumentPoints points;
  points.bounds = &space->bounds();
  argument.points = &points;
  argument.accumulator = &accumulator;
  const auto work = [&argument](Coord first) {
    const Reduce<Sum, double, 2> sums(argument);
    for (Coord x = 2; x <= 101; ++x)
      for (Coord y = first; y <= 402; y += 2) sums[{x, y}] += static_cast<double>(1000 * x + y);
  };
  std::thread other(work, 3);
  work(4);
  other.join();
  std::vector<double> out(100 * 400, 0.5);
  accumulator.fold_into(
      *space, {reinterpret_cast<std::byte*>(out.data()) - (2 * 400 + 3) * 8, {400 * 8, 8, 0}});
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t row = 2 + i / 400, column = 3 + i % 400;
    ASSERT_EQ(out[i], 0.5 + static_cast<double>(1000 * row + column));
  }
}

// Several threads fold into the same values, forwards, with gaps, and backwards.
TEST(Accumulator, SharedFoldsLoseNothing) {
  constexpr Coord points = 20'000;
  constexpr int rounds = 20;
  const auto space = IndexSpace::dense(Rect<1>{0, points - 1});
  for (const Coord step : {1, 3, 700, -1, -5}) {
    const auto apart = static_cast<std::size_t>(std::abs(step));
    std::vector<std::int64_t> values(apart * points, 0);
    auto* begin = reinterpret_cast<std::byte*>(values.data());
    std::byte* zero = step > 0 ? begin : begin + -8 * step * (points - 1);
    const auto work = [&](std::int64_t contribution) {
      for (int round = 0; round < rounds; ++round) {
        Accumulator accumulator(reduction_op<Sum, std::int64_t>, *space);
        for (std::size_t i = 0; i < points; ++i)
          *static_cast<std::int64_t*>(accumulator.slot(i)) += contribution;
        accumulator.fold_into(*space, {zero, {8 * step, 0, 0}}, true);
      }
    };
    std::thread one(work, 1), two(work, 1000);
    work(1'000'000);
    one.join();
    two.join();
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], i % apart == 0 ? rounds * 1'001'001 : 0) << "step " << step;
  }
}

}  // namespace
}  // namespace refrain::detail::accumulator_test
