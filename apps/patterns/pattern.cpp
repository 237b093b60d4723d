#include "pattern.hpp"

#include <algorithm>
#include <bit>

#include "digest.hpp"

namespace patterns {

namespace {

// Runs of the numbers, which come in any order and perhaps twice.
std::vector<Tasks> runs(std::vector<int> numbers) {
  std::ranges::sort(numbers);
  std::vector<Tasks> found;
  for (const int number : numbers) {
    if (!found.empty() && number <= found.back().last + 1) found.back().last = number;
    else found.push_back({number, number});
  }
  return found;
}

std::vector<int> numbers(const Pattern& pattern, int set, int task) {
  const int width = pattern.width, radix = pattern.radix;
  std::vector<int> needed;
  const auto add_between = [&](int first, int last) {
    for (int i = std::max(first, 0); i <= std::min(last, width - 1); ++i) needed.push_back(i);
  };
  switch (pattern.kind) {
    case Kind::trivial: break;
    case Kind::no_comm: add_between(task, task); break;
    case Kind::stencil_1d: add_between(task - 1, task + 1); break;
    case Kind::stencil_1d_periodic:
      for (const int step : {width - 1, 0, 1}) needed.push_back((task + step) % width);
      break;
    case Kind::dom: add_between(task - 1, task); break;
    case Kind::tree: add_between(task / 2, task / 2); break;
    case Kind::fft:
      for (const int distance : {-(1 << set), 0, 1 << set})
        add_between(task + distance, task + distance);
      break;
    case Kind::all_to_all: add_between(0, width - 1); break;
    case Kind::nearest: add_between(task - radix / 2, task + (radix - 1) / 2); break;
    case Kind::spread:
      for (std::int64_t i = 0; i < radix; ++i)
        needed.push_back(static_cast<int>((task + i * width / radix + (i > 0 ? set : 0)) % width));
      break;
    case Kind::random_nearest:
      for (int i = task - radix / 2; i <= task + (radix - 1) / 2; ++i) {
        const auto pair = static_cast<std::uint64_t>(task) * static_cast<std::uint64_t>(width) +
                          static_cast<std::uint64_t>(i);
        const auto graph = static_cast<std::uint64_t>(pattern.graph);
        if (i == task || uniform(graph, static_cast<std::uint64_t>(set), pair) < pattern.fraction)
          add_between(i, i);
      }
      break;
  }
  return needed;
}

}  // namespace

const std::vector<std::string>& kind_names() {
  static const std::vector<std::string> names{
      "trivial",    "no_comm", "stencil_1d", "stencil_1d_periodic", "dom", "tree", "fft",
      "all_to_all", "nearest", "spread",     "random_nearest"};
  return names;
}

Tasks Pattern::tasks(int step) const {
  if (step < 0) return {};
  switch (kind) {
    case Kind::dom: return {std::max(0, step + width - steps), std::min(step, width - 1)};
    case Kind::tree: return {0, step < 30 ? std::min(width, 1 << step) - 1 : width - 1};
    default: return {0, width - 1};
  }
}

int Pattern::sets() const {
  switch (kind) {
    case Kind::fft:
      return std::max(1, static_cast<int>(std::bit_width(static_cast<unsigned>(width - 1))));
    case Kind::spread:
    case Kind::random_nearest: return period;
    default: return 1;
  }
}

int Pattern::set_of(int step) const {
  const int behind = kind == Kind::fft ? sets() - 1 : 0;  // the first step that reads has the set 0
  return (step + behind) % sets();
}

std::vector<Tasks> Pattern::inputs(int set, int task) const {
  return runs(numbers(*this, set, task));
}

double uniform(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return static_cast<double>(scramble(scramble(scramble(a) + b) + c) >> 11) * 0x1p-53;
}

}  // namespace patterns
