#pragma once
// Whether and how the shards of a program trace, as a seed decides.

#include <cstdint>

#include "refrain/options.hpp"
#include "support/random.hpp"

namespace refrain::test {

/// Whether the replays of a run leave out the edges that others imply.
inline bool leaves_out_edges(std::uint64_t seed) { return mix(seed, 10) % 2 == 0; }

/// How a shard traces: in a third of all runs each shard otherwise, as nothing may depend on it.
inline void set_tracing(Options& options, std::uint64_t seed, ShardId shard) {
  const std::uint64_t coin = mix(seed, 11) % 3 == 0 ? mix(seed, 100 + shard) : seed;
  options.tracing = mix(coin, 12) % 4 != 0;
  options.autotrace = mix(coin, 13) % 2 == 0;
  options.autotrace_min_length = 1 + mix(coin, 14) % 4;
  options.autotrace_sample = 2 + mix(coin, 15) % 5;
  options.autotrace_history = 20 + mix(coin, 16) % 80;
  options.trace_optimize = leaves_out_edges(seed);
}

}  // namespace refrain::test
