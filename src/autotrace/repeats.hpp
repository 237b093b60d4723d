#pragma once
// Repeats: what a text has several times, chosen so that it covers much of the text without overlap. A text of
// tokens, each of which stands for a call; what repeats may be worth a trace. Yadav et al., "Automatic
// Tracing in Task-Based Runtime Systems", section 4.2, Algorithm 2, with one thing more than is written there: what
// is chosen is chosen at least twice, as the problem in their section 3 demands.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace refrain::autotrace {

using Token = std::uint64_t;

/// Some tokens in a row that the text has several times.
struct Repeat {
  std::uint32_t length;
  std::vector<std::uint32_t>
      begins;  ///< at least two, ascending, disjoint also from other repeats'
};

/// Candidates are, of each two neighbours in the suffix array, what they have in common, in both places, if these do
/// not overlap; else as much as fits twice of what is repeated in it, one behind the other. Greedily: the longest
/// candidate first, of equally long ones that with the token that comes first in the text where they differ first. Of
/// a candidate all places are chosen, from the beginning of the text on, that overlap with none that was chosen before;
/// if that is only one, none is, and its tokens are left to shorter candidates.
/// `text`: fewer than 2^31 tokens. Longest first. O(n log n), memory O(n).
std::vector<Repeat> find_repeats(std::span<const Token> text, std::uint32_t least_length);

/// How many tokens are in repeats that were chosen at least twice.
std::size_t coverage(std::span<const Repeat> repeats);

}  // namespace refrain::autotrace
