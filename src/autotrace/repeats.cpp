#include "autotrace/repeats.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "autotrace/suffix_array.hpp"

namespace refrain::autotrace {

namespace {

/// Numbers tokens from 0 in the order in which they are met.
class Alphabet {
 public:
  explicit Alphabet(std::size_t most) : slots_(std::bit_ceil(2 * most + 1)) {}

  std::uint32_t letter(Token token) {
    // Fibonacci hashing: tokens may be small numbers.
    std::size_t at = (token * 0x9e3779b97f4a7c15u) >> (64 - std::countr_zero(slots_.size()));
    while (slots_[at].letter_and_one != 0 && slots_[at].token != token)
      at = (at + 1) % slots_.size();
    if (slots_[at].letter_and_one == 0) slots_[at] = {token, ++size_};
    return slots_[at].letter_and_one - 1;
  }
  [[nodiscard]] std::uint32_t size() const { return size_; }

 private:
  struct Slot {
    Token token = 0;
    std::uint32_t letter_and_one = 0;
  };
  std::vector<Slot> slots_;
  std::uint32_t size_ = 0;
};

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

/// Stable; `key`: less than `keys`.
template <class Key>
void sort_by(std::vector<Candidate>& candidates, std::uint32_t keys, Key key) {
  std::vector<std::uint32_t> ends(keys + 1);
  for (const Candidate& candidate : candidates) ++ends[key(candidate) + 1];
  for (std::uint32_t i = 0; i < keys; ++i) ends[i + 1] += ends[i];
  std::vector<Candidate> sorted(candidates.size());
  for (const Candidate& candidate : candidates) sorted[ends[key(candidate)]++] = candidate;
  candidates.swap(sorted);
}

}  // namespace

std::vector<Candidate> candidates(std::span<const Token> text, std::uint32_t least_length) {
  Alphabet alphabet(text.size());
  std::vector<std::uint32_t> letters;
  letters.reserve(text.size());
  for (const Token token : text) letters.push_back(alphabet.letter(token));
  const SuffixArray suffixes = suffix_array(letters, alphabet.size());

  std::vector<Candidate> found;
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
  const auto size = static_cast<std::uint32_t>(text.size());
  sort_by(found, size, [](const Candidate& c) { return c.begin; });
  sort_by(found, size, [](const Candidate& c) { return c.name; });
  sort_by(found, size, [size](const Candidate& c) { return size - c.length; });
  return found;
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
