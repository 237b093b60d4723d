// The naive analysis on programs whose graph is known by hand.

#include <gtest/gtest.h>

#include <algorithm>

#include "machine/machine.hpp"
#include "support/hand_made.hpp"
#include "support/interpreter.hpp"
#include "support/naive_analysis.hpp"

namespace refrain::test::naive_analysis_test {
namespace {

using exec::NodeKind;

struct Analysed {
  NaiveGraph graph;
  explicit Analysed(const HandMade& make, const char* machine = "emulated:cpus=2",
                    MappingRule::Style style = MappingRule::Style::plain, std::uint64_t seed = 1) {
    const Machine described = machine::load(machine);
    const MappingRule rule(described, style, seed);
    const Program program = resolve(make.plan);
    graph = NaiveAnalysis(program, rule).analyse();
  }
  [[nodiscard]] int count(NodeKind kind) const {
    return static_cast<int>(std::count_if(graph.operations.begin(), graph.operations.end(),
                                          [&](const auto& o) { return o.kind == kind; }));
  }
  /// The number-th operation of a kind.
  [[nodiscard]] int find(NodeKind kind, int number) const {
    for (std::size_t i = 0; i < graph.operations.size(); ++i)
      if (graph.operations[i].kind == kind && number-- == 0) return static_cast<int>(i);
    return -1;
  }
  [[nodiscard]] bool has_edge(int from, int to) const {
    return std::any_of(graph.edges.begin(), graph.edges.end(),
                       [&](const auto& e) { return e.from == from && e.to == to; });
  }
  [[nodiscard]] bool tasks_joined(int from, int to) const {
    return has_edge(find(NodeKind::task, from), find(NodeKind::task, to));
  }
};

HandMade two_blocks() {
  HandMade make;
  make.region(4);
  make.blocks(0, 2);
  return make;
}

TEST(NaiveAnalysis, OneMemoryIsThePairwiseRule) {
  HandMade make = two_blocks();
  make.launch(0, {HandMade::whole(Privilege::write)});            // 0
  make.launch(0, {HandMade::part(0, 0, Privilege::read)});        // 1
  make.launch(0, {HandMade::part(0, 0, Privilege::read)});        // 2
  make.launch(0, {HandMade::part(0, 1, Privilege::read_write)});  // 3
  make.launch(0, {HandMade::whole(Privilege::write)});            // 4
  const Analysed a(make);
  EXPECT_EQ(a.count(NodeKind::task), 5);
  EXPECT_EQ(a.count(NodeKind::fill) + a.count(NodeKind::copy), 0);
  for (int reader = 1; reader <= 3; ++reader) {
    EXPECT_TRUE(a.tasks_joined(0, reader));
    EXPECT_TRUE(a.tasks_joined(reader, 4));
  }
  EXPECT_FALSE(a.tasks_joined(1, 2));
  EXPECT_FALSE(a.tasks_joined(1, 3));
}

TEST(NaiveAnalysis, GroupsOverDisjointPiecesAreIndependent) {
  HandMade make = two_blocks();
  make.launch(2, {HandMade::piece(0, Privilege::write)});
  make.launch(2, {HandMade::piece(0, Privilege::read_write)});
  const Analysed a(make);
  EXPECT_FALSE(a.tasks_joined(0, 1));
  EXPECT_TRUE(a.tasks_joined(0, 2));
  EXPECT_TRUE(a.tasks_joined(1, 3));
  EXPECT_FALSE(a.tasks_joined(0, 3));
}

TEST(NaiveAnalysis, NewRegionsAreFilledWhenTheyAreRead) {
  HandMade make = two_blocks();
  make.launch(0, {HandMade::part(0, 0, Privilege::read)});
  make.launch(0, {HandMade::whole(Privilege::read)});
  const Analysed a(make);
  EXPECT_EQ(a.count(NodeKind::fill), 4);  // one per point, each once
  EXPECT_TRUE(a.has_edge(a.find(NodeKind::fill, 0), a.find(NodeKind::task, 0)));
  EXPECT_FALSE(a.has_edge(a.find(NodeKind::fill, 2), a.find(NodeKind::task, 0)));
  EXPECT_TRUE(a.has_edge(a.find(NodeKind::fill, 2), a.find(NodeKind::task, 1)));
}

TEST(NaiveAnalysis, FillsComeAfterTheReadersOfWhatTheyOverwrite) {
  HandMade make = two_blocks();
  make.launch(0, {HandMade::whole(Privilege::write)});
  make.launch(0, {HandMade::part(0, 0, Privilege::read)});
  make.fill(0);
  make.launch(0, {HandMade::part(0, 0, Privilege::read)});
  const Analysed a(make);
  // Two fills for the last task, four more minus those two for the final read.
  EXPECT_EQ(a.count(NodeKind::fill), 4);
  EXPECT_TRUE(a.has_edge(a.find(NodeKind::task, 1), a.find(NodeKind::fill, 0)));
  EXPECT_TRUE(a.has_edge(a.find(NodeKind::fill, 0), a.find(NodeKind::task, 2)));
}

TEST(NaiveAnalysis, ReducersAreFreeAndFoldsAreOrdered) {
  HandMade make = two_blocks();
  make.launch(0, {HandMade::whole(Privilege::write)});
  make.launch(3, {HandMade::whole(Privilege::reduce)});
  make.launch(0, {HandMade::whole(Privilege::read)});
  const Analysed a(make);
  ASSERT_EQ(a.count(NodeKind::fold), 3);
  for (int point = 0; point < 3; ++point) {
    EXPECT_FALSE(a.tasks_joined(0, point + 1));
    EXPECT_TRUE(a.has_edge(a.find(NodeKind::task, point + 1), a.find(NodeKind::fold, point)));
  }
  EXPECT_TRUE(a.has_edge(a.find(NodeKind::task, 0), a.find(NodeKind::fold, 0)));
  EXPECT_TRUE(a.has_edge(a.find(NodeKind::fold, 0), a.find(NodeKind::fold, 1)));
  EXPECT_TRUE(a.has_edge(a.find(NodeKind::fold, 2), a.find(NodeKind::task, 4)));
}

TEST(NaiveAnalysis, RelaxedFoldsCommute) {
  HandMade make = two_blocks();
  make.launch(0, {HandMade::whole(Privilege::write)});  // task 0
  make.launch(2, {HandMade::relaxed(HandMade::whole({}))});
  make.launch(0, {HandMade::relaxed(HandMade::part(0, 0, {}))});
  make.launch(0, {HandMade::whole(Privilege::reduce, OpKind::max)});  // fold 3
  make.launch(0, {HandMade::relaxed(HandMade::whole({}))});
  make.launch(0, {HandMade::relaxed(HandMade::whole({}), OpKind::min)});
  make.launch(0, {HandMade::part(0, 1, Privilege::read)});  // task 7
  make.launch(2, {HandMade::relaxed(HandMade::whole({}), OpKind::min)});
  const Analysed a(make);
  const auto folds_joined = [&](int from, int to) {
    return a.has_edge(a.find(NodeKind::fold, from), a.find(NodeKind::fold, to));
  };
  ASSERT_EQ(a.count(NodeKind::fold), 8);
  for (int fold = 0; fold < 3; ++fold) {
    EXPECT_TRUE(a.has_edge(a.find(NodeKind::task, 0), a.find(NodeKind::fold, fold)));
    EXPECT_TRUE(folds_joined(fold, 3));
    for (int fellow = 0; fellow < fold; ++fellow) EXPECT_FALSE(folds_joined(fellow, fold));
  }
  EXPECT_TRUE(folds_joined(3, 4));
  EXPECT_TRUE(folds_joined(4, 5));  // another operator
  const int reader = a.find(NodeKind::task, 7);
  EXPECT_TRUE(a.has_edge(a.find(NodeKind::fold, 5), reader));
  for (int fold = 6; fold < 8; ++fold) {
    EXPECT_TRUE(folds_joined(5, fold));  // the reader has closed the group at its points ...
    EXPECT_TRUE(folds_joined(4, fold));  // ... and at the others it goes on
    EXPECT_TRUE(a.has_edge(reader, a.find(NodeKind::fold, fold)));
  }
  EXPECT_FALSE(folds_joined(6, 7));
}

// With several memories an overwrite need not wait for a reader elsewhere: what joins them is the copy.
TEST(NaiveAnalysis, CopiesJoinMemories) {
  HandMade make;
  make.region(1);
  make.launch(0, {HandMade::whole(Privilege::write)});
  make.launch(0, {HandMade::whole(Privilege::read)});
  make.launch(0, {HandMade::whole(Privilege::write)});
  make.plan.tasks.push_back({false, ValueKind::f64, false});
  // The middle task may go to a GPU, the others not.
  make.plan.statements[1].launch.task = make.plan.statements[3].launch.task = 1;
  bool seen = false;
  for (std::uint64_t seed = 1; seed < 60 && !seen; ++seed) {
    const Machine machine = machine::load("emulated:cpus=1,gpus=1");
    const MappingRule rule(machine, MappingRule::Style::spread, seed);
    const auto memory = [&](const char* task, bool gpu) {
      return rule.place(task, 0, 1, gpu, {"f0"}).arguments[0].memory;
    };
    if (memory("t1", false) != 0 || memory("t0", true) == 0) continue;
    seen = true;
    const Analysed a(make, "emulated:cpus=1,gpus=1", MappingRule::Style::spread, seed);
    ASSERT_EQ(a.count(NodeKind::copy), 1);
    const int copy = a.find(NodeKind::copy, 0);
    EXPECT_TRUE(a.has_edge(a.find(NodeKind::task, 0), copy));
    EXPECT_TRUE(a.has_edge(copy, a.find(NodeKind::task, 1)));
    EXPECT_TRUE(a.has_edge(copy, a.find(NodeKind::task, 2)));
    EXPECT_FALSE(a.tasks_joined(1, 2));
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace refrain::test::naive_analysis_test
