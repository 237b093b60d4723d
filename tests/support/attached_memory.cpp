#include "support/attached_memory.hpp"

#include <algorithm>

#include "support/random.hpp"

namespace refrain::test {

namespace {

constexpr std::byte untouched{0xa5};

}  // namespace

void write_attached(ValueKind kind, void* value, std::uint64_t salt, int point) {
  write_value(kind, value, mix(salt, static_cast<std::uint64_t>(point)));
}

AttachedMemory::AttachedMemory(const Shape& shape, const ResolvedArgument& is, std::uint64_t salt,
                               const MemoryLayout& layout)
    : size_(size_of(shape.fields[static_cast<std::size_t>(is.field)])) {
  for (int i = 0; i < static_cast<int>(shape.points.size()); ++i)
    if (has(is.points, i)) points_.push_back(shape.points[static_cast<std::size_t>(i)]);
  lo_ = points_.front();
  Point<3> hi = lo_;
  for (const Point<3>& p : points_)
    for (int d = 0; d < 3; ++d) {
      lo_[d] = std::min(lo_[d], p[d]);
      hi[d] = std::max(hi[d], p[d]);
    }
  auto stride = static_cast<Coord>(size_);
  for (int k = 0; k < shape.dim; ++k) {
    const int d = layout.fortran ? k : shape.dim - 1 - k;
    stride_[d] = stride * (1 + layout.padding[d]);
    stride = stride_[d] * (hi[d] - lo_[d] + 1);
  }
  bytes_.assign(static_cast<std::size_t>(stride), untouched);
  for (int i = 0; i < static_cast<int>(shape.points.size()); ++i)
    if (has(is.points, i))
      write_attached(shape.fields[static_cast<std::size_t>(is.field)],
                     &bytes_[offset(shape.points[static_cast<std::size_t>(i)])], salt, i);
  // C order without padding need not be said.
  if (layout.fortran || layout.padding != Point<3>{})
    for (int d = 0; d < 3; ++d) layout_.stride[d] = stride_[d];
}

std::size_t AttachedMemory::offset(const Point<3>& point) const {
  Coord at = 0;
  for (int d = 0; d < 3; ++d) at += (point[d] - lo_[d]) * stride_[d];
  return static_cast<std::size_t>(at);
}

bool AttachedMemory::intact() const {
  std::vector<std::byte> others = bytes_;
  for (const Point<3>& p : points_)
    std::fill_n(others.begin() + static_cast<std::ptrdiff_t>(offset(p)), size_, untouched);
  return std::ranges::all_of(others, [](std::byte b) { return b == untouched; });
}

}  // namespace refrain::test
