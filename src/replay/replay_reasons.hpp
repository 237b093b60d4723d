#pragma once
// Why a call was analysed that a trace might have replayed, in words. Made when that happens, and somebody
// wants to know.

#include <string>

#include "refrain/machine.hpp"
#include "refrain/options.hpp"
#include "trace/recorded_call.hpp"
#include "trace/recording.hpp"

namespace refrain::runtime {

struct Reason {
  std::string text;
  /// It need not come again when the same calls do: the data is not yet where the trace leaves it, or what
  /// was recorded was something else.
  bool may_settle = false;
  /// Mapped token of the call that was recorded instead; 0: there is none.
  std::uint64_t expected = 0;
};

/// Another call than the recorded one was made.
Reason other_call(const RecordedCall& expected, const TracedCall& came);
/// The recording ended before this call: `ended_by` says why.
Reason beyond_the_end(const std::string& ended_by, const TracedCall& came);
/// Something came before the call that cannot be traced (`what` says so), where the recording has a call.
Reason left_before(const TracedCall& came, const std::string& what);
/// Memory is short of what a replay needs: nothing for an instance like this.
Reason no_room(const analysis::Instance& wanted, const Machine& machine);
/// The precondition of the recording does not hold.
Reason other_state(const trace::Recording& recording, const Machine& machine);
/// Executions of the trace were slower for being replayed.
Reason slower_by_replaying();
/// The recording is stale.
Reason stale(const trace::Recording& recording);
/// The call is outside of marks, where traces are not looked for: not at all, or not yet.
std::string not_looked_for(const Options& options);

}  // namespace refrain::runtime
