#pragma once
// The parts of the benchmark; see main.cpp for what they measure.

#include "support/options.hpp"
#include "support/records.hpp"

namespace refrain::bench {

void measure_applications(const Options& options, Records& records);
void measure_streams(const Options& options, Records& records);
void measure_lengths(const Options& options, Records& records);
void measure_defaults(const Options& options, Records& records);

}  // namespace refrain::bench
