#pragma once
// Compares what the real analysis logged with the naive analysis: the same operations, and, closed under
// transitivity, the same order; no edge missing, none spurious.
//
// The real analysis moves many points with one copy or fill. So every naive point-operation is matched
// with the logged operation of the same call, point task, argument, field and memories that contains its
// point, every logged operation must be matched, and the naive graph is contracted to logged operations
// before the orders are compared. The children of every point of a nested task are
// judged in the same way, as a program of their own.
//
// Of a program on several shards, the log of each is judged against the graph of its share. The order between shards is
// judged elsewhere (judge_union.hpp).

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "launch/listener.hpp"
#include "support/naive_analysis.hpp"

namespace refrain::test {

/// What the real analysis logged for one context, in order.
struct ContextLog {
  struct Edge {
    int from, to;  ///< positions in `operations`
  };
  std::vector<analysis::LoggedOperation> operations;
  std::vector<std::string> names;  ///< of the operations; their infos end with the runtime
  std::vector<Edge> edges;
  std::vector<std::string> complaints;  ///< about the log itself
  std::map<std::uint64_t, int> position;
};

/// Keeps all contexts apart.
class GraphRecorder : public runtime::Listener {
 public:
  void operation(const analysis::LoggedOperation& operation) override;
  void edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to) override;

  /// The log of the program (null), or of the children of a point of a nested task; empty if there is none.
  [[nodiscard]] const ContextLog& log_of(const PointTask* parent) const;

 private:
  std::mutex mutex_;  // nested contexts log from other threads
  std::map<std::uint64_t, ContextLog> contexts_;
  std::map<const PointTask*, std::uint64_t> scope_of_;
};

/// Which point task's body is running: the runner sets it in the body, the recorder finds out by it whose
/// children a context holds. It stays with the body, whatever else its thread runs meanwhile.
class CurrentParent {
 public:
  explicit CurrentParent(const PointTask* parent);
  ~CurrentParent();
  CurrentParent(const CurrentParent&) = delete;
  static const PointTask* get();
};

/// Empty, or how two logs of one context differ: the same operations, and, closed under transitivity, the
/// same order.
std::string difference(const ContextLog& expected, const ContextLog& found);
/// Of which logged operation each naive one is a part. Returns text where one is lacking or left over.
std::string match(const Program& program, const NaiveGraph& naive, const ContextLog& logged,
                  std::vector<int>& to);
/// What a report calls a logged operation.
std::string describe(const analysis::LoggedOperation& operation);
/// Empty, or what is wrong with one context, in words.
std::string judge(const Program& program, const NaiveGraph& naive, const ContextLog& logged);
/// The program's context and those of all nested tasks. `limited`: in memories with capacities; then only
/// programs without children are judged, and whose data found room in the memories that it was meant for.
std::string judge_all(const Program& program, const MappingRule& mapping,
                      const GraphRecorder& logged, bool limited);
/// The same for a shard, whose share of the program is given, and where which points of launches run.
std::string judge_share(const Program& program, const MappingRule& mapping, const NaiveGraph& share,
                        const GraphRecorder& logged);

}  // namespace refrain::test
