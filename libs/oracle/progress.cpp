#include "oracle/progress.hpp"

#include <algorithm>

namespace refrain::oracle {

namespace {

/// How many repetitions may be the one that is going on.
double repetitions(const Reference& reference, const Level& at) {
  return at.exact ? 1 : static_cast<double>(reference.use(at.position).times - at.time);
}

}  // namespace

double Progress::weight(const Reference& reference, std::span<const Level> levels) {
  if (levels.empty()) return 1;
  double places = reference.occurrences(reference.rule_of(levels[0].position));
  for (const Level& level : levels) places *= repetitions(reference, level);
  return places;
}

double Progress::weight(const Reference& reference, std::size_t level, const Level& at) const {
  const double around = level == 0 ? reference.occurrences(reference.rule_of(at.position))
                                   : weight(reference, levels().first(level));
  return around * repetitions(reference, at);
}

void Progress::go(const Reference& reference, std::size_t level, const Level& at) {
  levels_.shorten(level);
  levels_.append(at);
  for (Symbol symbol = reference.use(at.position).symbol; symbol.is_rule();) {
    const auto position = static_cast<std::uint32_t>(reference.grammar().begin(symbol.number()));
    levels_.append({position, true, 0});
    symbol = reference.use(position).symbol;
  }
}

void Progress::go(const Reference& reference, const Progress& from, std::size_t level,
                  const Level& at) {
  levels_.shorten(0);
  levels_.append(from.levels().first(level));
  go(reference, level, at);
}

void Progress::fit(const Reference& reference) {
  for (Level& level : levels_.all())
    if (!level.exact) level.time = std::min(level.time, reference.use(level.position).times - 1);
}

}  // namespace refrain::oracle
