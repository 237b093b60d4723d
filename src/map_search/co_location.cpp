#include "map_search/co_location.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace refrain::map_search {

namespace {

using Numbers = std::set<std::uint32_t>;

std::uint32_t pop(Numbers& numbers) {
  const std::uint32_t first = *numbers.begin();
  numbers.erase(numbers.begin());
  return first;
}

class CoLocation {
 public:
  CoLocation(const Space& space, const OverlapGraph& overlaps, Mapping mapping,
             std::uint32_t argument)
      : space_(space), overlaps_(overlaps), mapping_(std::move(mapping)), moved_(argument) {}

  Mapping result() {
    const Kind memory = mapping_.memory[moved_];
    tasks_.insert(task());
    for (const std::uint32_t other : overlaps_.overlapping(moved_)) {
      mapping_.memory[other] = memory;
      tasks_.insert(space_.arguments[other].task);
    }
    do {
      while (!tasks_.empty() || !arguments_.empty()) {
        while (!tasks_.empty()) move_task(pop(tasks_));
        while (!arguments_.empty()) move_argument(pop(arguments_));
      }
    } while (look_again());
    return std::move(mapping_);
  }

 private:
  [[nodiscard]] std::uint32_t task() const { return space_.arguments[moved_].task; }
  [[nodiscard]] Kind processor() const { return mapping_.processor[task()]; }
  [[nodiscard]] bool reached(std::uint32_t argument) const {
    return space_.addressable(mapping_.processor[space_.arguments[argument].task],
                              mapping_.memory[argument]);
  }

  /// Lines 9 to 13.
  void move_task(std::uint32_t checked) {
    for (const std::uint32_t argument : space_.arguments_of(checked)) {
      if (reached(argument)) continue;
      mapping_.processor[checked] = processor();
      arguments_.insert(argument);
    }
  }

  /// Lines 15 to 26. Who overlaps with the argument that was moved first stays with it.
  void move_argument(std::uint32_t checked) {
    if (checked == moved_ || overlaps_.overlap(checked, moved_)) return;
    const Kind own = mapping_.processor[space_.arguments[checked].task];
    const Kind memory = space_.processors[own].memories.front();
    mapping_.memory[checked] = memory;
    for (const std::uint32_t other : overlaps_.overlapping(checked)) {
      if (mapping_.memory[other] == memory) continue;
      mapping_.memory[other] = memory;
      if (!reached(other)) tasks_.insert(space_.arguments[other].task);
      arguments_.erase(other);
    }
  }

  bool look_again() {
    for (std::uint32_t i = 0; i < space_.arguments.size(); ++i)
      if (!reached(i)) tasks_.insert(space_.arguments[i].task);
    return !tasks_.empty();
  }

  const Space& space_;
  const OverlapGraph& overlaps_;
  Mapping mapping_;
  std::uint32_t moved_;
  Numbers tasks_, arguments_;  ///< t_check and c_check
};

}  // namespace

OverlapGraph::OverlapGraph(const Space& space)
    : edges_(space.overlaps), neighbours_(space.arguments.size()) {
  std::ranges::stable_sort(edges_, {}, &Overlap::bytes);
  connect();
}

bool OverlapGraph::overlap(std::uint32_t a, std::uint32_t b) const {
  return std::ranges::binary_search(neighbours_[a], b);
}

void OverlapGraph::prune(std::size_t pruned) {
  pruned_ = std::min(pruned, edges_.size());
  connect();
}

void OverlapGraph::connect() {
  for (std::vector<std::uint32_t>& neighbours : neighbours_) neighbours.clear();
  for (std::size_t i = pruned_; i < edges_.size(); ++i) {
    neighbours_[edges_[i].a].push_back(edges_[i].b);
    neighbours_[edges_[i].b].push_back(edges_[i].a);
  }
  for (std::vector<std::uint32_t>& neighbours : neighbours_) std::ranges::sort(neighbours);
}

Mapping co_located(const Space& space, const OverlapGraph& overlaps, Mapping mapping,
                   std::uint32_t argument) {
  return CoLocation(space, overlaps, std::move(mapping), argument).result();
}

}  // namespace refrain::map_search
