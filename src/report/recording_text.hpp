#pragma once
// A recording in the notation of the dynamic tracing paper (trace/recording_commands.hpp), for people: what
// --refrain:graph-calculus writes.
//
// A region is called by its field, with its number where the recording uses fields of that name in several
// regions, and with the points where they are not all: "state", "state@2", "state[0..3]". Its instances have
// the name of their memory, as the paper's have that of their node: "state[0..3]^sys0"; where a field has
// several in one memory, with their number: "state^sys0.1".
//
// Owner: the context's thread, at any time while the recording is not stale; replays of it may run.

#include <iosfwd>
#include <memory>
#include <span>
#include <string>

#include "trace/recorded_call.hpp"
#include "trace/recording.hpp"

namespace refrain {
class Machine;
}

namespace refrain::runtime {

struct PrintedRecording {
  const trace::Recording& recording;
  std::span<const std::shared_ptr<const RecordedCall>> calls;
  std::string trace;  ///< its name
  std::string where;  ///< where it begins
  bool optimise;      ///< edges that others imply were left out
};

void print(std::ostream& out, const PrintedRecording& printed, const Machine& machine);

}  // namespace refrain::runtime
