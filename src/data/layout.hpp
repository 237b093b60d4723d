#pragma once
// Layouts: where each point of an instance lies in its storage, and whether values that a program places by strides share
// bytes.
//
// Affine: the address of point p is base + offset + sum of p[d] * stride[d], base being what the memory's pool gave. The
// instance has room for the bounding box of its points, so a sparse set pays for its holes. Compact: it has room for
// the points alone, box after box, each in row-major order (IndexSpace::rank_by_boxes). Rows are not padded.
//
// Threads: values and pure functions. Moving values between layouts: memory/mover.hpp.

#include <cstddef>
#include <cstdint>
#include <string>

#include "data/index_space.hpp"
#include "refrain/mapper.hpp"
#include "refrain/value_type.hpp"

namespace refrain::data {

struct InstanceLayout {
  /// Constant time. A size that no memory could have becomes the largest size_t.
  InstanceLayout(const IndexSpace& space, std::size_t value_size, const Layout& layout);

  std::size_t bytes = 0;
  std::size_t alignment = 64;
  std::ptrdiff_t offset = 0;  ///< of the point (0, 0, 0) from the base, perhaps outside the storage
  Coord stride[3] = {};       ///< bytes; of size `value_size` in the contiguous dimension
  bool compact = false;       ///< then offset is 0, and there is no stride but that
};

/// Whether an instance for these points is compact. A set that is a box never is.
[[nodiscard]] bool is_compact(const IndexSpace& space, Sparse sparse);

/// Values of a set of points that lie in a program's memory by strides.
struct PlacedValues {
  IndexSpaceRef points;
  std::uintptr_t lowest = 0;  ///< address of the low corner of the points' bounds
  Coord stride[3] = {};       ///< bytes between neighbours
  std::size_t size = 0;       ///< bytes of a value

  /// The first and the last byte of the points' bounds. There must be points.
  [[nodiscard]] Rect<1> extent() const;
};

/// Says what is wrong with the strides for values of this type; empty if nothing is. Values must lie where
/// their type may, and apart.
std::string layout_fault(const PlacedValues& values, const ValueType& type);

/// Whether two sets of values share a byte. Exact: the fields of an array of structs, or blocks of one matrix, lie
/// between each other without sharing anything. Cost: of two sets with the same strides and one box each, a few dozen
/// steps; of boxes whose ranges of addresses meet, pair by pair.
bool share_bytes(const PlacedValues& a, const PlacedValues& b);

}  // namespace refrain::data
