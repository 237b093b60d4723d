#include "memory/mover.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace refrain::memory {

namespace {

using data::Box;
using data::BoxPoint;

// Addresses wrap: the point zero may lie anywhere, only the sum for a point of the set is a real address.
std::byte* at(const Placement& placement, const BoxPoint& p) {
  auto address = reinterpret_cast<std::uintptr_t>(placement.zero);
  for (int d = 0; d < 3; ++d)
    address += static_cast<std::uintptr_t>(p[d]) * static_cast<std::uintptr_t>(placement.stride[d]);
  return reinterpret_cast<std::byte*>(address);
}

// A box as a nest of loops, the innermost first. Dimensions of one point are dropped, and two
// dimensions that follow each other without a gap in both layouts are one loop.
struct Loops {
  std::size_t count[3] = {1, 1, 1};
  Coord target[3] = {}, source[3] = {};
  int depth = 0;

  Loops(const Box& box, const Coord target_stride[3], const Coord source_stride[3]) {
    for (int d = 0; d < 3; ++d)
      if (box.hi[d] > box.lo[d])
        insert(static_cast<std::size_t>(box.hi[d] - box.lo[d] + 1), target_stride[d],
               source_stride[d]);
    merge();
  }

 private:
  void insert(std::size_t n, Coord target_stride, Coord source_stride) {
    int at = depth++;
    for (; at > 0 && target_stride < target[at - 1]; --at) {
      count[at] = count[at - 1];
      target[at] = target[at - 1];
      source[at] = source[at - 1];
    }
    count[at] = n;
    target[at] = target_stride;
    source[at] = source_stride;
  }

  void merge() {
    int kept = 0;
    for (int next = 1; next < depth; ++next) {
      const auto n = static_cast<Coord>(count[kept]);
      if (target[next] == target[kept] * n && source[next] == source[kept] * n) {
        count[kept] *= count[next];
      } else if (++kept != next) {
        count[kept] = count[next];
        target[kept] = target[next];
        source[kept] = source[next];
      }
    }
    for (int d = kept + 1; d < 3; ++d) count[d] = 1;
  }
};

// Calls row(target, source) for each innermost loop of the box.
template <class Row>
void for_each_row(const Loops& loops, std::byte* target, const std::byte* source, Row&& row) {
  for (std::size_t i = 0; i < loops.count[2]; ++i) {
    std::byte* t = target + static_cast<Coord>(i) * loops.target[2];
    const std::byte* s = source + static_cast<Coord>(i) * loops.source[2];
    for (std::size_t j = 0; j < loops.count[1]; ++j, t += loops.target[1], s += loops.source[1])
      row(t, s);
  }
}

// Calls f with the value size as a constant where it is a common one, so that a value is one move.
template <class F>
void with_size(std::size_t size, F&& f) {
  switch (size) {
    case 1: return f(std::integral_constant<std::size_t, 1>{});
    case 2: return f(std::integral_constant<std::size_t, 2>{});
    case 4: return f(std::integral_constant<std::size_t, 4>{});
    case 8: return f(std::integral_constant<std::size_t, 8>{});
    case 16: return f(std::integral_constant<std::size_t, 16>{});
    default: return f(size);
  }
}

template <class Size>
void copy_box(const Box& box, const Placement& target, const Placement& source, Size size) {
  const Loops loops(box, target.stride, source.stride);
  std::byte* to = at(target, box.lo);
  const std::byte* from = at(source, box.lo);
  const std::size_t n = loops.count[0];
  const auto contiguous = static_cast<Coord>(size);
  if (n == 1 || (loops.target[0] == contiguous && loops.source[0] == contiguous)) {
    for_each_row(loops, to, from, [bytes = n * size](std::byte* t, const std::byte* s) {
      std::memcpy(t, s, bytes);
    });
    return;
  }
  for_each_row(loops, to, from, [&](std::byte* t, const std::byte* s) {
    for (std::size_t i = 0; i < n; ++i, t += loops.target[0], s += loops.source[0])
      std::memcpy(t, s, size);
  });
}

// `count` values in a row. A size that is not a constant doubles what is written already.
template <class Size>
void fill_row(std::byte* target, std::size_t count, const std::byte* value, Size size) {
  if constexpr (std::is_same_v<Size, std::size_t>) {
    const std::size_t total = count * size;
    std::memcpy(target, value, size);
    for (std::size_t done = size; done < total; done *= 2)
      std::memcpy(target + done, target, std::min(done, total - done));
  } else {
    std::byte copy[Size::value];
    std::memcpy(copy, value, size);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(target + i * size, copy, size);
  }
}

template <class Size>
void fill_box(const Box& box, const Placement& target, const std::byte* value, Size size,
              bool one_byte) {
  const Loops loops(box, target.stride, target.stride);
  std::byte* to = at(target, box.lo);
  const std::size_t n = loops.count[0];
  const bool contiguous = n == 1 || loops.target[0] == static_cast<Coord>(size);
  for_each_row(loops, to, to, [&](std::byte* t, const std::byte*) {
    if (contiguous && one_byte) {
      std::memset(t, std::to_integer<int>(value[0]), n * size);
    } else if (contiguous) {
      fill_row(t, n, value, size);
    } else {
      for (std::size_t i = 0; i < n; ++i, t += loops.target[0]) std::memcpy(t, value, size);
    }
  });
}

class CpuMover final : public Mover {
 public:
  void copy(const data::IndexSpace& points, const Placement& target, const Placement& source,
            std::size_t value_size) const override {
    with_size(value_size, [&](auto size) {
      for (const Box& box : points.boxes()) copy_box(box, target, source, size);
    });
  }
  void fill(const data::IndexSpace& points, const Placement& target, const void* value,
            std::size_t value_size) const override {
    const auto* bytes = static_cast<const std::byte*>(value);
    const bool one_byte =
        std::all_of(bytes, bytes + value_size, [&](std::byte b) { return b == bytes[0]; });
    with_size(value_size, [&](auto size) {
      for (const Box& box : points.boxes()) fill_box(box, target, bytes, size, one_byte);
    });
  }
  void fold(const data::IndexSpace& points, const Placement& target,
            detail::Accumulator& contributions, bool shared) const override {
    contributions.fold_into(points, target.zero, target.stride, shared);
  }
};

constinit CpuMover the_cpu_mover;

}  // namespace

const Mover& cpu_mover() { return the_cpu_mover; }

}  // namespace refrain::memory
