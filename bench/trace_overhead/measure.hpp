#pragma once
// The two things that are measured of a program whose tasks do nothing. Each measurement is a run with
// a context of its own, in which everything has been met before the clock starts.

#include <functional>
#include <memory>

#include "trace_overhead/program.hpp"

namespace refrain::bench {

using MakeProgram = std::function<std::unique_ptr<Program>(Context&)>;

/// Nanoseconds of an occurrence, so many of them launched and run with one wait at the end, on all
/// threads of the runtime. `traced`: each is a trace.
double ns_per_occurrence(Runtime& runtime, const MakeProgram& make, bool traced, int occurrences);

/// Nanoseconds that the launching thread needs for one occurrence while the runtime's one worker is
/// parked, so that nothing runs: the analysis of it. `recorded`: it is recorded, under a name that is new,
/// and the recording is made ready for replay. The median of some.
double ns_to_launch(Runtime& runtime, const MakeProgram& make, bool recorded);

}  // namespace refrain::bench
