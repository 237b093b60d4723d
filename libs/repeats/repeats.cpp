#include "repeats/repeats.hpp"

#include <algorithm>
#include <utility>

#include "repeats/alphabet.hpp"
#include "repeats/suffix_array.hpp"

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

SuffixArray suffix_array_of(std::span<const Token> text) {
  Alphabet alphabet;
  std::vector<std::uint32_t> letters;
  letters.reserve(text.size());
  for (const Token token : text) letters.push_back(alphabet.letter(token));
  return suffix_array(letters, alphabet.size());
}

/// Of all neighbours in the suffix array. Those of one length stay in the array's order, in which names grow.
class Candidates {
 public:
  Candidates(const SuffixArray& suffixes, std::uint32_t least_length) {
    const auto pairs = static_cast<std::uint32_t>(suffixes.common.size());
    // A counting sort; no candidate is as long as the text.
    ends_.resize(pairs);
    for (std::uint32_t pair = 0; pair < pairs; ++pair)
      if (const std::uint32_t length = length_of(suffixes, pair); length >= least_length)
        ++ends_[pairs - length];
    std::uint32_t number = 0;
    for (std::uint32_t& end : ends_) number += std::exchange(end, number);
    places_.resize(number);
    Runs runs;
    for (std::uint32_t pair = 0; pair < pairs; ++pair) {
      runs.next(pair, suffixes.common[pair]);
      const std::uint32_t length = length_of(suffixes, pair);
      if (length < least_length) continue;
      const auto [first, second] = std::minmax(suffixes.begins[pair], suffixes.begins[pair + 1]);
      places_[ends_[pairs - length]++] = {runs.name(length), first,
                                          std::max(second, first + length)};
    }
  }

  /// `visit(length, begins)`, the longest first. `begins`, which the visitor may change, is in no order, and may have
  /// a place several times.
  template <class Visit>
  void for_each(Visit visit) const {
    std::vector<std::uint32_t> begins;
    auto at = places_.begin();
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      for (const auto end = places_.begin() + ends_[i]; at != end;) {
        const std::uint32_t name = at->name;
        begins.clear();
        for (; at != end && at->name == name; ++at)
          begins.insert(begins.end(), {at->first, at->second});
        visit(static_cast<std::uint32_t>(ends_.size() - i), begins);
      }
    }
  }

 private:
  struct Places {
    std::uint32_t name;  ///< equal tokens have equal names, among candidates of one length
    std::uint32_t first, second;
  };

  static std::uint32_t length_of(const SuffixArray& suffixes, std::uint32_t pair) {
    const std::uint32_t common = suffixes.common[pair];
    const auto [first, second] = std::minmax(suffixes.begins[pair], suffixes.begins[pair + 1]);
    const std::uint32_t distance = second - first;
    if (distance >= common) return common;
    // The two overlap: both together are the first `distance` tokens again and again.
    const std::uint32_t half = (common + distance) / 2;
    return half - half % distance;
  }

  std::vector<std::uint32_t> ends_;  ///< in `places_`, by length, the longest first
  std::vector<Places> places_;
};

}  // namespace

std::vector<Repeat> find_repeats(std::span<const Token> text, std::uint32_t least_length) {
  const Candidates candidates(suffix_array_of(text), std::max(1U, least_length));
  std::vector<Repeat> chosen;
  std::vector<bool> covered(text.size());
  candidates.for_each([&](std::uint32_t length, std::vector<std::uint32_t>& begins) {
    // What was chosen before is no shorter, so it cannot lie inside.
    std::erase_if(
        begins, [&](std::uint32_t begin) { return covered[begin] || covered[begin + length - 1]; });
    if (begins.size() < 2) return;
    std::ranges::sort(begins);
    std::uint32_t end = 0;
    std::erase_if(begins, [&](std::uint32_t begin) {
      if (begin < end) return true;
      end = begin + length;
      return false;
    });
    if (begins.size() < 2) return;
    for (const std::uint32_t begin : begins) std::fill_n(covered.begin() + begin, length, true);
    chosen.push_back({length, begins});
  });
  return chosen;
}

std::size_t coverage(std::span<const Repeat> repeats) {
  std::size_t covered = 0;
  for (const Repeat& repeat : repeats)
    if (repeat.begins.size() > 1) covered += repeat.length * repeat.begins.size();
  return covered;
}

}  // namespace refrain::autotrace
