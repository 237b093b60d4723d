#pragma once
// Eight streams of events in the order of how much is regular in them, from a loop to chance: what recording and
// predicting cost, and how good predictions are, is compared on them with another implementation of the paper.

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/program_events.hpp"

namespace refrain::bench {

/// periodic     8 events in turn
/// nested       0, ten times (1, twenty times (2 3), 4), 5
/// noisy_loop   0, three to five times (1 2), a 6 one time in ten, 3
/// thue_morse   the Thue-Morse word
/// fibonacci    the Fibonacci word
/// random_5     a loop of 24, each event of it another one with 5%
/// drifting     a loop of 32 of 40 events, of which one is another one after each 20 rounds
/// random       16 events
extern const std::vector<std::string> eight_streams;

/// Streams of other seeds are other runs of the same program: it is the same loop that they begin with.
Events eight_stream(const std::string& name, std::size_t size, std::uint64_t seed);

}  // namespace refrain::bench
