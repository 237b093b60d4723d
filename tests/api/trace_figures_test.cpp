// The figures of the dynamic tracing paper, as recordings of programs. Memories a, b and c are its nodes.
//
// This runtime differs from the paper on purpose, and so do these texts:
// - An operation of a trace waits for those who use its own data before the trace, not for a fence. So `fence`
//   appears wherever an operation does, also where it waits for another one of the trace as well.
// - The precondition is an equality, on all that the trace touches (docs/tracing.md, rule 1).

#include <gtest/gtest.h>

#include <set>

#include "runtime/context_impl.hpp"
#include "support/judge.hpp"
#include "support/recordings.hpp"

namespace refrain::test::trace_figures_test {
namespace {

constexpr Field<double> A{"A"}, R{"R"}, S{"S"};

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

// --- Figures 2, 4, 5 and 6 ---------------------------------------------------------------------------

const Task set{"set", [](Write<double> r, Write<double> s) {
                 r[0] = 1;
                 s[0] = 2;
               }};
const Task T1{"T1", [](ReadWrite<double> r, Write<double> s) {
                r[0] += 1;
                s[0] = r[0];
              }};
const Task T2{"T2", [](Read<double>, Read<double>) {}};
const Task T3{"T3", [](ReadWrite<double> r, Read<double> s) { r[0] += s[0]; }};
/// T2 again, which the mapper puts elsewhere.
const Task T2c{"T2c", [](Read<double>, Read<double>) {}};

const PlacedMapper::Places figure_2{{"T2", {"ba"}}, {"T2c", {"ca"}}};

struct Example {
  Region<1> r, s;
  explicit Example(Context& ctx) : r(ctx.region(Rect1{0, 0}, R)), s(ctx.region(Rect1{0, 0}, S)) {
    ctx.launch(set, r[R], s[S]);
  }
  void calls(Context& ctx) const {
    ctx.launch(T1, r[R], s[S]);
    ctx.launch(T2, r[R], s[S]);
    ctx.launch(T3, r[R], s[S]);
  }
};

TEST(Figures, Figure2AndItsRecordingInFigure4) {
  const Trace trace{"figure 2"};
  const RecordedRun run = record(figure_2, [&](Context& ctx, PlacedMapper&) {
    const Example example(ctx);
    ctx.trace(trace, [&] { example.calls(ctx); });
  });
  ASSERT_EQ(run.traces.size(), 1U);
  const PrintedTrace& printed = run.traces[0];
  EXPECT_EQ(printed.title.find("trace figure 2, trace_figures_test.cpp:"), 0U) << printed.title;
  // The paper's copy waits for T1 alone; here it says that it comes after who has used R^b before.
  EXPECT_EQ(printed.recorded(),
            "e1 := fence;\n"
            "e2 := op(T1(R^a, S^a), e1);\n"
            "e3 := merge(e1, e2);\n"
            "e4 := op(copy(R^b, R^a), e3);\n"
            "e5 := merge(e2, e4);\n"
            "e6 := op(T2(R^b, S^a), e5);\n"
            "e7 := merge(e2, e4);\n"
            "e8 := op(T3(R^a, S^a), e7);\n"
            "e9 := merge(e2, e4, e6, e8);\n"
            "e10 := op(T_summary(R^a, S^a, R^b), e9);\n");
  // The paper's precondition is R^a: S is not read before it is written.
  EXPECT_EQ(printed.precondition, "R -> R^a\nS -> S^a\n");
  EXPECT_EQ(printed.postcondition, "R -> R^a\nS -> S^a\n");
}

TEST(Figures, Figure5) {
  const Trace trace{"figure 5"};
  const RecordedRun run = record(figure_2, [&](Context& ctx, PlacedMapper&) {
    const Example example(ctx);
    ctx.trace(trace, [&] { example.calls(ctx); });
  });
  ASSERT_EQ(run.traces.size(), 1U);
  EXPECT_EQ(run.traces[0].stages.at("after transitive reduction"),
            "e1 := fence;\n"
            "e2 := op(T1(R^a, S^a), e1);\n"
            "e3 := merge(e2);\n"
            "e4 := op(copy(R^b, R^a), e3);\n"
            "e5 := merge(e4);\n"
            "e6 := op(T2(R^b, S^a), e5);\n"
            "e7 := merge(e4);\n"
            "e8 := op(T3(R^a, S^a), e7);\n"
            "e9 := merge(e6, e8);\n"
            "e10 := op(T_summary(R^a, S^a, R^b), e9);\n");
  EXPECT_EQ(run.traces[0].propagated(),
            "e1 := fence;\n"
            "e2 := op(T1(R^a, S^a), e1);\n"
            "e4 := op(copy(R^b, R^a), e2);\n"
            "e6 := op(T2(R^b, S^a), e4);\n"
            "e8 := op(T3(R^a, S^a), e4);\n"
            "e9 := merge(e6, e8);\n"
            "e10 := op(T_summary(R^a, S^a, R^b), e9);\n");
}

// T2(R^c, S^a) before the second appearance makes R^c valid. With the paper's precondition the recording of
// the first one is replayed; here there is another, equal but for the precondition, which is replayed from
// the third appearance on. After each, R^c is invalid, and T2(R^c, S^a) copies again.
TEST(Figures, Figure6) {
  const Trace trace{"figure 6"};
  std::vector<std::uint64_t> copies, recordings;
  const RecordedRun run = record(figure_2, [&](Context& ctx, PlacedMapper&) {
    const Example example(ctx);
    for (int i = 0; i < 4; ++i) {
      const Counters before = ctx.impl().owner().totals().counters();
      ctx.trace(trace, [&] { example.calls(ctx); });
      ctx.launch(T2c, example.r[R], example.s[S]);
      const Counters now = ctx.impl().owner().totals().counters();
      copies.push_back(now.copies - before.copies);
      recordings.push_back(now.recordings);
    }
  });
  EXPECT_EQ(copies, (std::vector<std::uint64_t>{2, 2, 2, 2}));
  EXPECT_EQ(recordings, (std::vector<std::uint64_t>{1, 2, 2, 2}));
  EXPECT_EQ(run.counters.replays, 2U);
  EXPECT_EQ(run.counters.early_exits, 0U);
  ASSERT_EQ(run.traces.size(), 2U);
  EXPECT_EQ(run.traces[1].precondition, "R -> R^a, R^c\nS -> S^a\n");
  EXPECT_EQ(run.traces[1].postcondition, run.traces[0].postcondition);
  EXPECT_EQ(run.traces[1].stages.at("recorded"), run.traces[0].stages.at("recorded"));
}

/// Names and predecessors of all operations, in launch order. The names are the context's: taken while it is
/// there.
struct Graph {
  std::vector<std::string> names;
  std::vector<std::set<std::size_t>> before;
};

Graph graph_of(const ContextLog& log) {
  Graph graph;
  for (const analysis::LoggedOperation& operation : log.operations) {
    const bool copy = operation.kind == exec::NodeKind::copy;
    graph.names.push_back(copy ? "copy to " +
                                     std::string(1, static_cast<char>('a' + operation.target))
                               : operation.info->name);
  }
  graph.before.resize(graph.names.size());
  for (const ContextLog::Edge& edge : log.edges)
    graph.before[static_cast<std::size_t>(edge.to)].insert(static_cast<std::size_t>(edge.from));
  return graph;
}

// Steps 2 and 3: what is replayed waits for the users of R^a, R^b and S^a and for nobody else, and what comes
// after waits for the operations that were replayed: there is neither a fence nor T_summary.
TEST(Figures, Figure6InTheTaskGraph) {
  const Task other{"other", [](ReadWrite<double> x) { x[0] += 1; }};
  const ScratchFile machine("machine.json");
  machine.write(three_memories());
  Options options;
  options.workers = 1;
  options.machine = machine.path();
  Runtime runtime(options);
  runtime.set_mapper(std::make_unique<PlacedMapper>(figure_2));
  GraphRecorder log;
  runtime.impl().listeners().add(log, {runtime::Events::graph});
  Graph graph;
  runtime.run([&](Context& ctx) {
    const Trace trace{"figure 6"};
    const Example example(ctx);
    const auto elsewhere = ctx.region(Rect1{0, 0}, A);
    for (int i = 0; i < 3; ++i) {
      ctx.trace(trace, [&] { example.calls(ctx); });
      ctx.launch(T2c, example.r[R], example.s[S]);
      ctx.launch(other, elsewhere[A]);
    }
    graph = graph_of(log.log_of(nullptr));
  });
  EXPECT_EQ(runtime.counters().replays, 1U);
  const std::size_t first = graph.names.size() - 7;  // of the replay
  std::string text;
  for (std::size_t i = first; i < graph.names.size(); ++i) {
    text += std::to_string(i) + " " + graph.names[i] + ":";
    for (const std::size_t from : graph.before[i]) text += " " + std::to_string(from);
    text += "\n";
  }
  // Before it are 11: T2, 12: T3, 13: copy to c, 14: T2c, 15: other.
  EXPECT_EQ(text,
            "16 T1: 11 12 13 14\n"
            "17 copy to b: 11 16\n"
            "18 T2: 17\n"
            "19 T3: 17\n"
            "20 copy to c: 14 19\n"
            "21 T2c: 16 20\n"
            "22 other: 15\n");
}

// --- Figure 1 ----------------------------------------------------------------------------------------

const Task F{"F", [](ReadWrite<double> x) { x[x.domain().bounds().lo] += 1; }};
const Task G{"G", [](ReadWrite<double> x) { x[x.domain().bounds().lo] *= 2; }};

TEST(Figures, Figure1) {
  const Trace trace{"loop"};
  constexpr int k = 6, last = 10;
  std::vector<std::uint64_t> recordings(last + 1), copies(last + 1);
  const auto h = Projection::function("h", [](const Point<3>& i, std::uint64_t) {
    return Point<3>{1 - i[0], 0, 0};
  });
  const RecordedRun run =
      record({{"F", {"a", "b"}}, {"G", {"a", "b"}}}, [&](Context& ctx, PlacedMapper& mapper) {
        const auto both = ctx.region(Rect1{0, 1}, A);
        const auto one = ctx.blocks(both, 2);
        const auto iteration = [&] {
          ctx.launch(F, 2, one[A]);        // F(A[0]^a), F(A[1]^b)
          ctx.launch(G, 2, one.at(h)[A]);  // G(A[1]^a), G(A[0]^b)
        };
        iteration();
        for (int t = 1; t <= last; ++t) {
          if (t == k) mapper.place("G", {"b", "a"});  // G(A[1]^b), G(A[0]^a)
          const Counters before = ctx.impl().owner().totals().counters();
          ctx.trace(trace, iteration);
          const Counters now = ctx.impl().owner().totals().counters();
          recordings[static_cast<std::size_t>(t)] = now.recordings - before.recordings;
          copies[static_cast<std::size_t>(t)] = now.copies - before.copies;
        }
      });
  // Recorded are traces 1, k and k + 1, the others replayed.
  EXPECT_EQ(recordings, (std::vector<std::uint64_t>{0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0}));
  EXPECT_EQ(copies, (std::vector<std::uint64_t>{0, 4, 4, 4, 4, 4, 2, 0, 0, 0, 0}));
  EXPECT_EQ(run.counters.replays, 7U);
  ASSERT_EQ(run.traces.size(), 3U);
  // Figure 1c: two chains of a copy, F, a copy and G.
  EXPECT_EQ(run.traces[0].propagated(),
            "e1 := fence;\n"
            "e2 := op(copy(A[0]^a, A[0]^b), e1);\n"
            "e3 := op(F(A[0]^a), e2);\n"
            "e4 := op(copy(A[1]^b, A[1]^a), e1);\n"
            "e5 := op(F(A[1]^b), e4);\n"
            "e7 := op(copy(A[1]^a, A[1]^b), e5);\n"
            "e8 := op(G(A[1]^a), e7);\n"
            "e10 := op(copy(A[0]^b, A[0]^a), e3);\n"
            "e11 := op(G(A[0]^b), e10);\n"
            "e12 := merge(e8, e11);\n"
            "e13 := op(T_summary(A^b, A^a), e12);\n");
  EXPECT_EQ(run.traces[0].precondition, "A[0] -> A[0]^b\nA[1] -> A[1]^a\n");
  EXPECT_EQ(run.traces[1].precondition, "A[0] -> A[0]^b\nA[1] -> A[1]^a\n");
  EXPECT_EQ(run.traces[1].postcondition, "A[0] -> A[0]^a\nA[1] -> A[1]^b\n");
  EXPECT_EQ(run.traces[2].precondition, "A[0] -> A[0]^a\nA[1] -> A[1]^b\n");
  EXPECT_EQ(occurrences(run.traces[1].recorded(), "op(copy("), 2U);
  EXPECT_EQ(occurrences(run.traces[2].recorded(), "op(copy("), 0U);
}

// --- Figure 7 ----------------------------------------------------------------------------------------

template <class TaskA>
PrintedTrace figure_7(const TaskA& task_a) {
  const Task B{"B", [](Read<double>) {}};
  const Trace trace{"figure 7"};
  const RecordedRun run = record({}, [&](Context& ctx, PlacedMapper&) {
    const auto r = ctx.region(Rect1{0, 0}, R);
    const auto s = ctx.region(Rect1{0, 0}, S);
    ctx.launch(set, r[R], s[S]);
    for (int t = 0; t < 3; ++t)
      ctx.trace(trace, [&] {
        ctx.launch(task_a, r[R]);
        ctx.launch(task_a, s[S]);
        ctx.launch(B, r[R]);
        ctx.launch(B, s[S]);
      });
  });
  EXPECT_EQ(run.traces.size(), 1U);
  EXPECT_EQ(run.counters.replays, 2U);
  return run.traces.at(0);
}

// In Figure 7e A waits for the A before, too, and B for both; the analysis itself leaves out
// that a writer comes after the writer before when readers are between them, and a reader after what has been
// overwritten since. So 7e is 7f from the start, and the final commands are those of 7g.
TEST(Figures, Figure7) {
  const PrintedTrace printed = figure_7(Task{"A", [](Write<double> x) { x[0] = 1; }});
  EXPECT_EQ(printed.propagated(),
            "e1 := fence;\n"
            "e2 := op(A(R^a), e1);\n"
            "e3 := op(A(S^a), e1);\n"
            "e4 := op(B(R^a), e2);\n"
            "e5 := op(B(S^a), e3);\n"
            "e6 := merge(e4, e5);\n"
            "e7 := op(T_summary(R^a, S^a), e6);\n");
  EXPECT_EQ(printed.stages.at("unrolled once"),
            "e2' := op(A(R^a), e4);\n"
            "e3' := op(A(S^a), e5);\n"
            "e4' := op(B(R^a), e2');\n"
            "e5' := op(B(S^a), e3');\n"
            "e6' := merge(e4', e5');\n"
            "e7' := op(T_summary(R^a, S^a), e6');\n");
  EXPECT_EQ(printed.stages.at("final, for any number of replays"),
            "// only in the first replay:\n"
            "e4 := fence;\n"
            "e5 := e4;\n"
            "e2' := op(A(R^a), e4);\n"
            "e3' := op(A(S^a), e5);\n"
            "e4' := op(B(R^a), e2');\n"
            "e5' := op(B(S^a), e3');\n"
            "e4 := e4';\n"
            "e5 := e5';\n"
            "// only in the last replay:\n"
            "e6' := merge(e4', e5');\n"
            "e7' := op(T_summary(R^a, S^a), e6');\n");
}

// Where A reads what it changes, the same.
TEST(Figures, Figure7WhereAReads) {
  const auto final_stage = [](const auto& task_a) {
    return figure_7(task_a).stages.at("final, for any number of replays");
  };
  EXPECT_EQ(final_stage(Task{"A", [](ReadWrite<double> x) { x[0] += 1; }}),
            final_stage(Task{"A", [](Write<double> x) { x[0] = 1; }}));
}

}  // namespace
}  // namespace refrain::test::trace_figures_test
