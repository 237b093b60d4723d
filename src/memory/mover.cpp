#include "memory/mover.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

namespace refrain::memory {

namespace {

using data::Box;
using detail::address_of;

struct Loop {
  std::size_t count = 1;
  Coord target = 0, source = 0;  ///< strides
};
using Loops = std::array<Loop, 3>;

// A box as a nest of loops, the innermost first. Dimensions of one point are dropped, and two
// dimensions that follow each other without a gap in both layouts are one loop.
Loops loops_of(const Box& box, const Coord target_stride[3], const Coord source_stride[3]) {
  Loops loops;
  std::size_t depth = 0, kept = 0;
  for (int d = 0; d < 3; ++d) {
    if (box.hi[d] == box.lo[d]) continue;
    std::size_t i = depth++;
    for (; i > 0 && target_stride[d] < loops[i - 1].target; --i) loops[i] = loops[i - 1];
    loops[i] = {static_cast<std::size_t>(box.hi[d] - box.lo[d] + 1), target_stride[d],
                source_stride[d]};
  }
  for (std::size_t next = 1; next < depth; ++next) {
    Loop& inner = loops[kept];
    const auto n = static_cast<Coord>(inner.count);
    if (loops[next].target == inner.target * n && loops[next].source == inner.source * n)
      inner.count *= loops[next].count;
    else loops[++kept] = loops[next];
  }
  std::fill(loops.begin() + kept + 1, loops.end(), Loop{});
  return loops;
}

// Calls row(target, source) for each innermost loop of the box.
template <class Row>
void for_each_row(const Loops& loops, std::byte* target, const std::byte* source, Row&& row) {
  for (std::size_t i = 0; i < loops[2].count; ++i) {
    std::byte* t = target + static_cast<Coord>(i) * loops[2].target;
    const std::byte* s = source + static_cast<Coord>(i) * loops[2].source;
    for (std::size_t j = 0; j < loops[1].count; ++j, t += loops[1].target, s += loops[1].source)
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

// Calls f(part, placement) for parts of the box that are affine in the placement, in order.
template <class F>
void for_each_affine(const Box& box, const Placement& at, const F& f) {
  if (at.compact == nullptr) return f(box, at);
  at.compact->for_each_meeting(box, [&](const Box& rectangle, std::size_t before) {
    f(intersection(rectangle, box), affine_in(at, rectangle, before));
  });
}

// Both placements are affine there.
template <class Size>
void copy_affine(const Box& box, const Placement& target, const Placement& source, Size size) {
  const Loops loops = loops_of(box, target.stride, source.stride);
  std::byte* to = address_of(target, box.lo);
  const std::byte* from = address_of(source, box.lo);
  const std::size_t n = loops[0].count;
  const auto contiguous = static_cast<Coord>(size);
  if (n == 1 || (loops[0].target == contiguous && loops[0].source == contiguous)) {
    for_each_row(loops, to, from, [bytes = n * size](std::byte* t, const std::byte* s) {
      std::memcpy(t, s, bytes);
    });
    return;
  }
  for_each_row(loops, to, from, [&](std::byte* t, const std::byte* s) {
    for (std::size_t i = 0; i < n; ++i, t += loops[0].target, s += loops[0].source)
      std::memcpy(t, s, size);
  });
}

template <class Size>
void copy_box(const Box& box, const Placement& target, const Placement& source, Size size) {
  for_each_affine(box, target, [&](const Box& part, const Placement& to) {
    for_each_affine(part, source, [&](const Box& both, const Placement& from) {
      copy_affine(both, to, from, size);
    });
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
  const Loops loops = loops_of(box, target.stride, target.stride);
  std::byte* to = address_of(target, box.lo);
  const std::size_t n = loops[0].count;
  const bool contiguous = n == 1 || loops[0].target == static_cast<Coord>(size);
  for_each_row(loops, to, to, [&](std::byte* t, const std::byte*) {
    if (contiguous && one_byte) {
      std::memset(t, std::to_integer<int>(value[0]), n * size);
    } else if (contiguous) {
      fill_row(t, n, value, size);
    } else {
      for (std::size_t i = 0; i < n; ++i, t += loops[0].target) std::memcpy(t, value, size);
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
      for (const Box& box : points.boxes())
        for_each_affine(box, target, [&](const Box& part, const Placement& to) {
          fill_box(part, to, bytes, size, one_byte);
        });
    });
  }
  void fold(const data::IndexSpace& points, const Placement& target,
            detail::Accumulator& contributions, bool shared) const override {
    contributions.fold_into(points, target, shared);
  }
};

constinit CpuMover the_cpu_mover;

class ImaginedMover final : public Mover {
 public:
  void copy(const data::IndexSpace&, const Placement&, const Placement&,
            std::size_t) const override {}
  void fill(const data::IndexSpace&, const Placement&, const void*, std::size_t) const override {}
  void fold(const data::IndexSpace&, const Placement&, detail::Accumulator&, bool) const override {}
};

constinit ImaginedMover the_imagined_mover;

}  // namespace

const Mover& cpu_mover() { return the_cpu_mover; }
const Mover& imagined_mover() { return the_imagined_mover; }

namespace {

/// Calls f(box, packed) for each box, with where its values are in `bytes`.
template <class F>
void for_each_packed(const data::IndexSpace& points, std::size_t value_size, std::byte* bytes,
                     F f) {
  for (const Box& box : points.boxes()) {
    Placement packed;
    std::size_t size = value_size;
    auto zero = reinterpret_cast<std::uintptr_t>(bytes);
    for (int d = 2; d >= 0; --d) {
      packed.stride[d] = static_cast<Coord>(size);
      zero -= static_cast<std::uintptr_t>(box.lo[d]) * size;
      size *= static_cast<std::size_t>(box.hi[d] - box.lo[d] + 1);
    }
    packed.zero = reinterpret_cast<std::byte*>(zero);
    f(box, std::as_const(packed));
    bytes += size;
  }
}

}  // namespace

void pack(const data::IndexSpace& points, const Placement& source, std::size_t value_size,
          std::byte* bytes) {
  for_each_packed(points, value_size, bytes, [&](const Box& box, const Placement& packed) {
    with_size(value_size, [&](auto size) { copy_box(box, packed, source, size); });
  });
}

void unpack(const data::IndexSpace& points, const Placement& target, std::size_t value_size,
            const std::byte* bytes) {
  for_each_packed(points, value_size, const_cast<std::byte*>(bytes),
                  [&](const Box& box, const Placement& packed) {
                    with_size(value_size, [&](auto size) { copy_box(box, target, packed, size); });
                  });
}

}  // namespace refrain::memory
