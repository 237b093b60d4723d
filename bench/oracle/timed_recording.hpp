#pragma once
// What it costs to record with time stamps, and how good the delays are that come of it.

#include "support/options.hpp"
#include "support/records.hpp"

namespace refrain::bench {

/// Of the program streams: ns per event with and without times, memory (goal: at most 100 ns), and how far the delays
/// are from those of the paper's way, which keeps all times and replays them at the end:
///   delay_error       between the two means of each event, by the mean time
///   prediction_error  between the delay that is predicted for the next event, all along the same run, and its time
/// Times depend on the last three events, with noise of up to 10% (5% on average, which no prediction can avoid).
void measure_timed_recording(const Options& options, Records& records);

}  // namespace refrain::bench
