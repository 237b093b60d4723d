#pragma once
// The parts of the benchmark; see main.cpp for what they measure.

#include "support/options.hpp"
#include "support/records.hpp"

namespace refrain::bench {

void measure_warm_start(const Options& options, Records& records);
void measure_order(const Options& options, Records& records);
void measure_accuracy(const Options& options, Records& records);

}  // namespace refrain::bench
