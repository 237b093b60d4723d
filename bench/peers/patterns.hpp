#pragma once
// Task Bench's graphs as a peer is asked for them. Requests `kind= width= steps= iterations=`, and, if not the defaults of
// apps/patterns, `kernel= radix= graphs= bytes=`: nanoseconds of all steps. Kinds and kernels by their numbers.

#include <stdexcept>
#include <vector>

#include "patterns/sequential.hpp"
#include "peers/peer.hpp"

namespace peer {

inline patterns::Setup patterns_setup(const Request& request) {
  const auto or_else = [&](const char* key, std::int64_t otherwise) {
    return request.has(key) ? request[key] : otherwise;
  };
  patterns::Pattern pattern;
  pattern.kind = static_cast<patterns::Kind>(request["kind"]);
  pattern.width = static_cast<int>(request["width"]);
  pattern.steps = static_cast<int>(request["steps"]);
  pattern.radix = static_cast<int>(or_else("radix", pattern.radix));
  patterns::Setup setup;
  for (; pattern.graph < or_else("graphs", 1); ++pattern.graph) setup.graphs.push_back(pattern);
  setup.work.kernel = static_cast<patterns::Kernel>(or_else("kernel", 0));
  setup.work.iterations = request["iterations"];
  setup.work.cells =
      static_cast<int>(or_else("bytes", sizeof(patterns::Cell)) / sizeof(patterns::Cell));
  return setup;
}

/// The same with fewer steps: so many rounds that threads are awake and pages are there.
inline patterns::Setup short_of(patterns::Setup setup) {
  for (patterns::Pattern& graph : setup.graphs) graph.steps = graph.width < 8 ? 8 : graph.width;
  return setup;
}

/// Throws unless these are, bit for bit, the digests of the sequential program. Short programs are checked, long ones would
/// take twice as long.
inline void check_patterns(const patterns::Setup& setup,
                           const std::vector<std::uint64_t>& digests) {
  if (setup.tasks() * (setup.work.iterations + 1) > 200'000) return;
  if (digests != patterns::run_sequential(setup).digests)
    throw std::runtime_error("the check of the patterns failed");
}

}  // namespace peer
