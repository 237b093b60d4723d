#include "support/plan.hpp"

#include <algorithm>

namespace refrain::test {

int Shape::find(const Point<3>& p) const {
  const auto at = std::lower_bound(points.begin(), points.end(), p);
  return at != points.end() && *at == p ? static_cast<int>(at - points.begin()) : -1;
}

std::uint64_t spread_key(const Point<3>& colours, int stride, int offset) {
  std::uint64_t key = 0;
  for (int d = 0; d < 3; ++d) key = key << 8 | static_cast<std::uint64_t>(colours[d]);
  return key << 16 | static_cast<std::uint64_t>(stride) << 8 | static_cast<std::uint64_t>(offset);
}

Point<3> spread(const Point<3>& point, std::uint64_t key) {
  const Point<3> extent{static_cast<Coord>(key >> 32 & 255), static_cast<Coord>(key >> 24 & 255),
                        static_cast<Coord>(key >> 16 & 255)};
  const auto stride = static_cast<Coord>(key >> 8 & 255), offset = static_cast<Coord>(key & 255);
  const Coord total = extent[0] * extent[1] * extent[2];
  Coord n = (point[0] + 3 * point[1] + 5 * point[2]) * stride + offset;
  n = ((n % total) + total) % total;
  return {n / (extent[1] * extent[2]), n / extent[2] % extent[1], n % extent[2]};
}

Point<3> project(const ProjectionSpec& projection, const Point<3>& point) {
  switch (projection.kind) {
    case ProjectionSpec::Kind::identity: return point;
    case ProjectionSpec::Kind::function: return spread(point, projection.key);
    default: break;
  }
  Point<3> colour;
  for (int d = 0; d < 3; ++d) colour[d] = projection.scale[d] * point[d] + projection.offset[d];
  return colour;
}

}  // namespace refrain::test
