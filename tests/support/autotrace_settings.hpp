#pragma once
// Options of automatic tracing for tests, and what it has done.

#include "refrain/runtime.hpp"

namespace refrain::test {

/// Whatever repeats is found at once, in a history that loops are soon longer than.
inline Options eager(Options options) {
  options.autotrace_min_length = 2;
  options.autotrace_sample = 4;
  options.autotrace_history = 64;
  return options;
}

/// The share of the calls between two looks that was replayed.
inline double share_replayed(const Counters& before, const Counters& after) {
  const auto replayed = static_cast<double>(after.autotrace.replayed - before.autotrace.replayed);
  const auto analysed = static_cast<double>(after.autotrace.analysed - before.autotrace.analysed);
  return replayed / (replayed + analysed);
}

}  // namespace refrain::test
