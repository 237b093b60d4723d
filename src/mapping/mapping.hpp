#pragma once
// Who maps: the default rules, mappers by name, and the check of a mapper's answer before anything is done with it.
//
// The default rules:
// - The kind of processor: gpu if the task has a body for it and the machine has one, otherwise gang, otherwise cpu:
//   the last kind first.
// - The points of a group are dealt to the processors of that kind in blocks, so that neighbours share
//   a processor and its memory: point `rank` of `points` to processor rank * processors / points. A
//   single launch goes to the first.
// - Arguments of a device's task (a gpu's) lie in its framebuffer, just their own points of them; where that is full,
//   in pinned memory. Arguments of the others lie in the system memory of the processor's NUMA domain,
//   in one instance for the whole region, so that nothing is copied between its pieces.
//
// All are pure functions, from any thread. Cost: constant per argument; the check looks up each memory that is named.

#include <memory>
#include <span>
#include <string>

#include "refrain/mapper.hpp"

namespace refrain::mapping {

/// Fills in the answer for one point task. `bodies` are the kinds of processor that the task has a body
/// for, whether the machine has them or not. Throws UsageError when it has none of them.
void map_by_default(const MappingInput& input, std::span<const ProcessorKind> bodies,
                    MappingOutput& output);

/// The mapper that `--refrain:mapper` names. "default": the default rules. Throws InputError for anything else.
std::unique_ptr<Mapper> make_mapper(const std::string& name);

/// Throws UsageError unless the answer is valid: a processor of the machine, of a kind the task has a body for; for each
/// argument at least one memory, all of them memories of the machine that this processor reaches (no task reaches a
/// file). The text names mapper, task, source line, point and argument, what was expected and what was found.
void validate(const Mapper& mapper, const MappingInput& input, const MappingOutput& output);

}  // namespace refrain::mapping
