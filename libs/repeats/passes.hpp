#pragma once
// Algorithm 2 in passes. Of two suffixes the algorithm considers the longest common beginning, and nothing shorter. Once
// the longest repeats are chosen, most of the text between them belongs to candidates that reach into them, and stays
// uncovered: about a fifth of a loop with calls between some of its iterations. So each pass has the uncovered text of
// the last one as its text. This goes beyond the paper, which looks at slices of several lengths instead. The trace
// finder needs no passes: its next sample lacks the calls that are replayed by then.

#include <cstdint>
#include <span>
#include <vector>

#include "repeats/repeats.hpp"

namespace refrain::autotrace {

/// As find_repeats; each is chosen at least twice, and together they cover at least as much. Costs at most six
/// times as much.
std::vector<Repeat> find_repeats_in_passes(std::span<const Token> text, std::uint32_t least_length);

}  // namespace refrain::autotrace
