#pragma once
// Elements brought together from, and spread to, where strides say.

#include <cstddef>

#include "refrain/arrays/shape.hpp"

namespace refrain::arrays::detail {

/// Three nested loops, the last one innermost; unused ones, in front, have length 1.
struct Nest {
  Coord length[kMaxDims] = {1, 1, 1};

  [[nodiscard]] Coord size() const { return length[0] * length[1] * length[2]; }
};

/// Where a nest's elements are: the first, and how far they are apart, in elements.
struct Strides {
  Coord offset = 0;
  Coord stride[kMaxDims] = {0, 0, 0};
};

/// Where an element of the nest is.
inline Coord position(const Nest& nest, const Strides& strides, Coord element) {
  const Coord k = element % nest.length[2];
  const Coord outer = element / nest.length[2];
  return strides.offset + outer / nest.length[1] * strides.stride[0] +
         outer % nest.length[1] * strides.stride[1] + k * strides.stride[2];
}

/// Elements first .. first + count - 1 of the nest, of `size` bytes (1, 4, 8 or 16) each, from `memory` (the address of
/// position 0) to `to`, side by side.
void gather_block(const Nest& nest, const Strides& strides, Coord first, std::size_t count,
                  std::size_t size, const std::byte* memory, std::byte* to);
/// The other way.
void scatter_block(const Nest& nest, const Strides& strides, Coord first, std::size_t count,
                   std::size_t size, const std::byte* from, std::byte* memory);
/// One element again and again.
void spread_block(std::size_t count, std::size_t size, const std::byte* element, std::byte* to);

}  // namespace refrain::arrays::detail
