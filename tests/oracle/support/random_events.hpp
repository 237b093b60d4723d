#pragma once
// Short random streams of events in which much comes again.

#include <cstdint>
#include <vector>

#include "support/random.hpp"

namespace refrain::oracle {

using Events = std::vector<std::uint32_t>;

/// Up to 400 of up to 8 different events, in one of these ways: at random; with a period and noise; loops in loops,
/// with the same or varying numbers of iterations, at times with a branch; words made of words made of words; the
/// Fibonacci and the Thue-Morse word, with noise.
Events random_events(test::Random& random);

}  // namespace refrain::oracle
