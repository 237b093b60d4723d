// Operations that move data go through the mover of the memory that they move it to or from.

#include "memory/mover.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "analysis/movement.hpp"
#include "memory/memory_pool.hpp"

namespace refrain::memory::mover_test {
namespace {

using data::IndexSpace;
using data::IndexSpaceRef;

/// Stands for a memory that the CPU does not address: notes what it is asked for, and does it by the CPU after all.
class NotedMover final : public Mover {
 public:
  void copy(const IndexSpace& points, const Placement& target, const Placement& source,
            std::size_t value_size) const override {
    told += "copy ";
    cpu_mover().copy(points, target, source, value_size);
  }
  void fill(const IndexSpace& points, const Placement& target, const void* value,
            std::size_t value_size) const override {
    told += "fill ";
    cpu_mover().fill(points, target, value, value_size);
  }
  void fold(const IndexSpace& points, const Placement& target, detail::Accumulator& contributions,
            bool shared) const override {
    told += shared ? "shared fold " : "fold ";
    cpu_mover().fold(points, target, contributions, shared);
  }
  mutable std::string told;
};

struct Line {
  explicit Line(const Mover& mover) : values(10) {
    std::iota(values.begin(), values.end(), 0.0);
    instance.zero = reinterpret_cast<std::byte*>(values.data());
    instance.stride[0] = sizeof(double);
    instance.mover = &mover;
  }
  std::vector<double> values;
  analysis::Instance instance;
};

TEST(Mover, CopiesGoThroughTheEndThatIsNotTheCpus) {
  const NotedMover device, other;
  Line here(cpu_mover()), also_here(cpu_mover()), there(device), elsewhere(other);
  const auto copy = [&](Line& from, Line& to, Coord first) {
    analysis::CopyPayload{&from.instance, &to.instance, IndexSpace::dense(Rect<1>{first, first}),
                          sizeof(double)}
        .run();
  };
  here.values[2] = 20;
  copy(here, also_here, 2);
  EXPECT_EQ(device.told + other.told, "");
  copy(here, there, 2);
  EXPECT_EQ(device.told, "copy ");
  there.values[3] = 30;
  copy(there, here, 3);
  EXPECT_EQ(device.told, "copy copy ");
  copy(there, elsewhere, 2);  // the target's, of two
  EXPECT_EQ(other.told, "copy ");
  EXPECT_EQ(also_here.values[2], 20);
  EXPECT_EQ(there.values[2], 20);
  EXPECT_EQ(elsewhere.values[2], 20);
  EXPECT_EQ(here.values[3], 30);
}

TEST(Mover, FillsAndFoldsGoThroughTheTargets) {
  const NotedMover device;
  Line there(device);
  const IndexSpaceRef points = IndexSpace::dense(Rect<1>{1, 3});
  analysis::FillValue value;
  value.bytes.resize(sizeof(double));
  const double seven = 7;
  std::memcpy(value.bytes.data(), &seven, sizeof seven);
  analysis::FillPayload{&there.instance, points, {}, sizeof(double)}.run(value);
  const auto contributions =
      std::make_shared<detail::Accumulator>(reduction_op<Sum, double>, *points);
  *static_cast<double*>(contributions->slot(1)) += 1;  // the point 2
  analysis::FoldPayload fold;
  fold.target = &there.instance;
  fold.points = points;
  fold.accumulator = contributions;
  fold.run([](const std::exception_ptr&, const exec::Failure::Who&) { return exec::FailureRef(); });
  EXPECT_EQ(contributions.use_count(), 1) << "it was let go";
  EXPECT_EQ(device.told, "fill fold ");
  EXPECT_EQ(there.values, (std::vector<double>{0, 7, 8, 7, 4, 5, 6, 7, 8, 9}));
}

TEST(Mover, AMemoryHasOne) {
  Memory memory;
  memory.capacity = 4096;
  const NotedMover device;
  EXPECT_EQ(&MemoryPool(memory).mover(), &cpu_mover());
  EXPECT_EQ(&MemoryPool(memory, device).mover(), &device);
}

}  // namespace
}  // namespace refrain::memory::mover_test
