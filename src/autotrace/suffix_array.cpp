#include "autotrace/suffix_array.hpp"

#include <limits>
#include <utility>

namespace refrain::autotrace {

namespace {

using Letters = std::span<const std::uint32_t>;
using Suffixes = std::vector<std::uint32_t>;
constexpr std::uint32_t kEmpty = std::numeric_limits<std::uint32_t>::max();

// Induced sorting. A suffix is *smaller* if it comes before the one that begins a letter later, else
// *larger*; a place is *leftmost* if its suffix is smaller and that before it larger. Suffixes that begin at
// leftmost places, once in order, put all larger ones in order in one pass from the left, and these all smaller
// ones in one from the right. Their own order is that of the pieces between leftmost places, which are sorted in
// the same way; where two pieces are equal, by the suffixes of the text of the pieces' numbers.
//
// The end of the text is smaller than every letter, and has no place in the array.
class Sorter {
 public:
  Sorter(Letters text, std::uint32_t alphabet)
      : text_(text), smaller_(text.size()), ends_(alphabet + 1) {
    for (std::size_t i = text.size() - 1; i-- > 0;)
      smaller_[i] = text[i] < text[i + 1] || (text[i] == text[i + 1] && smaller_[i + 1]);
    for (const std::uint32_t letter : text) ++ends_[letter + 1];
    for (std::uint32_t letter = 0; letter < alphabet; ++letter) ends_[letter + 1] += ends_[letter];
    for (std::uint32_t i = 1; i < text.size(); ++i)
      if (smaller_[i] && !smaller_[i - 1]) leftmost_.push_back(i);
  }

  Suffixes sort() {
    induce(leftmost_);
    if (leftmost_.size() > 1) induce(order_of_leftmost());
    return std::move(sorted_);
  }

 private:
  [[nodiscard]] bool is_leftmost(std::uint32_t i) const {
    return i > 0 && i != kEmpty && smaller_[i] && !smaller_[i - 1];
  }

  /// All suffixes in order, if `leftmost` are; else the pieces that begin there are.
  void induce(const Suffixes& leftmost) {
    sorted_.assign(text_.size(), kEmpty);
    // Buckets are filled from their ends with smaller ones, from their beginnings with larger ones.
    std::vector<std::uint32_t> next(ends_.begin() + 1, ends_.end());
    for (std::size_t i = leftmost.size(); i-- > 0;)
      sorted_[--next[text_[leftmost[i]]]] = leftmost[i];
    next.assign(ends_.begin(), ends_.end() - 1);
    const auto last = static_cast<std::uint32_t>(text_.size() - 1);
    sorted_[next[text_[last]]++] = last;  // what comes before the end of the text
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      const std::uint32_t at = sorted_[i];
      if (at != kEmpty && at > 0 && !smaller_[at - 1]) sorted_[next[text_[at - 1]]++] = at - 1;
    }
    next.assign(ends_.begin() + 1, ends_.end());
    for (std::size_t i = sorted_.size(); i-- > 0;) {
      const std::uint32_t at = sorted_[i];
      if (at != kEmpty && at > 0 && smaller_[at - 1]) sorted_[--next[text_[at - 1]]] = at - 1;
    }
  }

  /// The pieces are in order in `sorted_`: numbers them, and sorts the text of these numbers.
  Suffixes order_of_leftmost() {
    std::vector<std::uint32_t> number(text_.size(), kEmpty);
    std::uint32_t numbers = 0, before = kEmpty;
    for (const std::uint32_t at : sorted_) {
      if (!is_leftmost(at)) continue;
      if (before != kEmpty && !same_piece(before, at)) ++numbers;
      number[at] = numbers;
      before = at;
    }
    std::vector<std::uint32_t> pieces;
    for (const std::uint32_t at : leftmost_) pieces.push_back(number[at]);
    Suffixes order =
        numbers + 1 < pieces.size() ? Sorter(pieces, numbers + 1).sort() : inverse(pieces);
    for (std::uint32_t& piece : order) piece = leftmost_[piece];
    return order;
  }

  static Suffixes inverse(const std::vector<std::uint32_t>& ranks) {
    Suffixes order(ranks.size());
    for (std::uint32_t i = 0; i < ranks.size(); ++i) order[ranks[i]] = i;
    return order;
  }

  /// From one leftmost place to the next, both included.
  [[nodiscard]] bool same_piece(std::uint32_t a, std::uint32_t b) const {
    for (std::uint32_t i = 0;; ++i) {
      if (a + i == text_.size() || b + i == text_.size()) return false;
      if (text_[a + i] != text_[b + i]) return false;
      if (i == 0) continue;
      const bool ends = is_leftmost(a + i);
      if (ends != is_leftmost(b + i)) return false;
      if (ends) return true;
    }
  }

  Letters text_;
  std::vector<bool> smaller_;
  std::vector<std::uint32_t> ends_;  ///< by letter: how many places hold smaller ones
  Suffixes leftmost_;                ///< as in the text
  Suffixes sorted_;
};

/// T. Kasai et al., "Linear-time longest-common-prefix computation in suffix arrays", CPM 2001.
std::vector<std::uint32_t> common_of(Letters text, const Suffixes& begins) {
  Suffixes rank(begins.size());
  for (std::uint32_t i = 0; i < begins.size(); ++i) rank[begins[i]] = i;
  std::vector<std::uint32_t> common(begins.size() - 1);
  std::size_t length = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (rank[i] + 1 == begins.size()) {
      length = 0;
      continue;
    }
    const std::size_t other = begins[rank[i] + 1];
    while (i + length < text.size() && other + length < text.size() &&
           text[i + length] == text[other + length])
      ++length;
    common[rank[i]] = static_cast<std::uint32_t>(length);
    if (length > 0) --length;
  }
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
