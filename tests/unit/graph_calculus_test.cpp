// Figures 4, 5 and 7 of the dynamic tracing paper, literally, and what they do not show.

#include "trace/graph_calculus.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "trace/optimiser.hpp"

namespace refrain::trace::graph_calculus_test {
namespace {

RecordedEdges reduced(const RecordingGraph& graph) {
  return optimise(std::uint32_t(graph.operations.size()), graph.edges).edges;
}

/// T1 reads and writes R and writes S, T2 reads R and S, T3 reads and writes R and reads S.
RecordingGraph figure_2() {
  RecordingGraph graph;
  graph.operations = {{"T1(R^a, S^a)", true},
                      {"copy(R^b, R^a)", false},
                      {"T2(R^b, S^a)", false},
                      {"T3(R^a, S^a)", false}};
  graph.edges.inner = {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}};
  return graph;
}
constexpr const char* summary_2 = "T_summary(R^b, R^a, S^a)";

TEST(GraphCalculus, Figure4) {
  const RecordingGraph graph = figure_2();
  EXPECT_EQ(stages_of(graph, graph.edges, summary_2).recorded,
            "e1 := fence;\n"
            "e2 := op(T1(R^a, S^a), e1);\n"
            "e3 := op(copy(R^b, R^a), e2);\n"
            "e4 := merge(e2, e3);\n"
            "e5 := op(T2(R^b, S^a), e4);\n"
            "e6 := merge(e2, e3);\n"
            "e7 := op(T3(R^a, S^a), e6);\n"
            "e8 := merge(e2, e3, e5, e7);\n"
            "e9 := op(T_summary(R^b, R^a, S^a), e8);\n");
}

TEST(GraphCalculus, Figure5) {
  const RecordingGraph graph = figure_2();
  const RecordedEdges edges = reduced(graph);
  const RecordingStages stages = stages_of(graph, edges, summary_2);
  EXPECT_EQ(stages.reduced,
            "e1 := fence;\n"
            "e2 := op(T1(R^a, S^a), e1);\n"
            "e3 := op(copy(R^b, R^a), e2);\n"
            "e4 := merge(e3);\n"
            "e5 := op(T2(R^b, S^a), e4);\n"
            "e6 := merge(e3);\n"
            "e7 := op(T3(R^a, S^a), e6);\n"
            "e8 := merge(e5, e7);\n"
            "e9 := op(T_summary(R^b, R^a, S^a), e8);\n");
  EXPECT_EQ(stages.propagated,
            "e1 := fence;\n"
            "e2 := op(T1(R^a, S^a), e1);\n"
            "e3 := op(copy(R^b, R^a), e2);\n"
            "e5 := op(T2(R^b, S^a), e3);\n"
            "e7 := op(T3(R^a, S^a), e3);\n"
            "e8 := merge(e5, e7);\n"
            "e9 := op(T_summary(R^b, R^a, S^a), e8);\n");
}

/// A reads and writes, B reads.
RecordingGraph figure_7() {
  RecordingGraph graph;
  graph.operations = {{"A(R^a)", true}, {"A(S^a)", true}, {"B(R^a)", false}, {"B(S^a)", false}};
  graph.edges.inner = {{0, 2}, {1, 3}};
  graph.edges.carried = {{0, 0}, {2, 0}, {1, 1}, {3, 1}, {0, 2}, {1, 3}};
  graph.idempotent = true;
  return graph;
}

TEST(GraphCalculus, Figure7b) {
  const RecordingGraph graph = figure_7();
  const RecordedEdges edges = reduced(graph);
  EXPECT_EQ(stages_of(graph, edges, "T_s(R^a, S^a)").propagated,
            "e1 := fence;\n"
            "e2 := op(A(R^a), e1);\n"
            "e3 := op(A(S^a), e1);\n"
            "e4 := op(B(R^a), e2);\n"
            "e5 := op(B(S^a), e3);\n"
            "e6 := merge(e4, e5);\n"
            "e7 := op(T_s(R^a, S^a), e6);\n");
}

// The paper calls the new merges e_A1, e_A2, e_B1 and e_B2.
TEST(GraphCalculus, Figure7e) {
  const RecordingGraph graph = figure_7();
  const RecordedEdges edges = reduced(graph);
  EXPECT_EQ(stages_of(graph, edges, "T_s(R^a, S^a)").unrolled,
            "e8' := merge(e2, e4);\n"
            "e2' := op(A(R^a), e8');\n"
            "e9' := merge(e3, e5);\n"
            "e3' := op(A(S^a), e9');\n"
            "e10' := merge(e2', e2);\n"
            "e4' := op(B(R^a), e10');\n"
            "e11' := merge(e3', e3);\n"
            "e5' := op(B(S^a), e11');\n"
            "e6' := merge(e4', e5');\n"
            "e7' := op(T_s(R^a, S^a), e6');\n");
}

TEST(GraphCalculus, Figure7g) {
  const RecordingGraph graph = figure_7();
  const RecordedEdges edges = reduced(graph);
  EXPECT_EQ(stages_of(graph, edges, "T_s(R^a, S^a)").repeatable,
            "// only in the first replay:\n"
            "e4 := fence;\n"
            "e5 := e4;\n"
            "\n"
            "e2' := op(A(R^a), e4);\n"
            "e3' := op(A(S^a), e5);\n"
            "e4' := op(B(R^a), e2');\n"
            "e5' := op(B(S^a), e3');\n"
            "e4 := e4';\n"
            "e5 := e5';\n"
            "\n"
            "// only in the last replay:\n"
            "e6' := merge(e4', e5');\n"
            "e7' := op(T_s(R^a, S^a), e6');\n");
}

// B reads what no task of the trace writes: in every replay it waits for what was there before.
TEST(GraphCalculus, WhatIsOnlyReadWaitsForTheFence) {
  RecordingGraph graph;
  graph.operations = {{"A(R^a)", true}, {"B(S^a)", true}, {"C(R^a, S^a)", true}};
  graph.edges.inner = {{0, 2}};
  graph.edges.carried = {{0, 0}, {2, 0}, {2, 2}};
  const RecordedEdges edges = reduced(graph);
  const RecordingStages stages = stages_of(graph, edges, "T_s(R^a, S^a)");
  EXPECT_EQ(stages.recorded,
            "e1 := fence;\n"
            "e2 := op(A(R^a), e1);\n"
            "e3 := op(B(S^a), e1);\n"
            "e4 := merge(e1, e2);\n"
            "e5 := op(C(R^a, S^a), e4);\n"
            "e6 := merge(e2, e3, e5);\n"
            "e7 := op(T_s(R^a, S^a), e6);\n");
  EXPECT_EQ(stages.repeatable,
            "// only in the first replay:\n"
            "e1 := fence;\n"
            "e5 := e1;\n"
            "\n"
            "e2' := op(A(R^a), e5);\n"
            "e3' := op(B(S^a), e1);\n"
            "e5' := op(C(R^a, S^a), e2');\n"
            "e5 := e5';\n"
            "\n"
            "// only in the last replay:\n"
            "e6' := merge(e3', e5');\n"
            "e7' := op(T_s(R^a, S^a), e6');\n");
}

TEST(GraphCalculus, ARecordingIsPrintedInStages) {
  RecordingGraph graph;
  graph.operations = {{"T(R^a)", true}};
  const RecordingText about{"step", "stencil.cpp:12", "  R: a\n", "  R: a\n", "T_summary(R^a)"};
  const std::string once =
      "e1 := fence;\n"
      "e2 := op(T(R^a), e1);\n"
      "e3 := op(T_summary(R^a), e2);\n";
  const std::string expected =
      "trace step, stencil.cpp:12\n"
      "precondition:\n"
      "  R: a\n"
      "postcondition:\n"
      "  R: a\n"
      "\n-- recorded\n\n" +
      once + "\n-- after transitive reduction\n\n" + once + "\n-- after copy propagation\n\n" +
      once;
  std::ostringstream out;
  print(out, about, graph, graph.edges);
  EXPECT_EQ(out.str(), expected);

  graph.edges.carried = {{0, 0}};
  graph.idempotent = true;
  out.str("");
  print(out, about, graph, graph.edges);
  EXPECT_EQ(out.str(), expected +
                           "\n-- unrolled once\n\n"
                           "e2' := op(T(R^a), e2);\n"
                           "e3' := op(T_summary(R^a), e2');\n"
                           "\n-- final, for any number of replays\n\n"
                           "// only in the first replay:\n"
                           "e2 := fence;\n"
                           "\n"
                           "e2' := op(T(R^a), e2);\n"
                           "e2 := e2';\n"
                           "\n"
                           "// only in the last replay:\n"
                           "e3' := op(T_summary(R^a), e2');\n");
}

TEST(GraphCalculus, AnEmptyTrace) {
  const RecordingGraph graph;
  EXPECT_EQ(stages_of(graph, graph.edges, "T_summary()").recorded,
            "e1 := fence;\n"
            "e2 := op(T_summary(), e1);\n");
}

}  // namespace
}  // namespace refrain::trace::graph_calculus_test
