#pragma once
// Compares what the real analysis logged with the naive analysis: the same operations, and, closed under
// transitivity, the same order; no edge missing, none spurious.
//
// The real analysis moves many points with one copy or fill. So every naive point-operation is matched
// with the logged operation of the same call, point task, argument, field and memories that contains its
// point, every logged operation must be matched, and the naive graph is contracted to logged operations
// before the orders are compared. Of nested tasks only the parent is judged.

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "analysis/graph_log.hpp"
#include "support/naive_analysis.hpp"

namespace refrain::test {

/// What the real analysis logged for the program's own context, in order.
class GraphRecorder : public analysis::GraphLog {
 public:
  void operation(const analysis::LoggedOperation& operation) override;
  void edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to,
            exec::EdgeKind kind) override;

  struct Edge {
    int from, to;  ///< positions in `operations`
    exec::EdgeKind kind;
  };
  std::vector<analysis::LoggedOperation> operations;
  std::vector<Edge> edges;
  std::vector<std::string> complaints;  ///< about the log itself

 private:
  std::mutex mutex_;  // nested contexts log from other threads
  std::map<std::uint64_t, int> position_;
};

/// Empty, or what is wrong, in words; `storage_edges`: whether edges of that kind may occur.
std::string judge(const Program& program, const NaiveGraph& naive, const GraphRecorder& logged,
                  bool storage_edges);

}  // namespace refrain::test
