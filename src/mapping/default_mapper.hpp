#pragma once
// The default rules of mapping: what a launch gets unless a mapper says otherwise.
//
// - The kind of processor: gpu if the task has a body for it and the machine has one, otherwise gang,
//   otherwise cpu.
// - The points of a group are dealt to the processors of that kind in blocks, so that neighbours share
//   a processor and its memory: point `rank` of `points` to processor rank * processors / points. A
//   single launch goes to the first.
// - Arguments of a gpu task lie in its framebuffer, just their own points of them; where that is full,
//   in pinned memory. Arguments of the others lie in the system memory of the processor's NUMA domain,
//   in one instance for the whole region, so that nothing is copied between its pieces.
//
// A pure function of its input, from any thread; constant time per argument.

#include <span>

#include "refrain/mapper.hpp"

namespace refrain::mapping {

/// Fills in the answer for one point task. `bodies` are the kinds of processor that the task has a body
/// for, whether the machine has them or not. Throws UsageError when it has none of them.
void map_by_default(const MappingInput& input, std::span<const ProcessorKind> bodies,
                    MappingOutput& output);

}  // namespace refrain::mapping
