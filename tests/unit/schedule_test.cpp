// Schedules against the edges of their templates: whatever the cut, and whatever lane takes the next step.

#include "graph/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "support/test_budget.hpp"

namespace refrain::exec::schedule_test {
namespace {

using Edges = std::vector<Template::Edge>;

struct Graph {
  std::vector<Template::Operation> operations;
  Edges inner, carried;
  [[nodiscard]] Template recorded() const { return {operations, inner, carried, false}; }
};

Graph random_graph(test::Random& random) {
  static const NodeInfo infos[3]{};
  Graph graph;
  const int count = random.between(1, 16);
  for (int i = 0; i < count; ++i) {
    Template::Operation operation;
    operation.run = [](const void*, Replay&, std::uint32_t, Execution&) {};
    operation.info = &infos[random.between(0, 2)];
    graph.operations.push_back(operation);
  }
  const int density = random.between(2, 40);
  for (std::uint32_t from = 0; from < graph.operations.size(); ++from)
    for (std::uint32_t to = 0; to < graph.operations.size(); ++to) {
      if (from < to && random.percent(density)) graph.inner.push_back({from, to});
      if (random.percent(density / 2)) graph.carried.push_back({from, to});
    }
  return graph;
}

/// Takes steps of the lanes in a random order, as far as their waits allow, and checks each against all edges.
void run_and_check(const Graph& graph, const Schedule& schedule, std::uint32_t replays,
                   test::Random& random) {
  struct At {
    std::uint32_t replay = 1, step = 0;
  };
  std::vector<At> lanes(schedule.lists.size());
  std::vector<std::uint32_t> done(graph.operations.size(), 0);  // the last replay that did it
  const auto can_go_on = [&](std::uint32_t lane) {
    const Schedule::List& list = schedule.lists[lane];
    const auto [replay, step] = lanes[lane];
    if (replay > replays || list.steps.empty()) return false;
    for (std::uint32_t w = step > 0 ? list.steps[step - 1].waits : 0; w < list.steps[step].waits;
         ++w) {
      const Schedule::Wait& wait = list.waits[w];
      const At& other = lanes[wait.lane];
      const std::uint32_t needed = replay - wait.carried;
      EXPECT_TRUE(schedule.lists[wait.lane].steps[wait.steps - 1].signals);
      if (other.replay < needed || (other.replay == needed && other.step < wait.steps))
        return false;
    }
    return true;
  };
  const std::size_t all = graph.operations.size() * replays;
  for (std::size_t ran = 0; ran < all; ++ran) {
    std::vector<std::uint32_t> able;
    for (std::uint32_t lane = 0; lane < lanes.size(); ++lane)
      if (can_go_on(lane)) able.push_back(lane);
    ASSERT_FALSE(able.empty()) << "the lanes wait for each other";
    const std::uint32_t lane =
        able[static_cast<std::size_t>(random.between(0, static_cast<int>(able.size()) - 1))];
    At& at = lanes[lane];
    const std::uint32_t index = schedule.lists[lane].steps[at.step].index;
    for (const auto& edge : graph.inner)
      if (edge.to == index) { EXPECT_GE(done[edge.from], at.replay); }
    for (const auto& edge : graph.carried)
      if (edge.to == index) { EXPECT_GE(done[edge.from], at.replay - 1); }
    EXPECT_EQ(done[index], at.replay - 1);
    done[index] = at.replay;
    if (++at.step == schedule.lists[lane].steps.size()) at = {at.replay + 1, 0};
  }
}

TEST(Schedule, KeepsAllEdgesWhateverTheCut) {
  for (test::TestBudget budget{2000}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    test::Random random(budget.seed());
    const Graph graph = random_graph(random);
    const Template recorded = graph.recorded();
    const auto lanes = static_cast<std::uint32_t>(random.between(1, 4));
    std::vector<std::uint32_t> cut;
    for (std::uint32_t i = 0; i < recorded.size(); ++i)
      cut.push_back(static_cast<std::uint32_t>(random.between(0, static_cast<int>(lanes) - 1)));
    if (random.percent(50)) {
      std::vector<std::uint64_t> ns;
      for (std::uint32_t i = 0; i < recorded.size(); ++i)
        ns.push_back(static_cast<std::uint64_t>(random.between(0, 1000)));
      cut = Schedule::cut(recorded, ns, static_cast<std::uint64_t>(random.between(0, 1000)), lanes);
      for (const std::uint32_t lane : cut) ASSERT_LT(lane, lanes);
    }
    run_and_check(graph, Schedule(recorded, cut, lanes), 5, random);
    if (testing::Test::HasFailure()) return;
  }
}

/// So many steps of a stencil: point i of each comes after its neighbours in the one before.
Graph stencil(std::uint32_t width, std::uint32_t steps) {
  Graph graph;
  static const NodeInfo info{};
  Template::Operation operation;
  operation.run = [](const void*, Replay&, std::uint32_t, Execution&) {};
  operation.info = &info;
  graph.operations.assign(std::size_t{width} * steps, operation);
  for (std::uint32_t step = 0; step < steps; ++step)
    for (std::uint32_t i = 0; i < width; ++i)
      for (std::uint32_t j = i > 0 ? i - 1 : 0; j < std::min(i + 2, width); ++j) {
        if (step > 0) graph.inner.push_back({(step - 1) * width + j, step * width + i});
        else graph.carried.push_back({(steps - 1) * width + j, i});
      }
  return graph;
}

TEST(Schedule, PointsOfGroupsAreDealtOutInBlocks) {
  const Template recorded = stencil(8, 3).recorded();
  const std::vector<std::uint64_t> ns(recorded.size(), 1000);
  const std::vector<std::uint32_t> cut = Schedule::cut(recorded, ns, 0, 2);
  for (std::uint32_t i = 0; i < recorded.size(); ++i) EXPECT_EQ(cut[i], i % 8 / 4) << i;
  // Of each step the lane waits once, for the neighbour of its block.
  const Schedule schedule(recorded, cut, 2);
  EXPECT_EQ(schedule.lists[0].waits.size(), 3U);
  EXPECT_EQ(schedule.lists[1].waits.size(), 3U);
  EXPECT_EQ(std::ranges::count(schedule.lists[0].steps, true, &Schedule::Step::signals), 3);
}

TEST(Schedule, TheOwnerGetsLessByWhatItIssues) {
  const Template recorded = stencil(8, 1).recorded();
  const std::vector<std::uint64_t> ns(8, 100);
  const auto of_owner = [&](std::uint64_t issue_ns) {
    return std::ranges::count(Schedule::cut(recorded, ns, issue_ns, 2), 0U);
  };
  EXPECT_EQ(of_owner(0), 4);
  EXPECT_EQ(of_owner(400), 2);
  EXPECT_EQ(of_owner(1000), 0);
}

TEST(Schedule, OperationsAloneStayWithWhatTheyComeAfter) {
  static const NodeInfo infos[2]{};
  Graph graph;  // two chains, whose operations come in turns
  for (std::uint32_t i = 0; i < 20; ++i) {
    Template::Operation operation;
    operation.run = [](const void*, Replay&, std::uint32_t, Execution&) {};
    operation.info = &infos[i % 2];
    graph.operations.push_back(operation);
    if (i >= 2) graph.inner.push_back({i - 2, i});
  }
  graph.carried = {{18, 0}, {19, 1}};
  const Template recorded = graph.recorded();
  const std::vector<std::uint64_t> ns(20, 1000);
  const Schedule schedule(recorded, Schedule::cut(recorded, ns, 0, 2), 2);
  EXPECT_EQ(schedule.lists[0].steps.size(), 10U);
  EXPECT_TRUE(schedule.lists[0].waits.empty());
  EXPECT_TRUE(schedule.lists[1].waits.empty());
}

TEST(Schedule, ForetellsHowLongAReplayTakes) {
  static const NodeInfo info{};
  Graph graph;
  Template::Operation operation;
  operation.run = [](const void*, Replay&, std::uint32_t, Execution&) {};
  operation.info = &info;
  graph.operations.assign(2, operation);
  const std::vector<std::uint64_t> ns{1000, 1000};
  const std::vector<std::uint32_t> apart{0, 1}, together{0, 0};
  const auto time = [&](const std::vector<std::uint32_t>& cut, std::uint64_t issue_ns) {
    return Schedule::time_of(graph.recorded(), cut, ns, issue_ns, 2);
  };
  graph.carried = {{0, 0}, {1, 1}};  // two chains
  EXPECT_EQ(time(apart, 0), 1000 + Schedule::kStep);
  EXPECT_EQ(time(together, 0), 2 * (1000 + Schedule::kStep));
  EXPECT_EQ(time(apart, 300), 1300 + Schedule::kStep) << "the owner issues beside its work";
  graph.carried = {{0, 1}, {1, 0}};  // each comes after the other's in the replay before
  EXPECT_EQ(time(apart, 0), 1000 + Schedule::kStep + Schedule::kHandOver);
}

}  // namespace
}  // namespace refrain::exec::schedule_test
