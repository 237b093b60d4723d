#pragma once
// Random task graphs for the executors, with the checks that any order of execution must pass: every node runs once, every
// predecessor is done before, and the scope has the failures of those that throw, and no others. The values that nodes
// write and read are plain memory, so ThreadSanitizer sees an order that is missing.
//
// Everything random is decided by make_graph; execution follows the plan.

#include <cstdint>
#include <memory>
#include <vector>

#include "graph/executor.hpp"
#include "graph/scope.hpp"

namespace refrain::test {

enum class NodeShape : std::uint8_t { plain, thrower, nested, manual, reducer, fold, loop };

struct PlannedNode {
  NodeShape shape = NodeShape::plain;
  std::vector<int> after;
  std::int16_t priority = 0;
  std::uint16_t processor = 0;
  int reducer = -1;  ///< of a fold
  int folds = 0;     ///< of a reducer
  int payload = 64;
  bool inline_run = false;
  bool wait_after = false;  ///< the launching program waits for this node before it goes on
  std::unique_ptr<struct Graph> inner;
};

struct Graph {
  std::uint32_t window = 8192;
  std::vector<PlannedNode> nodes;
};

struct GraphOptions {
  int nodes = 200;
  int reach = 30;  ///< edges come from at most this far back
  int depth = 2;   ///< levels of nested graphs
  bool failures = true;
  int gpus = 0;  ///< dedicated processors; ids follow the cpu's (id 0)
};

std::unique_ptr<Graph> make_graph(std::uint64_t seed, const GraphOptions& options);

/// Runs the graph in a scope below `parent` (null: inside run_root) and checks it, with gtest
/// expectations. Returns the order in which nodes began, for comparing runs.
std::vector<int> run_graph(exec::Executor& executor, const Graph& graph, exec::Scope* parent);

}  // namespace refrain::test
