#pragma once
// Eight streams of 10^5 events (eight_streams.hpp), for comparisons with other implementations of the paper.

#include "support/options.hpp"
#include "support/records.hpp"

namespace refrain::bench {

/// ns per event to record, with times and without, with the file; its bytes beside those of the grammar in words of one
/// or two bytes, which is what libPythia writes (goal: at most twice that and 1 KiB). With the reference of one seed and
/// the run of another: how much is predicted right (goal: no less than from the most prevalent place), and ns for it
/// (goal: at most 1000).
void measure_eight_streams(const Options& options, Records& records);

}  // namespace refrain::bench
