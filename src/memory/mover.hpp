#pragma once
// How values move: copies, fills and folds of the points of a set, between placements, affine or compact.
//
// A memory has a mover (memory/memory_pool.hpp). The one here moves bytes that the CPU addresses, with memcpy; a memory
// that it does not address, as a GPU's, brings one of its own, which also moves values between that memory and those of
// the CPU. Called by the operations that move data, once per operation, on the thread that runs the operation; a move
// is complete when the call returns. Threads: any; only the points given are touched.

#include <cstddef>

#include "data/index_space.hpp"
#include "memory/accumulator.hpp"

namespace refrain::memory {

using detail::Placement;

class Mover {
 public:
  virtual ~Mover() = default;

  /// Copies the values of `points`. The placements must not share a byte. Cost (CPU): memory speed where rows are
  /// contiguous in both, a few nanoseconds per value otherwise, some tens of them per box of the set.
  virtual void copy(const data::IndexSpace& points, const Placement& target,
                    const Placement& source, std::size_t value_size) const = 0;
  /// Writes the value to each of `points`. Cost: as copy.
  virtual void fill(const data::IndexSpace& points, const Placement& target, const void* value,
                    std::size_t value_size) const = 0;
  /// Folds contributions to `points` in. `shared`: others may fold into the same points meanwhile. The operator is the
  /// program's, and may throw.
  virtual void fold(const data::IndexSpace& points, const Placement& target,
                    detail::Accumulator& contributions, bool shared) const = 0;
};

/// Between addresses that the CPU reaches.
const Mover& cpu_mover();
/// Of memories without bytes, as a simulation has them: moves nothing.
const Mover& imagined_mover();

/// The values of the points one after the other, box after box, each in row-major order; and back. On the CPU.
void pack(const data::IndexSpace& points, const Placement& source, std::size_t value_size,
          std::byte* bytes);
void unpack(const data::IndexSpace& points, const Placement& target, std::size_t value_size,
            const std::byte* bytes);

/// The mover for a copy: where one end is not the CPU's, that end's.
inline const Mover& mover_between(const Mover& source, const Mover& target) {
  return &target == &cpu_mover() ? source : target;
}

}  // namespace refrain::memory
