// The failures of an instance's points, against a table per point.

#include "analysis/poison.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <stdexcept>
#include <string>

#include "support/random.hpp"
#include "support/test_budget.hpp"

namespace refrain::analysis::poison_test {
namespace {

constexpr Coord kPoints = 24;

data::IndexSpaceRef some_points(test::Random& random) {
  std::vector<data::BoxPoint> points;
  const int percent = random.pick<int>({0, 10, 50, 100});
  for (Coord p = 0; p < kPoints; ++p)
    if (random.percent(percent)) points.push_back({p, 0, 0});
  return data::IndexSpace::from_points(1, points);
}

exec::FailureRef failure_at(std::uint64_t seq) {
  return exec::Failure::thrown_by({1, seq}, std::make_exception_ptr(std::runtime_error("x")),
                                  [] { return "x"; });
}

TEST(Poison, IsWhatATablePerPointSays) {
  for (test::TestBudget budget{2000, 10}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    test::Random random(budget.seed());
    std::array<exec::FailureRef, 4> failures;
    for (std::uint64_t i = 0; i < failures.size(); ++i) failures[i] = failure_at(i);
    Poison poison;
    std::map<Coord, exec::FailureRef> table;
    for (int step = 0; step < 12; ++step) {
      const data::IndexSpaceRef points = some_points(random);
      const auto failure = failures[static_cast<std::size_t>(random.below(4))];
      const int kind = random.below(3);
      if (kind == 0) poison.write(points, nullptr);
      else if (kind == 1) poison.write(points, failure);
      else poison.fold(points, failure);
      points->for_each_point([&](const data::BoxPoint& p) {
        table[p[0]] = kind == 0   ? nullptr
                      : kind == 1 ? failure
                                  : exec::first_of(table[p[0]], failure);
      });
      const data::IndexSpaceRef asked = some_points(random);
      exec::FailureRef first;
      std::map<Coord, exec::FailureRef> found;
      for (const Poisoned& each : poison.at(asked))
        each.points->for_each_point([&](const data::BoxPoint& p) {
          EXPECT_TRUE(found.emplace(p[0], each.failure).second) << "twice";
        });
      asked->for_each_point([&](const data::BoxPoint& p) {
        EXPECT_EQ(found[p[0]], table[p[0]]) << p[0];
        first = exec::first_of(first, table[p[0]]);
      });
      EXPECT_EQ(poison.first_at(asked), first);
      EXPECT_LE(found.size(), asked->volume());
    }
    if (HasFailure()) return;
  }
}

TEST(Poison, OfNoPointsIsNone) {
  Poison poison;
  const data::IndexSpaceRef none = data::IndexSpace::from_points(1, {});
  const data::IndexSpaceRef all = data::IndexSpace::dense(Rect<1>{0, 9});
  poison.write(none, failure_at(1));
  EXPECT_EQ(poison.first_at(all), nullptr);
  EXPECT_FALSE(exec::Failure::any());
  poison.write(all, failure_at(1));
  EXPECT_EQ(poison.first_at(none), nullptr);
  EXPECT_NE(poison.first_at(all), nullptr);
  poison.write(all, nullptr);
  EXPECT_FALSE(exec::Failure::any()) << "notes of values hold nothing";
}

}  // namespace
}  // namespace refrain::analysis::poison_test
