#pragma once
// Algorithm 2 again and again. Between two suffixes it considers all that they have in common and nothing shorter, so
// once the longest repeats are chosen, most of what is left between them belongs to candidates that reach into
// them, and is not covered: of a loop with something between some of its iterations about a fifth.
// Here the same algorithm then has what is left as its text, and so on. This goes beyond the paper, which looks at
// slices of several lengths instead. The trace finder does without: what is left it finds when it mines the next sample,
// without what is replayed by then.

#include <cstdint>
#include <span>
#include <vector>

#include "repeats/repeats.hpp"

namespace refrain::autotrace {

/// As find_repeats; each is chosen at least twice, and together they cover at least as much. Costs at most six
/// times as much.
std::vector<Repeat> find_repeats_in_passes(std::span<const Token> text, std::uint32_t least_length);

}  // namespace refrain::autotrace
