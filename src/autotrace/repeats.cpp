#include "autotrace/repeats.hpp"

#include <algorithm>
#include <utility>

#include "autotrace/alphabet.hpp"
#include "autotrace/suffix_array.hpp"

namespace refrain::autotrace {

namespace {

/// Names what is common to a run of neighbours in the suffix array by where the run begins, of as many letters
/// as asked for. Follows the array: at any time it knows the runs that reach up to the present pair.
class Runs {
 public:
  void next(std::uint32_t pair, std::uint32_t common) {
    std::uint32_t begin = pair;
    while (!open_.empty() && open_.back().common >= common) {
      begin = open_.back().begin;
      open_.pop_back();
    }
    open_.push_back({common, begin});
  }
  /// `length`: not more than the present pair has in common.
  [[nodiscard]] std::uint32_t name(std::uint32_t length) const {
    return std::ranges::lower_bound(open_, length, {}, &Run::common)->begin;
  }

 private:
  struct Run {
    std::uint32_t common;
    std::uint32_t begin;
  };
  std::vector<Run> open_;  ///< with ever more in common
};

/// The longest first, else as they were.
std::vector<Candidate> by_length(const std::vector<Candidate>& candidates, std::uint32_t longest) {
  std::vector<std::uint32_t> next(longest + 2);
  for (const Candidate& candidate : candidates) ++next[longest - candidate.length + 1];
  for (std::uint32_t i = 0; i <= longest; ++i) next[i + 1] += next[i];
  std::vector<Candidate> sorted(candidates.size());
  for (const Candidate& candidate : candidates)
    sorted[next[longest - candidate.length]++] = candidate;
  return sorted;
}

/// Each run of equal tokens from the beginning of the text.
void sort_within_names(std::vector<Candidate>& candidates) {
  for (auto first = candidates.begin(); first != candidates.end();) {
    const auto last = std::find_if(first, candidates.end(), [first](const Candidate& c) {
      return c.length != first->length || c.name != first->name;
    });
    std::ranges::sort(first, last, {}, &Candidate::begin);
    first = last;
  }
}

}  // namespace

std::vector<Candidate> candidates(std::span<const Token> text, std::uint32_t least_length) {
  Alphabet alphabet(text.size());
  std::vector<std::uint32_t> letters;
  letters.reserve(text.size());
  for (const Token token : text) letters.push_back(alphabet.letter(token));
  const SuffixArray suffixes = suffix_array(letters, alphabet.size());

  std::vector<Candidate> found;
  found.reserve(2 * text.size());
  const std::uint32_t least = std::max(1U, least_length);
  Runs runs;
  for (std::uint32_t pair = 0; pair < suffixes.common.size(); ++pair) {
    const std::uint32_t common = suffixes.common[pair];
    runs.next(pair, common);
    const auto [first, second] = std::minmax(suffixes.begins[pair], suffixes.begins[pair + 1]);
    const std::uint32_t distance = second - first;
    // Where the two overlap, all of it is the first `distance` letters again and again.
    const bool overlap = distance < common;
    const std::uint32_t half = (common + distance) / 2;
    const std::uint32_t length = overlap ? half - half % distance : common;
    if (length < least) continue;
    const std::uint32_t name = runs.name(length);
    found.push_back({length, name, first});
    found.push_back({length, name, overlap ? first + length : second});
  }
  // Names of one length grow along the array, so they are in order already.
  std::vector<Candidate> sorted = by_length(found, static_cast<std::uint32_t>(text.size()));
  sort_within_names(sorted);
  return sorted;
}

std::vector<Repeat> find_repeats(std::span<const Token> text, std::uint32_t least_length) {
  std::vector<Repeat> chosen;
  std::vector<bool> covered(text.size());
  std::pair<std::uint32_t, std::uint32_t> last{0, 0};
  for (const auto& [length, name, begin] : candidates(text, least_length)) {
    // What was chosen before is no shorter, so it cannot lie inside.
    if (covered[begin] || covered[begin + length - 1]) continue;
    std::fill_n(covered.begin() + begin, length, true);
    if (chosen.empty() || last != std::pair(length, name)) chosen.push_back({length, {}});
    last = {length, name};
    chosen.back().begins.push_back(begin);
  }
  return chosen;
}

std::size_t coverage(std::span<const Repeat> repeats) {
  std::size_t covered = 0;
  for (const Repeat& repeat : repeats)
    if (repeat.begins.size() > 1) covered += repeat.length * repeat.begins.size();
  return covered;
}

}  // namespace refrain::autotrace
