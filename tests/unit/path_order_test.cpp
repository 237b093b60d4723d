// The order of successors, against all paths.

#include "graph/template.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "support/test_budget.hpp"

namespace refrain::exec::path_order_test {
namespace {

using Edges = std::vector<Template::Edge>;

std::vector<Template::Operation> operations(std::uint32_t count) {
  Template::Operation operation;
  operation.run = [](const void*, Replay&, std::uint32_t, Execution&) {};
  return std::vector(count, operation);
}

std::vector<std::uint32_t> successors_of(const PathOrder& order, std::uint32_t index) {
  const TemplateNode& node = order.nodes()[index];
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < node.carried() + node.inner; ++i)
    found.push_back(order.successors()[node.first + i].index());
  return found;
}

/// What is asked for no time.
std::uint64_t no_time() { return 0; }

/// Four replays are timed, in which operations take so long; then comes another one.
void learn(Durations& durations, PathOrder& order, const std::vector<std::uint64_t>& ns) {
  for (std::uint32_t replay = 1; replay <= 4; ++replay) {
    ASSERT_TRUE(durations.times(replay, no_time));
    for (std::uint32_t i = 0; i < ns.size(); ++i)
      durations.took(i, ns[i] + (replay == 3 ? 0 : 1000));  // held up
  }
  EXPECT_FALSE(durations.times(5, no_time));
  EXPECT_FALSE(durations.known(4));  // the last of them may still run
  EXPECT_TRUE(durations.known(5));
  order.order();
}

TEST(PathOrder, TheLongestPathFirst) {
  const Edges inner{{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}};
  const Template recorded(operations(5), inner, {}, false);
  Durations durations(recorded);
  PathOrder order(recorded, durations);
  EXPECT_EQ(successors_of(order, 0), (std::vector<std::uint32_t>{1, 2, 3}));
  learn(durations, order, {1, 10, 40, 30, 7});
  EXPECT_EQ(successors_of(order, 0), (std::vector<std::uint32_t>{2, 3, 1}));
  EXPECT_EQ(order.nodes()[0].head.index(), 2u);
  EXPECT_EQ(recorded.successors[recorded.nodes[0].first].index(), 1u);  // as it was
}

TEST(PathOrder, PathsGoOnInTheNextReplay) {
  // Of two operations as long, one holds up more in the next replay.
  const Edges inner{{0, 1}, {0, 2}}, carried{{1, 1}, {2, 0}};
  const Template recorded(operations(3), inner, carried, false);
  Durations durations(recorded);
  PathOrder order(recorded, durations);
  learn(durations, order, {50, 10, 10});
  EXPECT_EQ(successors_of(order, 0), (std::vector<std::uint32_t>{2, 1}));
}

TEST(PathOrder, AsRecordedWherePathsAreAboutAsLong) {
  const Template recorded(operations(5), Edges{{0, 1}, {0, 2}, {0, 3}, {0, 4}}, {}, false);
  Durations durations(recorded);
  PathOrder order(recorded, durations);
  learn(durations, order, {100, 20, 30, 90, 10});
  EXPECT_EQ(successors_of(order, 0), (std::vector<std::uint32_t>{3, 1, 2, 4}));
}

/// Eight replays are timed as a whole before, in which each of these operations takes `ns`. Which of `replays` are timed.
std::vector<std::uint32_t> timed_of(std::uint32_t replays, std::uint64_t ns) {
  const Template recorded(operations(10), Edges{}, {}, false);
  Durations durations(recorded, 16);
  std::vector<std::uint32_t> timed;
  for (std::uint32_t replay = 1; replay <= replays; ++replay)
    if (durations.times(replay, [&] { return replay * 10 * ns; })) timed.push_back(replay);
  return timed;
}

TEST(Durations, OfEmptyOperationsAreNotWorthIt) {
  EXPECT_EQ(timed_of(1000, 100), (std::vector<std::uint32_t>{26, 27, 28, 29}));
  EXPECT_TRUE(timed_of(1000, 30).empty());
}

TEST(Durations, OfOperationsThatHaveBecomeLongerAreTakenLater) {
  const Template recorded(operations(10), Edges{}, {}, false);
  Durations durations(recorded, 16);
  std::uint64_t now = 1;
  std::vector<std::uint32_t> timed;
  for (std::uint32_t replay = 1; replay <= 1000; ++replay, now += replay < 100 ? 10 : 10'000)
    if (durations.times(replay, [&] { return now; })) timed.push_back(replay);
  EXPECT_EQ(timed, (std::vector<std::uint32_t>{410, 411, 412, 413}));
}

TEST(Durations, AreNotTakenAgainWhereNumbersEnd) {
  const Template recorded(operations(10), Edges{}, {}, false);
  Durations durations(recorded, 16);
  durations.forget_for_long(1U << 29);
  for (std::uint32_t replay = 1U << 29; replay < (1U << 29) + 100; ++replay)
    EXPECT_FALSE(durations.times(replay, no_time));
  durations.took(0, 1);
  EXPECT_FALSE(durations.known(UINT32_MAX));
}

TEST(PathOrder, NothingIsTimedTwice) {
  const Template recorded(operations(2), Edges{{0, 1}}, {}, false);
  Durations durations(recorded);
  PathOrder order(recorded, durations);
  learn(durations, order, {1, 1});
  EXPECT_FALSE(durations.times(7, no_time));
}

TEST(PathOrder, IsThatOfAllPaths) {
  for (test::TestBudget budget{500}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    test::Random random(budget.seed());
    const int count = random.between(1, 12);
    Edges inner, carried;
    for (int from = 0; from < count; ++from)
      for (int to = 0; to < count; ++to) {
        const Template::Edge edge{static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)};
        if (from < to && random.percent(30)) inner.push_back(edge);
        if (random.percent(10)) carried.push_back(edge);
      }
    const Template recorded(operations(static_cast<std::uint32_t>(count)), inner, carried, false);
    std::vector<std::uint64_t> ns;
    for (int i = 0; i < count; ++i) ns.push_back(static_cast<std::uint64_t>(random.between(1, 5)));
    const std::uint64_t about = *std::ranges::max_element(ns) / 2 + 1;

    const std::function<std::uint64_t(std::uint32_t, int)> longest = [&](std::uint32_t at,
                                                                         int replays) {
      std::uint64_t behind = 0;
      for (const auto& edge : inner)
        if (edge.from == at) behind = std::max(behind, longest(edge.to, replays));
      for (const auto& edge : carried)
        if (replays > 0 && edge.from == at)
          behind = std::max(behind, longest(edge.to, replays - 1));
      return ns[at] + behind;
    };
    Durations durations(recorded);
    PathOrder order(recorded, durations);
    learn(durations, order, ns);
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(count); ++i) {
      EXPECT_EQ(order.remaining(false)[i], longest(i, 0));
      EXPECT_EQ(order.remaining(true)[i], longest(i, 1));
      const std::vector<std::uint32_t> found = successors_of(order, i);
      const std::uint32_t cut = order.nodes()[i].carried();
      for (std::uint32_t s = 1; s < found.size(); ++s) {
        if (s != cut) {
          const int replays = s < cut ? 0 : 1;
          EXPECT_GE(longest(found[s - 1], replays) / about, longest(found[s], replays) / about);
        }
      }
      std::vector<std::uint32_t> recorded_successors;
      for (std::uint32_t s = 0; s < found.size(); ++s)
        recorded_successors.push_back(recorded.successors[recorded.nodes[i].first + s].index());
      EXPECT_TRUE(
          std::is_permutation(found.begin(), found.begin() + cut, recorded_successors.begin()));
      EXPECT_TRUE(
          std::is_permutation(found.begin() + cut, found.end(), recorded_successors.begin() + cut));
    }
  }
}

}  // namespace
}  // namespace refrain::exec::path_order_test
