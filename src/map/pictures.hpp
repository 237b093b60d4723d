#pragma once
// What a mapping search has found, as pictures: SVG, drawn with cairo (picture/canvas.hpp). After Figures 2, 3 and 9 of
// "Automated Mapping of Task-Based Programs" (Teixeira et al., SC 2023). The colours differ in brightness, so they can be
// told apart in grey, too. Each picture has its contents as text in its description.
//
// Pure functions; equal arguments give equal bytes on machines with the same fonts. One thread at a time. Text is UTF-8,
// else they throw Error.

#include <string>
#include <utility>
#include <vector>

#include "map_search/measure.hpp"
#include "map_search/space.hpp"

namespace refrain::map {

/// The best value so far in the course of a search.
struct Series {
  std::string name;
  /// Seconds since the search began, ascending; and the best value from then on: seconds, or bytes. The first one is the
  /// starting point. The last one may repeat the value before it: the end of the search. Values that are not finite, of
  /// a starting point that failed, are not drawn.
  std::vector<std::pair<double, double>> points;
};

/// Best values over the time of the search, a step curve for each series. The axis of values begins at 0; where the
/// largest is more than ten times the smallest it is logarithmic.
[[nodiscard]] std::string draw_search(const std::string& title, map_search::Objective objective,
                                      const std::vector<Series>& series);

/// A table of the tasks, in the space's order: its name, its kind of processor and distribution, and a cell for each
/// argument, in the colour of its kind of memory, over a bar of its size, compared with the largest of all. The space
/// passes map_search::check, and the mapping is one of it.
[[nodiscard]] std::string draw_mapping(const std::string& title, const map_search::Space& space,
                                       const map_search::Mapping& mapping);

}  // namespace refrain::map
