#pragma once
// What is remembered of a call in a trace, to tell whether the next one is the same.

#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "launch/launch_plan.hpp"
#include "trace/recording.hpp"

namespace refrain::runtime {

struct RecordedCall {
  static constexpr trace::Index kOutside = ~trace::Index{0};

  std::vector<std::uint64_t> key;  ///< as launch/call_identity.hpp writes it
  /// Of the program's call; and with its mapping, for what is compared in this process only.
  std::uint64_t token = 0, mapped_token = 0;
  std::uint32_t work = 1;  ///< operations that it takes the analysis: all points of a launch
  const exec::NodeInfo* info = nullptr;  ///< the launch's, or what else the call does
  LaunchPlan* plan = nullptr;            ///< of a launch
  bool has_values = false;               ///< by-value arguments
  bool wants_result = false;  ///< the program keeps a future, or is given one that is reduced
  /// Of the futures it names: operations of the trace, or kOutside.
  std::vector<trace::Index> makers;
};

/// A call that the program makes.
struct TracedCall {
  std::span<const std::uint64_t> key;
  const char* name;  ///< what it does, unless it is a launch
  std::source_location where;
  const LaunchRequest* request = nullptr;  ///< of a launch
  std::span<detail::FutureState* const> futures{};
  bool has_values = false;    ///< by-value arguments
  bool makes_future = false;  ///< of a call that is no launch

  static TracedCall of(const LaunchRequest& request, std::span<const std::uint64_t> key) {
    return {key, nullptr, request.where, &request, request.futures, request.value_ops != nullptr};
  }
};

struct ContextCore;
/// For each value of the futures the operation that makes it, if it is one of the context's `count` operations from
/// sequence number `base` on; else kOutside.
std::vector<trace::Index> makers_of(const ContextCore& context,
                                    std::span<detail::FutureState* const> futures,
                                    std::uint64_t base, trace::Index count);

}  // namespace refrain::runtime
