#pragma once
// Repeats of a text: strings that it has several times, chosen so that they cover much of it without overlap. The text
// is of tokens, each of which stands for a call; a repeat may be worth a trace. Yadav et al., "Automatic Tracing in
// Task-Based Runtime Systems", section 4.2, Algorithm 2. One thing is added: a repeat is chosen at two places or more,
// as the problem in their section 3 demands.

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

/// Candidates. Two neighbours in the suffix array begin alike, at two places of the text. Where these places do not
/// overlap, the common beginning is a candidate, at both. Where they do, a period is repeated there; the candidate is as
/// many periods as fit twice, the second time right behind the first.
///
/// Choice. The longest candidate comes first. Of two equally long ones the first different token decides: the token
/// that appears earlier in the text comes first. A candidate is chosen at all its places that overlap with no place
/// chosen before, from the beginning of the text on. If only one place is left, it is not chosen, and its tokens stay
/// for shorter candidates.
///
/// `text`: fewer than 2^31 tokens. Longest first. O(n log n), memory O(n).
std::vector<Repeat> find_repeats(std::span<const Token> text, std::uint32_t least_length);

/// How many tokens are in repeats that were chosen at least twice.
std::size_t coverage(std::span<const Repeat> repeats);

}  // namespace refrain::autotrace
