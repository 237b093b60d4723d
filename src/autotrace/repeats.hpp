#pragma once
// Repeats: what a text has several times, chosen so that it covers much of the text without overlap. A text of
// tokens, each of which stands for a call; what repeats may be worth a trace. Yadav et al., "Automatic
// Tracing in Task-Based Runtime Systems", section 4.2, Algorithm 2.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace refrain::autotrace {

using Token = std::uint64_t;

/// Some tokens in a row that the text has elsewhere, too.
struct Candidate {
  std::uint32_t length;
  std::uint32_t name;  ///< equal tokens have equal names, among candidates of one length
  std::uint32_t begin;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// Of each two neighbours in the suffix array what they have in common, twice, where it does not overlap; else
/// what is repeated in it, as often as it fits, once in each half. In the order in which they are chosen: the
/// longest first, then by their tokens, then from the beginning. At most 2n.
std::vector<Candidate> candidates(std::span<const Token> text, std::uint32_t least_length);

/// What was chosen.
struct Repeat {
  std::uint32_t length;
  std::vector<std::uint32_t>
      begins;  ///< at least one, ascending, disjoint also from other repeats'
};

/// Candidates, greedily: each one that overlaps with none before. Longest first. O(n log n).
std::vector<Repeat> find_repeats(std::span<const Token> text, std::uint32_t least_length);

/// How many tokens are in repeats that were chosen at least twice.
std::size_t coverage(std::span<const Repeat> repeats);

}  // namespace refrain::autotrace
