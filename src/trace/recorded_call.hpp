#pragma once
// What is remembered of a call in a trace, to tell whether the next one is the same.

#include <cstdint>
#include <span>
#include <vector>

#include "launch/future_state.hpp"
#include "launch/launch_plan.hpp"
#include "trace/recording.hpp"

namespace refrain::runtime {

struct RecordedCall {
  std::vector<std::uint64_t> key;  ///< as launch/call_identity.hpp writes it
  /// Of the program's call; and with its mapping, for what is compared in this process only.
  std::uint64_t token = 0, mapped_token = 0;
  std::uint32_t work = 1;  ///< operations that it takes the analysis: all points of a launch
  const exec::NodeInfo* info = nullptr;  ///< the launch's, or what else the call does
  LaunchPlan* plan = nullptr;            ///< of a launch
  bool has_values = false;               ///< by-value arguments
  bool wants_result = false;  ///< the program keeps a future, or is given one that is reduced
  std::uint32_t runs_at = 0;  ///< the shard, of a single launch
  /// Of the futures it names: operations of the trace, or kNone.
  std::vector<trace::Index> makers;
};

/// A call that the program makes.
struct TracedCall {
  std::span<const std::uint64_t> key;
  const char* name;  ///< what it does, unless it is a launch
  Where where;
  const LaunchRequest* request = nullptr;  ///< of a launch
  std::span<detail::FutureState* const> futures{};
  bool has_values = false;    ///< by-value arguments
  bool makes_future = false;  ///< of a call that is no launch

  static TracedCall of(const LaunchRequest& request, std::span<const std::uint64_t> key) {
    return {key, nullptr, request.where, &request, request.futures, request.value_ops != nullptr};
  }
};

/// For each value of the futures the operation that makes it, if it is one of the context's `count` operations from
/// sequence number `base` on; else kNone.
inline std::vector<trace::Index> makers_of(std::uint64_t context,
                                           std::span<detail::FutureState* const> futures,
                                           std::uint64_t base, trace::Index count) {
  std::vector<trace::Index> makers;
  for (const detail::FutureState* future : futures) {
    if (future->points() == 0) makers.push_back(trace::kNone);
    for (std::size_t rank = 0; rank < future->points(); ++rank) {
      const std::uint64_t seq = future->context() == context ? future->producer(rank).seq : 0;
      makers.push_back(seq >= base && seq - base < count ? static_cast<trace::Index>(seq - base)
                                                         : trace::kNone);
    }
  }
  return makers;
}

}  // namespace refrain::runtime
