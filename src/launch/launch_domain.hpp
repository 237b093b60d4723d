#pragma once
// The points of a group launch as an index space. Programs launch over the same few dense domains again
// and again, so the present thread remembers the last ones; a domain given as an index space is one
// already.

#include "data/index_space.hpp"
#include "refrain/dynamic.hpp"

namespace refrain::detail {

/// The points of the domain, in its number of dimensions. Any thread.
[[nodiscard]] data::IndexSpaceRef space_of(const LaunchDomain& domain);
/// Those of a group launch; errors name it.
[[nodiscard]] data::IndexSpaceRef domain_of(const LaunchRequest& launch);

}  // namespace refrain::detail
