#pragma once
// What else might find traces: the phrases of LZW (T. Welch, "A technique for high-performance data
// compression", IEEE Computer 17, 1984). It reads the text once; the longest phrase that it knows is what it takes next,
// and that and the token after it become a new phrase. So what repeats grows by one token each time.

#include <cstdint>
#include <span>
#include <vector>

#include "repeats/repeats.hpp"

namespace refrain::bench {

/// Every phrase of at least that length that was taken, and where. O(n) look-ups in a map.
std::vector<autotrace::Repeat> lzw_phrases(std::span<const autotrace::Token> text,
                                           std::uint32_t least_length);

}  // namespace refrain::bench
