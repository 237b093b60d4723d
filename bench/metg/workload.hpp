#pragma once
// The programs whose efficiency is measured against the granularity of their tasks. A workload is a
// peer program and a list of sizes; a size is a request that the peer answers with nanoseconds, and
// says how many points (units of useful work) and tasks that request stands for.

#include <cstdint>
#include <string>
#include <vector>

namespace refrain::bench {

struct WorkloadSize {
  std::int64_t size;  ///< what the records call it: the edge of a tile, the rounds of a task
  std::string request;
  double points;
  double tasks;
};

/// One way to run a workload. The one named "sequential" sets the scale and has one core.
struct WorkloadSystem {
  std::string system;
  std::string variant;
  std::string program;
  int threads;  ///< what the peer is started with; 0 is the sequential program
};

struct Workload {
  std::string name;
  std::vector<WorkloadSize> sizes;
  std::vector<WorkloadSystem> systems;
};

/// All of them, for `threads` cores, sizes from coarse to fine. `quick` thins out the sizes.
std::vector<Workload> workloads(int threads, bool quick);

}  // namespace refrain::bench
