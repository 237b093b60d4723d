#pragma once
// Binary search without branches that depend on what is found: where everything is near, mispredicted branches are most
// of what a search costs.

#include <cstddef>
#include <span>

namespace refrain::oracle {

/// The index of the last of these, which are sorted, that is not above a value. Requires that the first is not above.
template <class Number>
[[nodiscard]] std::size_t last_not_above(std::span<const Number> sorted, Number value) {
  const Number* begin = sorted.data();
  for (std::size_t left = sorted.size(); left > 1;) {
    const std::size_t half = left / 2;
    begin += begin[half] <= value ? half : 0;
    left -= half;
  }
  return static_cast<std::size_t>(begin - sorted.data());
}

}  // namespace refrain::oracle
