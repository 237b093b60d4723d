#pragma once
// --refrain:warm-start: what an earlier run has recorded (report/call_record.hpp) gives automatic tracing its first
// candidates. They are revalidated launch by launch, as all are, so the file may be of any program.

#include <vector>

#include "finder/mining.hpp"
#include "refrain/options.hpp"

namespace refrain::runtime {

/// What programs do again and again, as the file has it. A file that cannot be used is told of on standard error, and
/// nothing comes of it; nor does anything where traces are not looked for.
std::vector<autotrace::MinedRepeat> read_warm_start(const Options& options);

}  // namespace refrain::runtime
