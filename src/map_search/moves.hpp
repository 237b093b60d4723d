#pragma once
// Random mappings, and random changes of mappings. All of them are executable. OpenTuner's techniques know no
// constraints, and most of what they propose for such spaces cannot be executed (section 5.3); here a task that is put
// on another processor kind draws new memories for the arguments that this kind does not address.

#include <cstddef>

#include "map_search/random.hpp"
#include "map_search/space.hpp"

namespace refrain::map_search {

[[nodiscard]] Mapping random_mapping(const Space& space, Random& random);

/// The decisions of a mapping: each task's distribution, each task's processor, each argument's memory.
[[nodiscard]] inline std::size_t decisions(const Space& space) {
  return 2 * space.tasks.size() + space.arguments.size();
}
/// Draws one decision anew, perhaps as it was.
void redraw(const Space& space, Mapping& mapping, std::size_t decision, Random& random);
/// Draws one decision anew until it differs, where it can.
void change_one(const Space& space, Mapping& mapping, Random& random);
/// Takes one decision over from another mapping.
void take_over(const Space& space, Mapping& mapping, std::size_t decision, const Mapping& from,
               Random& random);

}  // namespace refrain::map_search
