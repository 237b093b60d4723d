#pragma once
// Brings the analysis' state forward over launches that it has not seen: what a replay, or the first part of
// one, has done to it. Also the other direction: what the first replay of a chain comes after.

#include <functional>
#include <memory>
#include <vector>

#include "analysis/analysis.hpp"
#include "trace/outcome.hpp"

namespace refrain::trace {

/// A replay as the analysis' state names it.
struct Replayed {
  std::function<exec::NodeRef(Index operation)> operation;
  /// What a step's fill has made pending.
  std::function<std::shared_ptr<const analysis::FillValue>(Index step)> fill;
};

/// The state after a replay that has had this outcome. It was brought forward to its beginning before.
void bring_forward(analysis::Analysis& analysis, const Recording& recording, const Outcome& outcome,
                   const Replayed& replay);

/// After several replays: adds those of an earlier, whole one who read what the trace never writes, or looked
/// at an instance without points. In launch order, before bring_forward for the last one.
void add_standing_readers(const analysis::Analysis& analysis, const Recording& recording,
                          const Outcome& outcome, const Replayed& replay);

/// What an operation comes after when the trace is entered now.
struct Entry {
  Index operation = 0;
  exec::Edge after;
  bool standing = false;  ///< so does that of every replay of the chain
};

/// All of them for which `matters(edge)`, by operation.
std::vector<Entry> entries(const Recording& recording,
                           const std::function<bool(const exec::Edge&)>& matters);

}  // namespace refrain::trace
