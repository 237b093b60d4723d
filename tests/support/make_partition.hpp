#pragma once
// Makes a partition of a random program through the API.

#include "refrain/context.hpp"
#include "support/resolve.hpp"

namespace refrain::test {

/// `parent`, and the operands `a` and `b`, where the operator takes them.
AnyPartition make_partition(Context& context, const Program& program, const Resolved& r,
                            const AnyRegion& parent, const AnyPartition& a, const AnyPartition& b);

}  // namespace refrain::test
