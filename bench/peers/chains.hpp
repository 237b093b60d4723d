#pragma once
// The program of bench/task_overhead, as every peer runs it: `graphs` times a graph of `steps` steps
// of `chains` independent tasks with empty bodies, task (s, i) after task (s - 1, i), issued step by
// step; one wait at the end. The chains run on from one graph to the next. An unrecorded small piece
// goes before the clock starts, since the peer was asleep.

#include <cstdint>

#include "peers/peer.hpp"

namespace peer {

struct Chains {
  int chains;
  int steps;
  std::int64_t graphs;

  double tasks() const { return static_cast<double>(graphs) * steps * chains; }
};

/// Serves requests `chains=N steps=S graphs=G` with ns per task; `run(Chains)` runs them all and
/// returns when they are done, `prepare(Chains)` does what is not part of the time.
template <class Prepare, class Run>
int serve_chains(Prepare&& prepare, Run&& run) {
  return serve([&](const Request& request) {
    const Chains work{static_cast<int>(request["chains"]), static_cast<int>(request["steps"]),
                      request["graphs"]};
    prepare(work);
    run(Chains{work.chains, work.steps, 1});
    const Timer timer;
    run(work);
    return timer.ns() / work.tasks();
  });
}

}  // namespace peer
