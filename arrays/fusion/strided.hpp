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
struct Steps {
  Coord offset = 0;
  Coord stride[kMaxDims] = {0, 0, 0};
};

/// Elements first .. first + count - 1 of the nest, of `size` bytes (1, 4, 8 or 16) each, from `memory` (the address of
/// position 0) to `to`, side by side.
void gather(const Nest& nest, const Steps& steps, Coord first, std::size_t count, std::size_t size,
            const std::byte* memory, std::byte* to);
/// The other way.
void scatter(const Nest& nest, const Steps& steps, Coord first, std::size_t count, std::size_t size,
             const std::byte* from, std::byte* memory);
/// One element again and again.
void spread(std::size_t count, std::size_t size, const std::byte* element, std::byte* to);

}  // namespace refrain::arrays::detail
