#pragma once
// What was done with traces: counters of a context; and one execution of a trace, from begin_trace to end_trace: what was
// replayed of it, and why not the rest.
//
// Owner: the context's thread.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "refrain/counters.hpp"
#include "replay/replay_reasons.hpp"

namespace refrain::runtime {

/// What a context has done with traces.
struct TraceTotals : TraceCounters {
  std::uint64_t most_bytes = 0;  ///< that recordings took; of several contexts, the most of one

  void operator+=(const TraceTotals& more) {
    TraceCounters::operator+=(more);
    most_bytes = std::max(most_bytes, more.most_bytes);
  }
};

/// Names a sequence of calls by their tokens, which tell mappings apart. The hash of two sequences in a row follows from
/// their hashes.
struct CallSequence {
  static constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15ull;
  std::uint64_t hash = 0, factor = 1;

  void add(std::uint64_t token) { add({token, kBase}); }
  void add(const CallSequence& later) {
    hash = hash * later.factor + later.hash;
    factor *= later.factor;
  }
};

class TraceExecution {
 public:
  /// A new execution begins. Member by member: a new object in its place took 8 ns, most of it for moving it there.
  void begin(bool is_watched) {
    watched = is_watched;
    replayed = renamed = false;
    analysed = vacuous = expected_ = 0;
    gain = 0;
    sequence = {};
    reasons.clear();
    why_.clear();
  }

  bool watched = false;        ///< somebody wants to know why calls are not replayed
  bool replayed = false;       ///< calls were
  std::uint64_t analysed = 0;  ///< calls
  /// Of these: recorded, but they had no operation that could be replayed.
  std::uint64_t vacuous = 0;
  /// What replaying has gained over the analysis, in operations: to analyse one instead of replaying it is 1.
  std::int64_t gain = 0;
  CallSequence sequence;
  std::vector<Reason> reasons;  ///< each once
  /// A call that was analysed has the token of the call that was recorded there, and names other objects.
  bool renamed = false;

  void note_analysed(std::uint64_t token) {
    ++analysed;
    sequence.add(token);
    renamed |= token == expected_;
    expected_ = 0;
  }
  void note_replayed(std::uint64_t operations) { gain += signed_of(operations); }
  /// A chain of replays was entered: it will be left as well.
  void note_entered() { gain -= kEntering; }
  /// A chain was left in the middle of a recording with so many operations.
  void note_left_early(std::uint64_t operations) {
    gain -= kLeavingEarly + signed_of(operations) / kPerAnalysis;
  }
  /// Something was recorded, so many operations.
  void note_recorded(std::uint64_t operations) { gain -= kRecording * signed_of(operations); }
  /// From here on calls are analysed.
  void add(Reason reason) {
    expected_ = reason.expected;
    why_ = reason.text;
    if (std::ranges::find(reasons, reason.text, &Reason::text) == reasons.end())
      reasons.push_back(std::move(reason));
  }
  /// The reason that was added last.
  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] bool whole() const { return analysed == 0; }
  /// Whether all operations were replayed, if there were any.
  [[nodiscard]] bool as_required() const { return analysed == vacuous; }
  [[nodiscard]] bool empty() const { return analysed == 0 && !replayed; }
  /// Whether there may be no reason any more when the same calls are made again.
  [[nodiscard]] bool may_settle() const {
    return !renamed && std::ranges::all_of(reasons, &Reason::may_settle);
  }

 private:
  // In analyses of one operation, measured (docs/performance.md, "Short replays" and "Overhead per trace"). Leaving early
  // costs a part of the whole recording: the outcome of its prefix is worked out from all effects.
  static constexpr std::int64_t kEntering = 6, kLeavingEarly = 6, kPerAnalysis = 4;
  static constexpr std::int64_t kRecording = 3;
  static std::int64_t signed_of(std::uint64_t operations) {
    return static_cast<std::int64_t>(operations);
  }

  std::string why_;
  /// Token of the call that was recorded where the next one is analysed.
  std::uint64_t expected_ = 0;
};

}  // namespace refrain::runtime
