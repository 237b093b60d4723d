#pragma once
// How good and how quick predictions are.

#include "support/options.hpp"
#include "support/records.hpp"

namespace refrain::bench {

/// Accuracy at distances 1 to 128 in runs of another size than the recorded one (as in Figure 8 of PYTHIA), and with
/// noise.
void measure_accuracy(const Options& options, Records& records);

/// ns to follow an event, and to predict at distances 1, 64 and 10,000, while one sequence is followed.
void measure_prediction_time(const Options& options, Records& records);

}  // namespace refrain::bench
