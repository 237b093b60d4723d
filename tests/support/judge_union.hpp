#pragma once
// Judges all shards of a run together: their logged graphs, with an edge from the sending end of each message to its
// receiving end (dynamic control replication, Theorem 1, as it reads where each shard has instances of its own).
//
// A message may carry pieces that have nothing to do with each other. So operations that move data are split: values by
// point, contributions by launch point; an edge of theirs leads to the pieces that it is about. Then
//   no more     operations are ordered only where the sequential program orders them (sequential_order.hpp);
//   no less     each flow dependence is a path of uses of that point. Nothing else need be ordered: who overwrites a
//               value waits for the readers of his own instance (judge.hpp), and readers elsewhere have a copy;
//   joined      what the unsplit graph orders besides is due to pieces of one message: of one call, argument, sender and
//               receiver.

#include <cstddef>
#include <string>
#include <vector>

#include "support/judge.hpp"

namespace refrain::test {

/// How many pairs of operations were ordered.
struct UnionCounts {
  std::size_t ordered = 0;
  std::size_t across = 0;  ///< of these, by a message
  std::size_t flows = 0;
  std::size_t joined = 0;  ///< because pieces share a message, only
};

/// Empty, or what is wrong. By shard: the naive graph of its share, and what it logged.
std::string judge_union(const Program& program, const std::vector<NaiveGraph>& shares,
                        const std::vector<const ContextLog*>& logged, UnionCounts& counts);

}  // namespace refrain::test
