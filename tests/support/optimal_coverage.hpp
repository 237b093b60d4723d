#pragma once
// The judge of the repeat finder: how much of a text repeats can cover at best. Of all sets of disjoint intervals,
// each of at least some length, in which whatever is chosen is chosen at least twice: the largest total
// length (Yadav et al., "Automatic Tracing in Task-Based Runtime Systems", section 3, where one occurrence does
// not count). By exhaustive search, so for short texts only: at worst exponential, up to 16 tokens microseconds.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "repeats/repeats.hpp"

namespace refrain::test {

/// `least_length`: positive.
std::size_t optimal_coverage(std::span<const autotrace::Token> text, std::uint32_t least_length);

/// Calls with each text of that length over at most so many letters, once of all that differ only in the names
/// of letters: the letters 0, 1, 2, ... are met in this order.
void for_each_text(std::size_t length, std::uint32_t letters,
                   const std::function<void(std::span<const autotrace::Token>)>& call);

/// Letters from a on, for messages; `text` has fewer than 26 different ones, 0 to 25.
std::string in_letters(std::span<const autotrace::Token> text);

}  // namespace refrain::test
