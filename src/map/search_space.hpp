#pragma once
// The search space of a captured program on a machine, and its mappings as mapping files ("Automated Mapping of
// Task-Based Programs", section 3.2).
//
// A task of the space is all launches of tasks of one name, as mapping files tell them. An argument is a position among
// its region arguments. Its collection is all that the launches have there: of each region and field the points of all
// pieces. Two arguments overlap in the bytes that their collections have in common.

#include <string>
#include <string_view>

#include "capture/captured_program.hpp"
#include "map_search/space.hpp"
#include "refrain/machine.hpp"

namespace refrain::map {

/// Kinds of processors and memories that tasks of the program can use on the machine, in the machine's order; gangs are
/// not among them. On a machine of one node there is nothing to distribute: groups count as single tasks. `tasks`: names,
/// with commas between them, in which * stands for any text; others are left to the default rules. UsageError where a task has no body for any kind of
/// processor, or no task has such a name.
map_search::Space search_space(const capture::Program& program, const Machine& machine,
                               std::string_view tasks = "*");

/// The text of a mapping file with a rule for each task.
std::string mapping_file(const map_search::Space& space, const map_search::Mapping& mapping,
                         const std::string& note);

}  // namespace refrain::map
