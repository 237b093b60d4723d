#include "map_search/ccd.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "map_search/co_location.hpp"

namespace refrain::map_search {

namespace {

class Descent {
 public:
  Descent(const Space& space, const std::function<double(const Mapping&)>& evaluate)
      : space_(space), evaluate_(evaluate), best_(starting_point(space)), value_(evaluate(best_)) {}

  /// OptimizeTask.
  void optimize(std::uint32_t task, const OverlapGraph& overlaps) {
    for (Kind distribution = 0; distribution < space_.distributions_of(task); ++distribution) {
      Mapping changed = best_;
      changed.distribution[task] = distribution;
      test(std::move(changed));
    }
    const std::vector<std::uint32_t> arguments = arguments_by_size(space_, task);
    for (std::size_t k = 0; k < space_.processors.size(); ++k) {
      const auto processor = static_cast<Kind>(k);
      if (arguments.empty()) {  // the paper's tasks all have some
        Mapping changed = best_;
        changed.processor[task] = processor;
        test(std::move(changed));
      }
      for (const std::uint32_t argument : arguments)
        for (const Kind memory : space_.processors[processor].memories)
          test(co_located(space_, overlaps, on(task, processor, argument, memory), argument));
    }
  }

 private:
  /// f[map t on k, c on r]
  [[nodiscard]] Mapping on(std::uint32_t task, Kind processor, std::uint32_t argument,
                           Kind memory) const {
    Mapping changed = best_;
    changed.processor[task] = processor;
    changed.memory[argument] = memory;
    return changed;
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
    for (const std::uint32_t task : tasks_by_time(space)) descent.optimize(task, overlaps);
    if (rotation < rotations) overlaps.prune(rotation * edges / (rotations - 1));
  }
}

}  // namespace refrain::map_search
