#include "map_search/ccd.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "map_search/co_location.hpp"

namespace refrain::map_search {

namespace {

/// One decision of a task, or of one of its arguments, which has the task on a processor kind.
struct Change {
  std::uint32_t task = 0;
  std::optional<Kind> distribution{}, processor{};
  std::optional<std::uint32_t> argument{};
  Kind memory = 0;  ///< of the argument
};

/// All of a task, in the order of OptimizeTask.
std::vector<Change> changes_of(const Space& space, std::uint32_t task) {
  std::vector<Change> changes;
  for (Kind distribution = 0; distribution < space.distributions_of(task); ++distribution)
    changes.push_back({.task = task, .distribution = distribution});
  const std::vector<std::uint32_t> arguments = arguments_by_size(space, task);
  for (std::size_t k = 0; k < space.processors.size(); ++k) {
    const auto processor = static_cast<Kind>(k);
    if (arguments.empty())  // the paper's tasks all have some
      changes.push_back({.task = task, .processor = processor});
    for (const std::uint32_t argument : arguments)
      for (const Kind memory : space.processors[processor].memories)
        changes.push_back(
            {.task = task, .processor = processor, .argument = argument, .memory = memory});
  }
  return changes;
}

class Descent {
 public:
  Descent(const Space& space, const std::function<double(const Mapping&)>& evaluate)
      : space_(space), evaluate_(evaluate), best_(starting_point(space)), value_(evaluate(best_)) {}

  /// A rotation: OptimizeTask for each task.
  void rotate(const OverlapGraph& overlaps) {
    for (const std::uint32_t task : tasks_by_time(space_))
      for (const Change& change : changes_of(space_, task)) test(changed(change, overlaps));
  }

  /// The changes that are better alone, the best first.
  void take_gains(const OverlapGraph& overlaps) {
    std::vector<std::pair<double, Change>> gains;
    for (const std::uint32_t task : tasks_by_time(space_))
      for (const Change& change : changes_of(space_, task))
        if (const double value = evaluate_(changed(change, overlaps)); value < value_)
          gains.emplace_back(value, change);
    std::ranges::stable_sort(gains, {}, [](const auto& gain) { return gain.first; });
    for (const auto& [value, change] : gains) test(changed(change, overlaps));
  }

 private:
  /// f[map t on k, c on r], with what co-location ties to it
  [[nodiscard]] Mapping changed(const Change& change, const OverlapGraph& overlaps) const {
    Mapping mapping = best_;
    if (change.distribution) mapping.distribution[change.task] = *change.distribution;
    if (change.processor) mapping.processor[change.task] = *change.processor;
    if (!change.argument) return mapping;
    mapping.memory[*change.argument] = change.memory;
    return co_located(space_, overlaps, std::move(mapping), *change.argument);
  }
  /// TestMapping.
  void test(Mapping mapping) {
    const double value = evaluate_(mapping);
    if (!(value < value_)) return;
    best_ = std::move(mapping);
    value_ = value;
  }

  const Space& space_;
  const std::function<double(const Mapping&)>& evaluate_;
  Mapping best_;
  double value_;
};

}  // namespace

void constrained_descent(const Space& space, const std::function<double(const Mapping&)>& evaluate,
                         std::size_t rotations) {
  Descent descent(space, evaluate);
  OverlapGraph overlaps =
      rotations > 1 ? OverlapGraph(space) : OverlapGraph(space.arguments.size());
  const std::size_t edges = overlaps.edges();
  for (std::size_t rotation = 1; rotation <= rotations; ++rotation) {
    descent.rotate(overlaps);
    if (rotation < rotations) overlaps.prune(rotation * edges / (rotations - 1));
  }
}

void descent_by_gain(const Space& space, const std::function<double(const Mapping&)>& evaluate) {
  Descent descent(space, evaluate);
  const OverlapGraph no_edges(space.arguments.size());
  descent.take_gains(no_edges);
  descent.rotate(no_edges);
}

}  // namespace refrain::map_search
