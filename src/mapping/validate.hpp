#pragma once
// The check of a mapper's answer, before anything is done with it.
//
// An answer holds: a processor of the machine, of a kind the task has a body for; for each argument at
// least one memory, all of them memories of the machine that this processor reaches (no task reaches a
// file). A pure function, from any thread; cost: a look-up per memory named.

#include "refrain/mapper.hpp"

namespace refrain::mapping {

/// Throws UsageError unless the answer is valid; the text names mapper, task, source line, point and
/// argument, what was expected and what was found.
void validate(const Mapper& mapper, const MappingInput& input, const MappingOutput& output);

}  // namespace refrain::mapping
