#pragma once
// What ranks tell rank 0 when a program has ended, for reports of all of them. Collective: every rank calls the same, on
// the thread of its program, while none runs and its runtime lives.

#include <cstdint>
#include <vector>

#include "net/all_reduce.hpp"
#include "replication/ranks.hpp"

namespace refrain::replication {

/// What each rank has given, by rank; empty but on rank 0.
std::vector<net::Bytes> gather(Ranks& ranks, net::Bytes own);

/// What the clock of this rank says (profile/clock.hpp) when that of rank 0 says `ns`, which rank 0 knows: exactly where
/// both are on one machine, else to half of the quickest of some round trips.
std::uint64_t time_here(Ranks& ranks, std::uint64_t ns);

}  // namespace refrain::replication
