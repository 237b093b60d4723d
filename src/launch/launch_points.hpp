#pragma once
// The points of a launch, and those of them that this process analyses: its *own points*. A point has a *launch rank*,
// its position in the order of the launch domain, which mappers and tasks' bodies are told, and by which programs ask for
// values; and, if it is an own one, an *own rank*, its position among these. Plans, records, nodes and futures are by own
// rank. Both orders are that of the domain, so one follows from the other without a table.
//
// Immutable; any thread. O(1) where all points are own ones, else O(log boxes).

#include <optional>

#include "base/assert.hpp"
#include "data/index_space.hpp"
#include "refrain/dynamic.hpp"

namespace refrain {

namespace runtime {

struct LaunchPoints {
  data::IndexSpaceRef domain;  ///< all points; of a single launch one
  data::IndexSpaceRef own;     ///< within the domain

  /// Nothing, if it is another process's.
  [[nodiscard]] std::optional<std::size_t> own_rank(std::size_t launch_rank) const {
    if (own == domain) return launch_rank;
    return own->rank(domain->nth(launch_rank));
  }
  [[nodiscard]] std::size_t launch_rank(std::size_t own_rank) const {
    if (own == domain) return own_rank;
    const std::optional<std::size_t> rank = domain->rank(own->nth(own_rank));
    REFRAIN_ASSERT(rank, "own points are points of the domain");
    return *rank;
  }
};

}  // namespace runtime

namespace detail {

/// The points of the domain, in its number of dimensions. Programs launch over the same few dense domains again and again,
/// so the present thread remembers the last ones. Any thread.
[[nodiscard]] data::IndexSpaceRef space_of(const LaunchDomain& domain);
/// The points of a launch; errors name it.
[[nodiscard]] data::IndexSpaceRef domain_of(const LaunchRequest& launch);

}  // namespace detail

}  // namespace refrain
