#pragma once
// What is remembered of a call in a trace, to tell whether the next one is the same.

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/launch_plan.hpp"
#include "trace/recording.hpp"

namespace refrain::runtime {

struct RecordedCall {
  static constexpr trace::Index kOutside = ~trace::Index{0};

  std::vector<std::uint64_t> key;  ///< as ContextImpl::make_key and call_key write it
  std::uint64_t token = 0;
  LaunchPlan* plan = nullptr;  ///< of a launch
  bool has_values = false;     ///< by-value arguments
  bool wants_result = false;   ///< the program keeps a future, or is given one that is reduced
  std::vector<trace::Index>
      makers;  ///< of the futures it names: operations of the trace, or kOutside
};

}  // namespace refrain::runtime
