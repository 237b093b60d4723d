#pragma once
// How tasks reach the elements of storage.

#include "refrain/dynamic.hpp"

namespace refrain::arrays::detail {

/// The address of element 0 of the storage that a physical argument is a part of: perhaps outside what the task may
/// touch, and then only to count from. Elements lie side by side, whatever order a mapper asks for, since storage has
/// one dimension.
inline std::byte* element_zero(const PhysicalArgument& argument) {
  const Coord first = argument.points->bounds->lo[0];
  return argument.at({first, 0, 0}) - first * argument.placement->stride[0];
}
inline std::byte* element_zero(const TaskFrame& frame, std::size_t argument) {
  return element_zero(frame.arguments[argument]);
}

}  // namespace refrain::arrays::detail
