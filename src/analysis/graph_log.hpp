#pragma once
// What the analysis decided, told as it happens: every operation and every edge, complete or not, in
// launch order. --refrain:graph draws it, and the tests compare it with the naive analysis.
//
// Called on the thread that owns the context (nested contexts: on whatever thread runs the parent), so
// a log that several contexts share must lock.

#include <cstdint>
#include <string>

#include "data/index_space.hpp"
#include "graph/node.hpp"
#include "refrain/machine.hpp"

namespace refrain::analysis {

/// One node of the task graph.
struct LoggedOperation {
  std::uint64_t scope = 0;  ///< the context; 0 is the program's
  std::uint64_t seq = 0;    ///< names the operation within the scope, ascending
  exec::NodeKind kind = exec::NodeKind::task;
  /// Number of the call that caused it: how many launch, reduce, fill, copy, access, attach, detach and
  /// destroy calls this context had made before (a partition by a field's values makes an access).
  std::uint64_t call = 0;
  std::size_t rank = 0;  ///< point of a group launch, in the order of its domain
  int argument =
      -1;  ///< for copies, fills and folds: the requirement they serve (copy(): 0 is its source)
  /// For copies, fills and folds: what they write (copies: from where); for accesses and detach: what
  /// the program holds.
  std::string field;
  MemoryId source = 0, target = 0;
  data::IndexSpaceRef points;
  const exec::NodeInfo* info = nullptr;
};

class GraphLog {
 public:
  virtual ~GraphLog() = default;
  virtual void operation(const LoggedOperation& operation) = 0;
  virtual void edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to,
                    exec::EdgeKind kind) = 0;
};

}  // namespace refrain::analysis
