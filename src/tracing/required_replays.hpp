#pragma once
// The traces of one context that have to be replayed (Context::require_replay), and the sequences of calls
// that each has had.
//
// Owner: the context's thread. Memory: bounded; with more sequences than kMost they are learnt anew.

#include <cstdint>
#include <source_location>
#include <unordered_map>

#include "refrain/trace.hpp"
#include "replay/trace_execution.hpp"

namespace refrain::runtime {

class RequiredReplays {
 public:
  void require(const Trace& trace, std::source_location where);
  [[nodiscard]] bool contain(std::uint64_t trace) const {
    return !traces_.empty() && traces_.contains(trace);
  }
  /// At the end of an occurrence, begun and ended there. Throws UsageError.
  void judge(const Trace& trace, const TraceExecution& occurrence, std::source_location begun,
             std::source_location ended);

 private:
  static constexpr std::size_t kMost = 65536;
  struct Required {
    std::source_location where;
    /// By hash: whether it may find its data elsewhere no more.
    std::unordered_map<std::uint64_t, bool> settled;
  };
  std::unordered_map<std::uint64_t, Required> traces_;
};

}  // namespace refrain::runtime
