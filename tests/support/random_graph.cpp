#include "support/random_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>

#include "graph/failure.hpp"

namespace refrain::test {

using namespace refrain::exec;

namespace {

using Random = std::mt19937_64;

int below(Random& random, int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

void plan_edges(Random& random, PlannedNode& node, int index, int reach) {
  const int wanted = below(random, 4) == 0 ? below(random, 12) : below(random, 4);
  for (int e = 0; e < wanted && index > 0; ++e) {
    const int from = index - 1 - below(random, std::min(index, reach));
    node.after.push_back(from);
  }
}

void plan_shape(Random& random, PlannedNode& node, const GraphOptions& options) {
  const int dice = below(random, 100);
  if (dice < 3 && options.failures) {
    node.shape = NodeShape::thrower;
  } else if (dice < 10 && options.depth > 0) {
    node.shape = NodeShape::nested;
    GraphOptions inner = options;
    inner.nodes = 1 + below(random, 12);
    inner.depth = options.depth - 1;
    node.inner = make_graph(random(), inner);
  } else if (dice < 13) {
    node.shape = NodeShape::manual;
  } else if (dice < 23) {
    node.shape = NodeShape::reducer;
    node.folds = 1 + below(random, 2);
  } else if (dice < 25) {
    node.shape = NodeShape::loop;
  }
  if (node.shape != NodeShape::manual) {
    if (below(random, 8) == 0) node.priority = static_cast<std::int16_t>(below(random, 5) - 2);
    if (options.gpus > 0 && below(random, 4) == 0) {
      node.processor = static_cast<std::uint16_t>(2 + below(random, options.gpus));
    }
    node.inline_run = below(random, 20) == 0;
  }
  node.payload = below(random, 20) == 0 ? below(random, 5000) + 64 : 64;
  node.wait_after = below(random, 60) == 0;
}

void append_folds(Random& random, Graph& graph, int reducer) {
  const int folds = graph.nodes[reducer].folds;
  for (int f = 0; f < folds; ++f) {
    PlannedNode fold;
    fold.shape = NodeShape::fold;
    fold.reducer = reducer;
    fold.after.push_back(reducer);
    // Folds of one region follow each other in launch order.
    for (int i = static_cast<int>(graph.nodes.size()) - 1; i >= 0; --i) {
      if (graph.nodes[i].shape == NodeShape::fold && below(random, 4) != 0) {
        fold.after.push_back(i);
        break;
      }
    }
    graph.nodes.push_back(std::move(fold));
  }
}

/// One execution of a graph.
struct GraphRun {
  const Graph& graph;
  Executor& executor;
  std::vector<int> value;  ///< per node, written by the node: 1: it ran
  std::vector<NodeRef> refs;
  std::mutex order_mutex;
  std::vector<int> order;
};

struct Payload {
  GraphRun* run;
  int index;
};

void run_body(GraphRun& run, const PlannedNode& node, Scope& scope) {
  switch (node.shape) {
    case NodeShape::thrower: throw std::runtime_error("thrown on purpose");
    case NodeShape::nested: run_graph(run.executor, *node.inner, &scope); break;
    case NodeShape::loop: {
      std::vector<int> hits(100, 0);
      run.executor.parallel_for(100, 7, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) ++hits[i];
      });
      EXPECT_EQ(std::count(hits.begin(), hits.end(), 1), 100);
      break;
    }
    default: break;
  }
}

void run_planned(Node& node, Execution& execution) {
  const auto [run_pointer, index] = node.payload_as<Payload>();
  GraphRun& run = *run_pointer;
  const PlannedNode& planned = run.graph.nodes[index];
  for (const int from : planned.after)
    EXPECT_NE(run.value[from], 0) << "node " << index << " ran before " << from;
  {
    const std::lock_guard lock(run.order_mutex);
    run.order.push_back(index);
  }
  EXPECT_EQ(run.value[index], 0) << "node " << index << " ran twice";
  EXPECT_EQ(execution.failure, nullptr) << "node " << index;
  run.value[index] = 1;
  run_body(run, planned, *node.scope);
}

Node& launch(GraphRun& run, Scope& scope, int index) {
  const PlannedNode& planned = run.graph.nodes[index];
  scope.throttle();
  Node& node = scope.allocate(static_cast<std::size_t>(planned.payload));
  static const NodeInfo info{"planned", std::source_location::current()};
  node.run = run_planned;
  node.info = &info;
  node.priority = planned.priority;
  node.processor = planned.processor;
  node.payload_as<Payload>() = {&run, index};
  run.refs[index] = {&node, node.seq};
  if (planned.shape == NodeShape::manual) node.flags |= kManual;
  if (planned.shape == NodeShape::reducer) {
    node.flags |= kReducer;
    ReducerGate::set_folds(node, static_cast<std::uint32_t>(planned.folds));
  }
  if (planned.shape == NodeShape::fold) {
    node.flags |= kFold;
    ReducerGate::attach_fold(run.refs[planned.reducer], node);
  }
  std::vector<NodeRef> after;
  for (const int from : planned.after) after.push_back(run.refs[from]);
  const auto before = node.seq;
  if (planned.inline_run) {
    run.executor.publish_inline(node, after);
  } else {
    run.executor.publish(node, after);
  }
  EXPECT_EQ(before, run.refs[index].seq);
  return node;
}

void check_end(GraphRun& run, Scope& scope) {
  const Graph& graph = run.graph;
  int throwers = 0;
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i) {
    const bool throws = graph.nodes[i].shape == NodeShape::thrower;
    EXPECT_EQ(run.value[i], 1) << "node " << i;
    const Failure* failure = scope.failures().find(run.refs[i].seq);
    EXPECT_EQ(failure != nullptr, throws) << "node " << i;
    if (failure != nullptr) { EXPECT_EQ(failure->origin().seq, run.refs[i].seq) << "node " << i; }
    throwers += throws;
  }
  std::uint64_t last = 0;
  for (int i = 0; i < throwers; ++i) {
    const FailureRef failure = scope.failures().take();
    ASSERT_NE(failure, nullptr);
    EXPECT_GT(failure->origin().seq, last);
    last = failure->origin().seq;
  }
  EXPECT_EQ(scope.failures().take(), nullptr);
  EXPECT_EQ(scope.gate().free(), scope.executor().options().accumulators);
}

void run_in_scope(GraphRun& run, Scope& scope) {
  for (int i = 0; i < static_cast<int>(run.graph.nodes.size()); ++i) {
    run.executor.interleave();
    Node& node = launch(run, scope, i);
    const PlannedNode& planned = run.graph.nodes[i];
    if (planned.shape == NodeShape::manual) {
      if (i % 3 != 0) {
        run.executor.wait(
            scope, [&] { return is_granted(node); }, run.refs[i], nullptr);
        EXPECT_EQ(run.value[i], 1);
      }
      run.executor.complete_manual(node);
    } else if (planned.wait_after) {
      run.executor.wait(
          scope, [&] { return is_complete(run.refs[i]); }, run.refs[i], nullptr);
      EXPECT_NE(run.value[i], 0);
    }
  }
  scope.drain(nullptr);
}

}  // namespace

std::unique_ptr<Graph> make_graph(std::uint64_t seed, const GraphOptions& options) {
  Random random(seed);
  auto graph = std::make_unique<Graph>();
  const std::uint32_t windows[] = {1, 2, 3, 17, 300, 8192};
  graph->window = windows[below(random, 6)];
  const int reach = below(random, 2) == 0 ? options.reach : 3;
  while (static_cast<int>(graph->nodes.size()) < options.nodes) {
    const int index = static_cast<int>(graph->nodes.size());
    PlannedNode node;
    plan_edges(random, node, index, reach);
    plan_shape(random, node, options);
    graph->nodes.push_back(std::move(node));
    if (graph->nodes[index].shape == NodeShape::reducer) append_folds(random, *graph, index);
  }
  return graph;
}

std::vector<int> run_graph(Executor& executor, const Graph& graph, Scope* parent) {
  GraphRun run{graph,
               executor,
               std::vector<int>(graph.nodes.size(), 0),
               std::vector<NodeRef>(graph.nodes.size()),
               {},
               {}};
  Scope scope(executor, parent, graph.window);
  run_in_scope(run, scope);
  check_end(run, scope);
  return run.order;
}

}  // namespace refrain::test
