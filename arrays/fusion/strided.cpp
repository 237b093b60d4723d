#include "fusion/strided.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>

namespace refrain::arrays::detail {

namespace {

// Sixteen bytes that are copied as they are.
struct Wide {
  std::uint64_t words[2];
};

template <class F>
void with_size(std::size_t size, F&& f) {
  switch (size) {
    case 1: return f(std::uint8_t{});
    case 4: return f(std::uint32_t{});
    case 8: return f(std::uint64_t{});
    default: return f(Wide{});
  }
}

// Calls row(position in the storage, number of elements) for each run along the innermost loop.
template <class Row>
void each_row(const Nest& nest, const Strides& strides, Coord first, std::size_t count, Row&& row) {
  Coord k = first % nest.length[2];
  const Coord outer = first / nest.length[2];
  Coord j = outer % nest.length[1], i = outer / nest.length[1];
  for (Coord left = static_cast<Coord>(count); left > 0;) {
    const Coord run = std::min(left, nest.length[2] - k);
    row(strides.offset + i * strides.stride[0] + j * strides.stride[1] + k * strides.stride[2],
        run);
    left -= run;
    k = 0;
    if (++j == nest.length[1]) {
      j = 0;
      ++i;
    }
  }
}

}  // namespace

void gather_block(const Nest& nest, const Strides& strides, Coord first, std::size_t count,
                  std::size_t size, const std::byte* memory, std::byte* to) {
  with_size(size, [&](auto element) {
    using E = decltype(element);
    const E* from = reinterpret_cast<const E*>(memory);
    E* target = reinterpret_cast<E*>(to);
    const Coord stride = strides.stride[2];
    each_row(nest, strides, first, count, [&](Coord at, Coord run) {
      if (stride == 1) std::copy_n(from + at, run, target);
      else
        for (Coord n = 0; n < run; ++n) target[n] = from[at + n * stride];
      target += run;
    });
  });
}

void scatter_block(const Nest& nest, const Strides& strides, Coord first, std::size_t count,
                   std::size_t size, const std::byte* from, std::byte* memory) {
  with_size(size, [&](auto element) {
    using E = decltype(element);
    const E* source = reinterpret_cast<const E*>(from);
    E* to = reinterpret_cast<E*>(memory);
    const Coord stride = strides.stride[2];
    each_row(nest, strides, first, count, [&](Coord at, Coord run) {
      if (stride == 1) std::copy_n(source, run, to + at);
      else
        for (Coord n = 0; n < run; ++n) to[at + n * stride] = source[n];
      source += run;
    });
  });
}

void spread_block(std::size_t count, std::size_t size, const std::byte* element, std::byte* to) {
  with_size(size, [&](auto type) {
    using E = decltype(type);
    E value;
    std::memcpy(&value, element, sizeof value);
    std::fill_n(reinterpret_cast<E*>(to), count, value);
  });
}

}  // namespace refrain::arrays::detail
