#pragma once
// Reads the log of automatic tracing, which --refrain:autotrace-log writes: JSON lines, described in
// docs/automatic-tracing.md.

#include <cstdint>
#include <string>
#include <vector>

#include "traced_run.hpp"

namespace refrain::tools {

struct TracedRunFile {
  TracedRun run;
  std::vector<std::string> notes;  ///< what was not understood, for people
};

/// What the log says of one context. Programs that a runtime ran one after another are all its context 0, and counted
/// from 0 each: here the calls of one follow those of the one before. Events that are not known get a note, so that a newer program's log can
/// be read. Throws InputError with file, line and column where the file is no such log, and where it says
/// nothing of the context. Costs time and memory proportional to the file.
TracedRunFile read_traced_run(const std::string& path, std::uint64_t context);

}  // namespace refrain::tools
