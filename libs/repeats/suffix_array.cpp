#include "repeats/suffix_array.hpp"

#include <algorithm>
#include <utility>

namespace refrain::autotrace {

namespace {

using Letters = std::span<const std::uint32_t>;
using Suffixes = std::vector<std::uint32_t>;
/// Beside where a suffix begins: this pass has still to put the one that begins a letter earlier. So the text is looked
/// at only where something is put, at two letters in a row.
constexpr std::uint32_t kInduces = 1U << 31;
constexpr std::uint32_t kEmpty = kInduces - 1;

// Induced sorting. A suffix is *smaller* if it comes before the one that begins a letter later, else
// *larger*; a place is *leftmost* if its suffix is smaller and that before it larger. Suffixes that begin at
// leftmost places, once in order, put all larger ones in order in one pass from the left, and these all smaller
// ones in one from the right. Their own order is that of the pieces between leftmost places, which are sorted in
// the same way; where two pieces are equal, by the suffixes of the text of the pieces' numbers.
//
// The end of the text is smaller than every letter, and has no place in the array.
class Sorter {
 public:
  Sorter(Letters text, std::uint32_t alphabet) : text_(text), ends_(alphabet + 1) {
    for (const std::uint32_t letter : text) ++ends_[letter + 1];
    for (std::uint32_t letter = 0; letter < alphabet; ++letter) ends_[letter + 1] += ends_[letter];
    bool smaller = false;  // the suffix behind the place looked at
    for (auto i = static_cast<std::uint32_t>(text.size() - 1); i-- > 0;) {
      const bool was = smaller;
      smaller = text[i] < text[i + 1] || (text[i] == text[i + 1] && smaller);
      if (was && !smaller) leftmost_.push_back(i + 1);
    }
    std::ranges::reverse(leftmost_);
  }

  Suffixes sort() {
    induce(leftmost_);
    if (leftmost_.size() > 1) induce(order_of_leftmost());
    return std::move(sorted_);
  }

 private:
  /// All suffixes in order, if `leftmost` are; else the pieces that begin there are.
  void induce(const Suffixes& leftmost) {
    sorted_.assign(text_.size(), kEmpty);
    // Buckets are filled from their ends with smaller ones, from their beginnings with larger ones.
    std::vector<std::uint32_t> next(ends_.begin() + 1, ends_.end());
    for (std::size_t i = leftmost.size(); i-- > 0;)
      sorted_[--next[text_[leftmost[i]]]] = leftmost[i] | kInduces;
    next.assign(ends_.begin(), ends_.end() - 1);
    const auto put_larger = [&](std::uint32_t at) {
      const std::uint32_t letter = text_[at];
      const bool induces = at > 0 && text_[at - 1] >= letter;
      sorted_[next[letter]++] = at | (induces ? kInduces : 0);
    };
    // What comes before the end of the text.
    put_larger(static_cast<std::uint32_t>(text_.size() - 1));
    for (std::uint32_t& at : sorted_) {
      if ((at & kInduces) != 0) {
        at &= ~kInduces;
        put_larger(at - 1);
      } else if (at != kEmpty && at > 0) {
        at |= kInduces;  // a smaller one, in the other pass
      }
    }
    next.assign(ends_.begin() + 1, ends_.end());
    for (std::size_t i = sorted_.size(); i-- > 0;) {
      if ((sorted_[i] & kInduces) == 0) continue;
      const std::uint32_t at = (sorted_[i] &= ~kInduces) - 1, letter = text_[at];
      const bool induces = at > 0 && text_[at - 1] <= letter;
      sorted_[--next[letter]] = at | (induces ? kInduces : 0);
    }
  }

  /// The pieces are in order in `sorted_`: numbers them, and sorts the text of these numbers.
  Suffixes order_of_leftmost() {
    // No two leftmost places are neighbours.
    std::vector<std::uint32_t> piece_at(text_.size() / 2 + 1, kEmpty);
    for (std::uint32_t i = 0; i < leftmost_.size(); ++i) piece_at[leftmost_[i] / 2] = i;
    std::vector<std::uint32_t> numbers(leftmost_.size());
    std::uint32_t number = 0, before = kEmpty;
    for (const std::uint32_t at : sorted_) {
      const std::uint32_t piece = piece_at[at / 2];
      if (piece == kEmpty || leftmost_[piece] != at) continue;
      if (before != kEmpty && !same_piece(before, piece)) ++number;
      numbers[piece] = number;
      before = piece;
    }
    Suffixes order =
        number + 1 < numbers.size() ? Sorter(numbers, number + 1).sort() : inverse(numbers);
    for (std::uint32_t& piece : order) piece = leftmost_[piece];
    return order;
  }

  static Suffixes inverse(const std::vector<std::uint32_t>& ranks) {
    Suffixes order(ranks.size());
    for (std::uint32_t i = 0; i < ranks.size(); ++i) order[ranks[i]] = i;
    return order;
  }

  /// From one leftmost place to the next, both included. The last piece, which the text's end is part of, is like no
  /// other.
  [[nodiscard]] bool same_piece(std::uint32_t a, std::uint32_t b) const {
    if (std::max(a, b) + 1 == leftmost_.size()) return false;
    const std::uint32_t length = leftmost_[a + 1] - leftmost_[a];
    return length == leftmost_[b + 1] - leftmost_[b] &&
           std::ranges::equal(text_.subspan(leftmost_[a], length + 1),
                              text_.subspan(leftmost_[b], length + 1));
  }

  Letters text_;
  std::vector<std::uint32_t> ends_;  ///< by letter: how many places hold smaller ones
  Suffixes leftmost_;                ///< as in the text
  Suffixes sorted_;
};

/// In the order of the text, where each suffix has with the one before it in the array at most one letter less in
/// common than the suffix that begins a letter earlier (J. Kärkkäinen, G. Manzini, S. J. Puglisi, "Permuted
/// longest-common-prefix array", CPM 2009).
std::vector<std::uint32_t> common_of(Letters text, const Suffixes& begins) {
  const auto size = static_cast<std::uint32_t>(text.size());
  Suffixes before(size);
  before[begins[0]] = kEmpty;
  for (std::uint32_t i = 1; i < size; ++i) before[begins[i]] = begins[i - 1];
  std::vector<std::uint32_t>& common_at = before;  // instead, from the beginning on
  std::uint32_t length = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::uint32_t other = before[i];
    const std::uint32_t most = other == kEmpty ? 0 : size - std::max(i, other);
    length = std::min(length, most);
    while (length < most && text[i + length] == text[other + length]) ++length;
    common_at[i] = length;
    if (length > 0) --length;
  }
  std::vector<std::uint32_t> common(size - 1);
  for (std::uint32_t i = 0; i + 1 < size; ++i) common[i] = common_at[begins[i + 1]];
  return common;
}

}  // namespace

SuffixArray suffix_array(std::span<const std::uint32_t> text, std::uint32_t alphabet) {
  if (text.empty()) return {};
  SuffixArray array;
  array.begins = Sorter(text, alphabet).sort();
  array.common = common_of(text, array.begins);
  return array;
}

}  // namespace refrain::autotrace
