#include "oracle/last_loop.hpp"

#include <algorithm>
#include <ranges>
#include <vector>

#include "oracle/places.hpp"

namespace refrain::oracle {

namespace {

/// How far behind a loop it is looked for a round that was cut short.
constexpr std::uint64_t kFurthest = 1 << 16;

/// A loop of the size, where it is in the run.
struct Loop {
  std::uint64_t begin, end;
  std::uint64_t period;
};

/// In the root, from behind: those that are no shorter than what comes behind them.
std::vector<Loop> loops(const Grammar& grammar) {
  const std::uint64_t run = grammar.length(0);
  const std::uint64_t least = std::max<std::uint64_t>(run / LastLoop::kLeast, 2);
  std::vector<Loop> found;
  std::uint64_t end = run;
  for (const Use& use : std::views::reverse(grammar.rule(0))) {
    if (end < run - end) break;  // all that comes before is shorter than what comes behind
    const std::uint64_t period = grammar.length(use.symbol), begin = end - use.times * period;
    if (use.times > 1 && end - begin >= least) found.push_back({begin, end, period});
    end = begin;
  }
  return found;
}

}  // namespace

std::optional<LastLoop> last_loop(const Grammar& grammar) {
  const std::uint64_t run = grammar.length(0);
  std::optional<LastLoop> last;
  std::uint64_t longest = 0;
  const std::vector<Loop> all = loops(grammar);
  if (all.empty()) return last;
  Places here(grammar), earlier(grammar);
  const auto event = [&](Places& places, std::uint64_t number) {
    return grammar.uses()[places.path(number).back().position].symbol;
  };
  for (const Loop& loop : all) {
    std::uint64_t end = loop.end;
    const std::uint64_t furthest = std::min(run, loop.end + kFurthest);
    while (end < furthest && event(here, end) == event(earlier, end - loop.period)) ++end;
    const std::uint64_t length = end - loop.begin;
    if (length < run - end) continue;
    if (last && (end < last->end || (end == last->end && length <= longest))) continue;
    last = {end, loop.period};
    longest = length;
  }
  return last;
}

}  // namespace refrain::oracle
