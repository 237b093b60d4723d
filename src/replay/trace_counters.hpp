#pragma once
// What a context has done with traces.

#include <algorithm>
#include <cstdint>

#include "refrain/counters.hpp"

namespace refrain::runtime {

struct TraceCounters : refrain::TraceCounters {
  std::uint64_t most_bytes = 0;  ///< that recordings took; of several contexts, the most of one

  void operator+=(const TraceCounters& more) {
    refrain::TraceCounters::operator+=(more);
    most_bytes = std::max(most_bytes, more.most_bytes);
  }
};

}  // namespace refrain::runtime
