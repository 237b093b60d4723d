#pragma once
// How peers start the runtime: `threads` counts all threads that issue or execute, so there is one
// worker fewer. Only the variants named "auto..." find traces by themselves; nothing else is changed from the
// defaults. Where a program has traces, its variants are "", without; "unoptimised", replayed with all edges;
// "traced"; and "auto", without marks.

#include <string>

#include "refrain/options.hpp"

namespace peer {

inline refrain::Options refrain_options(int threads, const std::string& variant = "") {
  refrain::Options options;
  options.workers = threads - 1;
  options.trace_optimize = variant != "unoptimised";
  options.autotrace = variant.starts_with("auto");
  return options;
}

inline bool has_traces(const std::string& variant) {
  return variant == "traced" || variant == "unoptimised";
}

}  // namespace peer
