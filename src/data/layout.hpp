#pragma once
// Affine layouts: where each point of an instance lies in its storage, and moving values between two of
// them.
//
// The address of point p is base + offset + sum of p[d] * stride[d], base being what the memory's pool
// gave. An instance has room for the bounding box of its points, so a sparse set pays for its holes (in
// address space; pages that nobody touches cost nothing in main memory). Rows are not padded.
//
// Threads: values and pure functions; copy_points and fill_points touch only the points they are given.

#include <cstddef>

#include "data/index_space.hpp"
#include "refrain/mapper.hpp"

namespace refrain::data {

struct InstanceLayout {
  /// Constant time. A size that no memory could have becomes the largest size_t.
  InstanceLayout(const IndexSpace& space, std::size_t value_size, const Layout& layout);

  std::size_t bytes = 0;
  std::size_t alignment = 64;
  std::ptrdiff_t offset = 0;  ///< of the point (0, 0, 0) from the base, perhaps outside the storage
  Coord stride[3] = {};       ///< bytes; of size `value_size` in the contiguous dimension
};

/// Copies the values of `points` between two affine layouts, given by the address of the point (0, 0, 0)
/// and the strides in bytes. The two must not share a byte. Cost: memory speed where rows are
/// contiguous in both, a few nanoseconds per value otherwise, some tens of them per box of the set.
void copy_points(const IndexSpace& points, std::byte* target, const Coord target_stride[3],
                 const std::byte* source, const Coord source_stride[3], std::size_t value_size);

/// Writes the value to each of `points`. Cost: as copy_points.
void fill_points(const IndexSpace& points, std::byte* target, const Coord target_stride[3],
                 const void* value, std::size_t value_size);

}  // namespace refrain::data
