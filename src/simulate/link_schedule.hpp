#pragma once
// The links of a simulated machine, and the adapters between its nodes: when a copy begins, and what they have done.
// Within a node a copy waits for the one or two links that it goes over, and between nodes for the adapters of both; then
// it keeps each busy for its latency + bytes/bandwidth. A way of more links waits for nothing. Owner: the thread of the
// simulation.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "refrain/machine.hpp"

namespace refrain::simulate {

class LinkSchedule {
 public:
  using Ends = std::pair<MemoryId, MemoryId>;  ///< source and target
  struct Use {
    std::uint64_t copies = 0, bytes = 0;
    double busy = 0;  ///< seconds
  };

  /// The machine outlives this.
  explicit LinkSchedule(const Machine& machine) : machine_(machine), adapters_(machine.ranks()) {}
  /// When a copy begins that is ready now. Seconds.
  double begin(const Ends& ends, std::uint64_t bytes, double now);
  /// A copy that takes so long, which a processor makes.
  void count(const Ends& ends, std::uint64_t bytes, double seconds);
  [[nodiscard]] const std::map<Ends, Use>& uses() const { return uses_; }

 private:
  const std::vector<const Link*>& route(const Ends& ends);

  const Machine& machine_;
  std::map<Ends, std::vector<const Link*>> routes_;  ///< within a node
  std::map<const Link*, double> free_at_;
  std::vector<std::pair<double, double>> adapters_;  ///< by rank: when they are free, out and in
  std::map<Ends, Use> uses_;
};

}  // namespace refrain::simulate
