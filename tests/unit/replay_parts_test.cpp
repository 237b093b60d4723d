// The parts of replays, without threads: templates, the watermark.

#include <gtest/gtest.h>

#include <vector>

#include "graph/replay.hpp"
#include "graph/replays.hpp"
#include "graph/template.hpp"

namespace refrain::exec::replay_parts_test {
namespace {

void run_nothing(const void*, Replay&, std::uint32_t, Execution&) {}

TEST(Template, CarriedSuccessorsComeFirst) {
  std::vector<Template::Operation> operations(4);
  operations[2].priority = 1;
  operations[3].wakes = true;
  const Template::Edge inner[] = {{0, 1}, {0, 2}, {1, 2}};
  const Template::Edge carried[] = {{2, 0}, {0, 0}};
  for (Template::Operation& operation : operations) operation.run = run_nothing;
  for (int i : {0, 1, 2}) operations[i].plain = [](const void*) {};
  const Template recorded(operations, inner, carried, false);
  ASSERT_EQ(recorded.size(), 4U);
  EXPECT_TRUE(recorded.has_carried);
  EXPECT_EQ(recorded.sinks, 2U);
  EXPECT_EQ(recorded.sources, std::vector<std::uint32_t>{3});
  EXPECT_EQ(recorded.with_node, std::vector<std::uint32_t>{2});
  const TemplateNode& first = recorded.nodes[0];
  EXPECT_EQ(first.carried(), 1U);
  EXPECT_EQ(first.inner, 2U);
  EXPECT_EQ(first.predecessors, 2U);
  EXPECT_EQ(recorded.inner_predecessors[0], 0U);
  const Successor* at = recorded.successors.data() + first.first;
  EXPECT_EQ(at[0].index(), 0U);
  EXPECT_EQ(at[1].index(), 1U);
  EXPECT_FALSE(at[1].has_node());
  EXPECT_EQ(at[2].index(), 2U);
  EXPECT_TRUE(at[2].has_node());
  EXPECT_EQ(recorded.nodes[1].flags, 0);
  EXPECT_EQ(recorded.nodes[1].head.index(), recorded.successors[recorded.nodes[1].first].index());
  EXPECT_EQ(recorded.nodes[2].flags, kHasNode | kBoundary);
  EXPECT_EQ(recorded.nodes[3].flags, kWakes | kBoundary | kPerReplay);
  EXPECT_EQ(recorded.nodes[3].predecessors, 1U);  // its guard
}

TEST(Template, EverythingIsHeavyInANestedScope) {
  const Template recorded(std::vector<Template::Operation>(3, {.run = run_nothing}), {}, {}, true);
  EXPECT_EQ(recorded.with_node.size(), 3U);
  EXPECT_FALSE(recorded.has_carried);
  EXPECT_EQ(recorded.sinks, 3U);
}

TEST(Watermark, HandsOutWhatWasParked) {
  Watermark watermark;
  Watermark::State state = watermark.load();
  EXPECT_EQ(state.issued(), 0U);
  while (!watermark.park(state, 7)) {}
  state = watermark.load();
  EXPECT_EQ(state.parked(), 7U);
  Watermark::State stale = state;
  EXPECT_EQ(watermark.advance(5, false), 7U);
  EXPECT_FALSE(watermark.park(stale, 9));  // sees what it missed
  EXPECT_EQ(stale.issued(), 5U);
  EXPECT_EQ(stale.parked(), 0U);
  EXPECT_FALSE(stale.left());
  EXPECT_EQ(watermark.advance(5, true), 0U);
  EXPECT_TRUE(watermark.load().left());
  EXPECT_EQ(watermark.load().issued(), 5U);
}

}  // namespace
}  // namespace refrain::exec::replay_parts_test
