#pragma once
// METG(50%) of Task Bench's patterns (apps/patterns) beside the same by hand in MPI, with as many threads as ranks. Each
// repetition goes through all sizes of tasks, all systems at each, and so gives one METG of every system and one ratio to
// MPI's. Efficiency is that against the best rate of any system in the run, as Task Bench defines it.
// Records: benchmark `metg`, systems `refrain` and `mpi`, variants PATTERN, or PATTERN-untraced, -auto and -marked, size the
// width, metric `metg_us`. And with Refrain on as many ranks of one thread in place of threads: benchmark `metg_ranks`, the
// same names, and PATTERN-unchecked for marks without the control determinism check.

#include "support/options.hpp"
#include "support/records.hpp"

namespace refrain::bench {

void measure_patterns(const Options& options, int threads, Records& records);
void measure_patterns_on_ranks(const Options& options, int ranks, Records& records);

}  // namespace refrain::bench
