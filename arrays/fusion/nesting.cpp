#include "fusion/nesting.hpp"

#include <algorithm>
#include <cstdlib>

namespace refrain::arrays::detail {

Loops loops_along(const Shape& shape, const Layout& primary) {
  Loops loops;
  for (int d = 0; d < shape.dims(); ++d) {
    if (shape[d] == 1) continue;
    loops.axes[loops.count++] = d;
    if (primary.stride[d] < 0) loops.reversed |= 1u << d;
  }
  std::stable_sort(loops.axes, loops.axes + loops.count, [&](int a, int b) {
    return std::abs(primary.stride[a]) > std::abs(primary.stride[b]);
  });
  return loops;
}

namespace {

/// An array's accesses in the order of the loops.
Access in_order(const WindowText& text, const WindowText::Access& given, const Loops& loops) {
  Access access;
  access.slot = given.slot;
  access.step = given.step;
  access.type = text.slots[given.slot].type;
  access.strides.offset = given.layout.offset;
  for (int d = 0; d < loops.count; ++d) {
    const int axis = loops.axes[d];
    const Coord stride = given.layout.stride[axis];
    const bool reversed = (loops.reversed >> axis & 1) != 0;
    access.strides.stride[d] = reversed ? -stride : stride;
    if (reversed) access.strides.offset += stride * (text.shape[axis] - 1);
  }
  return access;
}

}  // namespace

ProgramText nest_of(const WindowText& text, const Loops& loops) {
  ProgramText program;
  program.steps = text.steps;
  for (const auto& load : text.loads) program.loads.push_back(in_order(text, load, loops));
  for (const auto& store : text.stores) program.stores.push_back(in_order(text, store, loops));
  const auto each = [&](auto&& f) {
    for (Access& access : program.loads) f(access.strides.stride);
    for (Access& access : program.stores) f(access.strides.stride);
  };
  int dims = loops.count;
  Coord length[kMaxDims];
  for (int d = 0; d < dims; ++d) length[d] = text.shape[loops.axes[d]];
  for (int d = dims - 2; d >= 0; --d) {
    bool one_run = true;
    each([&](const Coord* stride) { one_run &= stride[d] == stride[d + 1] * length[d + 1]; });
    if (!one_run) continue;
    each([&](Coord* stride) { std::copy(stride + d + 1, stride + dims, stride + d); });
    length[d + 1] *= length[d];
    std::copy(length + d + 1, length + dims, length + d);
    --dims;
  }
  // The last loop is the innermost of the nest.
  const int ahead = kMaxDims - dims;
  for (int d = kMaxDims - 1; d >= 0; --d)
    program.nest.length[d] = d < ahead ? 1 : length[d - ahead];
  each([&](Coord* stride) {
    for (int d = kMaxDims - 1; d >= 0; --d) stride[d] = d < ahead ? 0 : stride[d - ahead];
  });
  return program;
}

bool ascends(const Nest& nest, const Strides& strides) {
  Coord reach = 0;
  for (int d = kMaxDims - 1; d >= 0; --d) {
    if (nest.length[d] == 1) continue;
    if (strides.stride[d] <= reach) return false;
    reach += (nest.length[d] - 1) * strides.stride[d];
  }
  return true;
}

Range hull(const Nest& nest, const Strides& strides, Coord begin, Coord end) {
  if (ascends(nest, strides))
    return {position(nest, strides, begin), position(nest, strides, end - 1)};
  const Coord row = nest.length[2], plane = nest.length[1] * row;
  Coord low[kMaxDims] = {begin / plane, 0, 0};
  Coord high[kMaxDims] = {(end - 1) / plane, nest.length[1] - 1, nest.length[2] - 1};
  if (low[0] == high[0]) {
    low[1] = begin % plane / row;
    high[1] = (end - 1) % plane / row;
    if (low[1] == high[1]) {
      low[2] = begin % row;
      high[2] = (end - 1) % row;
    }
  }
  Range range{strides.offset, strides.offset};
  for (int d = 0; d < kMaxDims; ++d) {
    const Coord a = low[d] * strides.stride[d], b = high[d] * strides.stride[d];
    range.first += std::min(a, b);
    range.last += std::max(a, b);
  }
  return range;
}

}  // namespace refrain::arrays::detail
