#pragma once
// Values of a set of points that lie in memory by strides: what is wrong with the strides, and do two such
// sets of values share a byte? Exact: the fields of an array of structs, or blocks of one matrix, lie between
// each other without sharing anything.
//
// Pure functions. Cost: of two sets with the same strides and one box each, a few dozen steps; of boxes
// whose ranges of addresses meet, pair by pair.

#include <cstdint>
#include <string>

#include "data/index_space.hpp"
#include "refrain/value_type.hpp"

namespace refrain::data {

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

bool share_bytes(const PlacedValues& a, const PlacedValues& b);

}  // namespace refrain::data
