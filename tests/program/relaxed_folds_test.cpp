// Relaxed reductions in the graph that the analysis really makes: which folds are free of each other, what
// closes a group of them, and that a group without end does not grow without end.

#include <gtest/gtest.h>

#include <utility>

#include "refrain/refrain.hpp"
#include "runtime/context_impl.hpp"
#include "runtime/runtime_impl.hpp"
#include "support/judge.hpp"

namespace refrain::test::relaxed_folds_test {
namespace {

constexpr Field<Coord> number{"number"};

const Task set{"set", [](Write<Coord> x) {
                 for (auto p : x.domain()) x[p] = 1;
               }};
const Task add{"add", [](Reduce<Sum, Coord> x) {
                 for (auto p : x.domain()) x[p] += 1;
               }};
const Task largest{"largest", [](Reduce<Max, Coord> x) {
                     for (auto p : x.domain()) x.reduce(p, 2);
                   }};
const Task look{"look", [](Read<Coord> x) { return x[x.domain().bounds().lo]; }};

/// A program over one region of eight points and its halves; then its tasks and folds by number, each
/// kind in launch order.
class Graph {
 public:
  using Program = void (*)(Context&, const Region<1>&, const Partition<1>&);
  explicit Graph(Program program) {
    Options options;
    options.machine = "emulated:cpus=2";
    Runtime runtime(options);
    runtime.impl().listeners().add(recorder_, {runtime::Events::graph});
    runtime.run([&](Context& ctx) {
      const auto cells = ctx.region(Rect1{0, 7}, number);
      program(ctx, cells, ctx.blocks(cells, 2));
    });
    runtime.impl().listeners().remove(recorder_);
  }

  [[nodiscard]] int count(exec::NodeKind kind) const { return static_cast<int>(all(kind).size()); }
  /// Directly.
  [[nodiscard]] bool joined(int from, int to) const {
    return std::ranges::any_of(
        log().edges, [&](const ContextLog::Edge& e) { return e.from == from && e.to == to; });
  }
  [[nodiscard]] bool ordered(int from, int to) const {
    return std::ranges::any_of(log().edges, [&](const ContextLog::Edge& e) {
      return e.to == to && (e.from == from || (e.from > from && ordered(from, e.from)));
    });
  }
  [[nodiscard]] int task(std::size_t n) const { return all(exec::NodeKind::task).at(n); }
  [[nodiscard]] int fold(std::size_t n) const { return all(exec::NodeKind::fold).at(n); }

 private:
  [[nodiscard]] const ContextLog& log() const { return recorder_.log_of(nullptr); }
  [[nodiscard]] std::vector<int> all(exec::NodeKind kind) const {
    std::vector<int> found;
    for (std::size_t i = 0; i < log().operations.size(); ++i)
      if (log().operations[i].kind == kind) found.push_back(static_cast<int>(i));
    return found;
  }
  GraphRecorder recorder_;
};

TEST(RelaxedFolds, AreFreeOfEachOtherAndAllComeBeforeWhatFollows) {
  const Graph graph([](Context& ctx, const Region<1>& cells, const Partition<1>&) {
    ctx.launch(set, cells[number]);               // task 0
    ctx.launch(add, 3, cells[number].relaxed());  // tasks 1 to 3
    ctx.launch(add, cells[number].relaxed());     // task 4
    ctx.launch(look, cells[number]);              // task 5
    ctx.launch(look, cells[number]);              // task 6
    ctx.launch(set, cells[number]);               // task 7
  });
  ASSERT_EQ(graph.count(exec::NodeKind::fold), 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const int fold = graph.fold(i);
    EXPECT_TRUE(graph.joined(graph.task(0), fold));
    EXPECT_TRUE(graph.joined(graph.task(i + 1), fold));
    EXPECT_TRUE(graph.joined(fold, graph.task(5)));
    EXPECT_TRUE(graph.joined(fold, graph.task(6)));
    EXPECT_TRUE(graph.ordered(fold, graph.task(7)));
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(graph.ordered(graph.fold(j), fold));
  }
  EXPECT_FALSE(graph.ordered(graph.task(5), graph.task(6)));
}

TEST(RelaxedFolds, AnythingElseClosesTheGroup) {
  const Graph graph([](Context& ctx, const Region<1>& cells, const Partition<1>& halves) {
    ctx.launch(add, cells[number].relaxed());          // fold 0
    ctx.launch(add, cells[number]);                    // fold 1, in order
    ctx.launch(add, cells[number].relaxed());          // fold 2
    ctx.launch(largest, cells[number].relaxed());      // fold 3, another operator
    ctx.launch(look, cells[number]);                   // task 4
    ctx.launch(largest, cells[number].relaxed());      // fold 4
    ctx.launch(set, halves(0)[number]);                // task 6
    ctx.launch(largest, cells[number].relaxed());      // fold 5
    ctx.launch(largest, halves(1)[number].relaxed());  // fold 6
  });
  ASSERT_EQ(graph.count(exec::NodeKind::fold), 7);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(graph.joined(graph.fold(i), graph.fold(i + 1)));
  EXPECT_TRUE(graph.joined(graph.fold(3), graph.task(4)));
  EXPECT_TRUE(graph.ordered(graph.task(4), graph.fold(4)));
  // One half was written in between, at the other half the group goes on.
  EXPECT_TRUE(graph.joined(graph.task(6), graph.fold(5)));
  EXPECT_TRUE(graph.ordered(graph.fold(4), graph.fold(5)));
  EXPECT_FALSE(graph.ordered(graph.fold(4), graph.fold(6)));
  EXPECT_FALSE(graph.ordered(graph.fold(5), graph.fold(6)));
}

// What is left of a group of `launches` folds when they are complete: the edges of the next reader.
template <class Launch>
std::uint64_t edges_after_group(int launches, Launch launch) {
  Options options;
  options.workers = 0;
  options.window = 64;
  options.machine = "emulated:cpus=2";
  std::uint64_t edges = 0;
  Runtime runtime(options);
  runtime.run([&](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 7}, number);
    ctx.launch(set, cells[number]);
    ctx.launch(look, cells[number]);
    for (int i = 0; i < launches; ++i) launch(ctx, cells);
    edges = ctx.impl().analysis.counters().edges;
    ctx.launch(look, cells[number]);
    edges = ctx.impl().analysis.counters().edges - edges;
  });
  return edges;
}

TEST(RelaxedFolds, WithoutEndAreForgottenWhenTheyAreComplete) {
  EXPECT_LE(edges_after_group(5000,
                              [](Context& ctx, const Region<1>& cells) {
                                ctx.launch(add, cells[number].relaxed());
                              }),
            256U);
}

// Poisoned data stays poisoned, but one failed fold is enough to say so.
TEST(RelaxedFolds, WithoutEndOnPoisonedData) {
  static const Task refuse{"refuse", [](ReadWrite<Coord>) { throw std::runtime_error("no"); }};
  bool first = true;
  EXPECT_LE(edges_after_group(5000,
                              [&](Context& ctx, const Region<1>& cells) {
                                if (std::exchange(first, false)) {
                                  ctx.launch(refuse, cells[number]);
                                  EXPECT_THROW(ctx.fence(), TaskFailed);
                                }
                                ctx.launch(add, cells[number].relaxed());
                              }),
            256U);
}

}  // namespace
}  // namespace refrain::test::relaxed_folds_test
