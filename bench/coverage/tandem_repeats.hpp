#pragma once
// What else might find traces: tandem repeats, in which a part of the text comes several times without
// anything between.

#include <cstdint>
#include <span>
#include <vector>

#include "repeats/repeats.hpp"

namespace refrain::bench {

/// Disjoint tandem repeats of parts of at least that length that cover as much as tandem repeats can; of
/// several ways to do so one with short parts. O(n^2).
std::vector<autotrace::Repeat> tandem_repeats(std::span<const autotrace::Token> text,
                                              std::uint32_t least_length);

}  // namespace refrain::bench
