#include "map_search/diverse.hpp"

#include <algorithm>
#include <limits>

namespace refrain::map_search {

double distance(const Space& space, const Mapping& a, const Mapping& b) {
  double all = 0, differs = 0;
  for (std::uint32_t task = 0; task < space.tasks.size(); ++task) {
    const double seconds = space.tasks[task].seconds;
    all += seconds;
    if (a.processor[task] != b.processor[task] || a.distribution[task] != b.distribution[task])
      differs += seconds;
    const auto arguments = space.arguments_of(task);
    const auto other = std::ranges::count_if(
        arguments, [&](std::uint32_t each) { return a.memory[each] != b.memory[each]; });
    if (other > 0)
      differs += 0.5 * seconds * static_cast<double>(other) / static_cast<double>(arguments.size());
  }
  return all > 0 ? differs / all : 0;
}

std::vector<Candidate> diverse(const Space& space, const std::vector<Candidate>& candidates,
                               std::size_t count, Objective objective, double error) {
  std::vector<Candidate> taken;
  if (candidates.empty()) return taken;
  const double most = candidates.front().measured.value(objective) * (1 + error);
  struct Left {
    const Candidate* candidate;
    double nearest = std::numeric_limits<double>::infinity();  ///< distance to what was taken
  };
  std::vector<Left> left;
  left.reserve(candidates.size());
  for (const Candidate& candidate : candidates) left.push_back({&candidate});
  const auto is_near = [&](const Left& each) {
    return each.candidate->measured.value(objective) <= most;
  };
  while (taken.size() < count && !left.empty()) {
    // The near ones come first, and stay in their order.
    const auto near = std::ranges::find_if_not(left, is_near);
    const auto next = std::max_element(
        left.begin(), near, [](const Left& a, const Left& b) { return a.nearest < b.nearest; });
    const auto chosen = next == near ? left.begin() : next;
    taken.push_back(*chosen->candidate);
    left.erase(chosen);
    for (Left& each : left)
      each.nearest =
          std::min(each.nearest, distance(space, each.candidate->mapping, taken.back().mapping));
  }
  return taken;
}

}  // namespace refrain::map_search
