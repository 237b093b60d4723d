#pragma once
// What it costs to record: time for an event, and memory.

#include "support/options.hpp"
#include "support/records.hpp"

namespace refrain::bench {

/// Of streams of 10^4 to 10^7 events: ns per event, in all and in the last tenth, and the grammar's size.
/// Goals: at most 60 ns, the same for 10^7 events as for 10^4, under 64 bytes for a symbol of a grammar.
void measure_recording(const Options& options, Records& records);

/// The memory for 10^9 events of a regular program (goal: under 1 MiB), for 10^8 of them with time stamps, and for more
/// than 2^32 times the same event.
void measure_memory(const Options& options, Records& records);

}  // namespace refrain::bench
