#include "base/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace refrain {
namespace {

// Levenshtein's distance, one row of the table at a time.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t fewest = word.size() + 1;
  for (std::string_view candidate : candidates) {
    const std::size_t distance = edits(word, candidate);
    if (distance < fewest && 2 * distance <= candidate.size()) {
      fewest = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view near = nearest_name(word, candidates);
  if (!near.empty()) return "; did you mean '" + std::string(near) + "'?";
  std::string text = "; known are ";
  for (std::string_view candidate : candidates) {
    if (candidate != candidates.front()) text += ", ";
    text += candidate;
  }
  return text;
}

}  // namespace refrain
