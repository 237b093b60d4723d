#pragma once
// Folding into storage that others fold into at the same time. A fold is not atomic, so updates of one
// value exclude each other.
//
// Where a value lies says which lock is held while it is updated: the locks are a fixed number for the
// process, and each block of 16 KiB has one of them. So folds of disjoint sets do not wait for each
// other, and folds of the same set pass through it one block behind another; a lock per instance would
// make all of them take turns, since all regions of main memory share one. Unrelated blocks that share a
// lock lose a little time now and then. A fold holds one lock at a time and waits for nothing while it
// does, so there is no deadlock; under the seeded scheduler a fold runs in one piece, and no lock is ever
// taken when another holds it.
//
// Threads: any.

#include <cstddef>

#include "refrain/reduction.hpp"

namespace refrain::data {

/// values[i] = fold(values[i], contributions[i]), as ReductionOp::fold, each under its lock.
void fold_shared(decltype(ReductionOp::fold) fold, std::byte* values, std::ptrdiff_t value_stride,
                 const std::byte* contributions, std::ptrdiff_t contribution_stride,
                 std::size_t count);

}  // namespace refrain::data
