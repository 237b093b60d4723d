#pragma once
// What one statement costs: a * b + c on small arrays.

#include "support/options.hpp"
#include "support/records.hpp"

namespace refrain::bench {

/// Beside the bare loop over the same data.
void measure_statement(const Options& options, Records& records);
/// The most memory that a loop over large arrays takes, beside what its arrays have.
void measure_memory(const Options& options, Records& records);

}  // namespace refrain::bench
