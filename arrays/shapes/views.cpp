#include "shapes/views.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

#include "shapes/complain.hpp"

namespace refrain::arrays::detail {

namespace {

std::string out_of_bounds(Coord index, int axis, Coord size) {
  return "index " + std::to_string(index) + " is out of bounds for axis " + std::to_string(axis) +
         " with size " + std::to_string(size);
}

/// Python's slice.indices: where it begins, and how many.
struct Run {
  Coord begin, count;
};
Run run_of(const Index& entry, Coord length) {
  const bool forward = entry.step > 0;
  const auto bound = [&](Coord given, Coord left_out) {
    if (given == Index::kOmitted) return left_out;
    if (given < 0) given += length;
    return forward ? std::clamp<Coord>(given, 0, length) : std::clamp<Coord>(given, -1, length - 1);
  };
  const Coord start = bound(entry.start, forward ? 0 : length - 1);
  const Coord stop = bound(entry.stop, forward ? length : -1);
  const Coord gap = forward ? stop - start : start - stop;
  // As unsigned numbers every step has a magnitude.
  const auto step = static_cast<std::uint64_t>(entry.step);
  const std::uint64_t magnitude = forward ? step : std::uint64_t{0} - step;
  return {start,
          gap > 0 ? static_cast<Coord>(static_cast<std::uint64_t>(gap - 1) / magnitude) + 1 : 0};
}

}  // namespace

Layout indexed(const Layout& layout, std::span<const Index> entries, const Where& where) {
  int used = 0, ellipses = 0;
  for (const Index& entry : entries) {
    used += entry.what == Index::What::position || entry.what == Index::What::slice;
    ellipses += entry.what == Index::What::ellipsis;
  }
  const int dims = layout.shape.dims();
  if (ellipses > 1) complain<IndexError>(where, "an index can only have a single ellipsis ('...')");
  if (used > dims)
    complain<IndexError>(where, "too many indices for array: array is " + std::to_string(dims) +
                                    "-dimensional, but " + std::to_string(used) + " were indexed");
  Layout view;
  view.offset = layout.offset;
  view.read_only = layout.read_only;
  int axis = 0;
  const auto keep = [&](Coord length, Coord stride) {
    if (view.shape.dims() == kMaxDims)
      complain<IndexError>(where,
                           "number of dimensions must be within [0, 3], indexing result "
                           "would have more");
    view.stride[view.shape.dims()] = stride;
    view.shape.push_back(length);
  };
  const auto keep_axes = [&](int count) {
    for (; count > 0; --count, ++axis) keep(layout.shape[axis], layout.stride[axis]);
  };
  for (const Index& entry : entries) {
    switch (entry.what) {
      case Index::What::ellipsis: keep_axes(dims - used); break;
      case Index::What::new_axis: keep(1, 0); break;
      case Index::What::position: {
        const Coord length = layout.shape[axis];
        const Coord at = entry.start < 0 ? entry.start + length : entry.start;
        if (at < 0 || at >= length)
          complain<IndexError>(where, out_of_bounds(entry.start, axis, length));
        view.offset += at * layout.stride[axis++];
        break;
      }
      case Index::What::slice: {
        if (entry.step == 0) complain<ValueError>(where, "slice step cannot be zero");
        const Run run = run_of(entry, layout.shape[axis]);
        if (run.count > 0) view.offset += run.begin * layout.stride[axis];
        keep(run.count, run.count > 1 ? layout.stride[axis] * entry.step : 0);
        ++axis;
        break;
      }
    }
  }
  keep_axes(dims - axis);
  return view;
}

void check_shape(const Shape& shape, const Where& where) {
  for (const Coord length : shape)
    if (length < 0) complain<ValueError>(where, "negative dimensions are not allowed");
  // As many bytes of the widest type as an address can count.
  Coord room = Coord{1} << 58;
  for (const Coord length : shape) {
    if (length == 0) return;
    if (length > room)
      complain<ValueError>(where, "array is too big; its shape is " + to_string(shape));
    room /= length;
  }
}

Shape completed(const Shape& shape, const Shape& from, const Where& where) {
  const auto fail = [&] {
    complain<ValueError>(where, "cannot reshape array of size " + std::to_string(from.size()) +
                                    " into shape " + to_string(shape));
  };
  Coord known = 1;
  int open = -1;
  for (int d = 0; d < shape.dims(); ++d) {
    if (shape[d] >= 0) {
      if (__builtin_mul_overflow(known, shape[d], &known))
        complain<ValueError>(where, "array is too big");
    } else if (open >= 0) {
      complain<ValueError>(where, "can only specify one unknown dimension");
    } else {
      open = d;
    }
  }
  Shape full = shape;
  if (open >= 0) {
    if (known == 0 || from.size() % known != 0) fail();
    full[open] = from.size() / known;
  } else if (known != from.size()) {
    fail();
  }
  return full;
}

std::optional<Layout> reshaped(const Layout& layout, const Shape& shape) {
  Layout result = Layout::contiguous(shape);
  result.offset = layout.offset;
  result.read_only = layout.read_only;
  if (layout.shape.size() == 0) return result;
  // Axes of length 1 say nothing; those left are cut into runs that the new shape may split or join, each of
  // which has to be evenly spaced in itself (as NumPy does it).
  int old_dims = 0;
  Coord length[kMaxDims], stride[kMaxDims];
  for (int d = 0; d < layout.shape.dims(); ++d) {
    if (layout.shape[d] == 1) continue;
    length[old_dims] = layout.shape[d];
    stride[old_dims++] = layout.stride[d];
  }
  int from = 0, to = 0;
  const int dims = shape.dims();
  while (from < old_dims && to < dims) {
    int from_end = from + 1, to_end = to + 1;
    Coord old_size = length[from], new_size = shape[to];
    while (old_size != new_size) {
      if (new_size < old_size) new_size *= shape[to_end++];
      else old_size *= length[from_end++];
    }
    for (int d = from; d + 1 < from_end; ++d)
      if (stride[d] != length[d + 1] * stride[d + 1]) return std::nullopt;
    Coord step = stride[from_end - 1];
    for (int d = to_end - 1; d >= to; --d) {
      result.stride[d] = step;
      step *= shape[d];
    }
    from = from_end;
    to = to_end;
  }
  return result;
}

Layout transposed(const Layout& layout, std::span<const int> order, const Where& where) {
  const int dims = layout.shape.dims();
  if (static_cast<int>(order.size()) != dims) complain<ValueError>(where, "axes don't match array");
  Layout result;
  result.offset = layout.offset;
  result.read_only = layout.read_only;
  unsigned seen = 0;
  for (const int given : order) {
    const int axis = normalized(given, dims, where);
    if ((seen >> axis & 1) != 0) complain<ValueError>(where, "repeated axis in transpose");
    seen |= 1u << axis;
    result.stride[result.shape.dims()] = layout.stride[axis];
    result.shape.push_back(layout.shape[axis]);
  }
  return result;
}

Shape broadcast(std::span<const Shape> shapes, const Where& where) {
  int dims = 0;
  for (const Shape& shape : shapes) dims = std::max(dims, shape.dims());
  Shape result;
  for (int d = 0; d < dims; ++d) result.push_back(1);
  for (const Shape& shape : shapes) {
    const int ahead = dims - shape.dims();
    for (int d = 0; d < shape.dims(); ++d) {
      Coord& length = result[ahead + d];
      if (shape[d] == 1 || shape[d] == length) continue;
      if (length != 1) {
        std::string text = "operands could not be broadcast together with shapes";
        for (const Shape& each : shapes) text += " " + to_string(each);
        complain<ValueError>(where, text);
      }
      length = shape[d];
    }
  }
  return result;
}

bool stretch(Layout& layout, const Shape& to) {
  const int ahead = to.dims() - layout.shape.dims();
  if (ahead < 0) return false;
  Layout result;
  result.shape = to;
  result.offset = layout.offset;
  result.read_only = layout.read_only;
  for (int d = 0; d < layout.shape.dims(); ++d) {
    const Coord length = layout.shape[d];
    if (length != to[ahead + d] && length != 1) return false;
    result.stride[ahead + d] = length == 1 ? 0 : layout.stride[d];
  }
  layout = result;
  return true;
}

Layout without_leading_ones(Layout layout, int dims) {
  while (layout.shape.dims() > dims && layout.shape[0] == 1) {
    layout.shape.erase(0);
    for (int d = 0; d < layout.shape.dims(); ++d) layout.stride[d] = layout.stride[d + 1];
  }
  return layout;
}

int normalized(int axis, int dims, const Where& where) {
  if (axis < -dims || axis >= dims)
    complain<AxisError>(where, "axis " + std::to_string(axis) +
                                   " is out of bounds for array of dimension " +
                                   std::to_string(dims));
  return axis < 0 ? axis + dims : axis;
}

unsigned axis_set(const Axes& axes, int dims, const Where& where) {
  if (axes.all()) return (1u << dims) - 1;
  unsigned set = 0;
  for (int i = 0; i < std::min(axes.count(), Axes::kMaxAxes); ++i) {
    const unsigned bit = 1u << normalized(axes[i], dims, where);
    if ((set & bit) != 0) complain<ValueError>(where, "duplicate value in 'axis'");
    set |= bit;
  }
  return set;
}

Reach reach_of(const Layout& layout) {
  Reach reach{layout.offset, layout.offset};
  for (int d = 0; d < layout.shape.dims(); ++d) {
    const Coord extent = (layout.shape[d] - 1) * layout.stride[d];
    (extent < 0 ? reach.first : reach.last) += extent;
  }
  return reach;
}

bool may_overlap(const Layout& a, const Layout& b) {
  if (a.shape.size() == 0 || b.shape.size() == 0) return false;
  const Reach x = reach_of(a), y = reach_of(b);
  if (x.last < y.first || y.last < x.first) return false;
  // All positions of both are the offset and multiples of what divides all strides.
  Coord divisor = 0;
  for (const Layout* layout : {&a, &b})
    for (int d = 0; d < layout->shape.dims(); ++d)
      if (layout->shape[d] > 1) divisor = std::gcd(divisor, layout->stride[d]);
  return divisor == 0 ? a.offset == b.offset : (a.offset - b.offset) % divisor == 0;
}

}  // namespace refrain::arrays::detail
