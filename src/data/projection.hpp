#pragma once
// What stands behind a Projection (refrain/projection.hpp): interned, so that `p.at(shift(1))`, made anew at
// every launch, gives the same object for as long as somebody (a launch plan) keeps one. Equality is then a
// comparison of pointers. Immutable; any thread. Making one locks the table of all that are alive.

#include <cstdint>
#include <string>

#include "refrain/projection.hpp"

namespace refrain {

struct Projection::Impl {
  std::array<std::array<Coord, 3>, 3> matrix{};  ///< affine: colour = matrix * point + offset
  Point<3> offset{};
  std::string name{};  ///< of a function: name and key identify it in signatures
  std::uint64_t key = 0;
  Function function = nullptr;  ///< null: affine
  std::uint64_t id = 0;  ///< a hash of the content, without addresses: the same in every process

  friend bool operator==(const Impl&, const Impl&) = default;
  /// The colour of a launch point.
  [[nodiscard]] Point<3> apply(const Point<3>& point) const;
};

namespace data {

/// The colour of a launch point under a projection; null is the identity.
inline Point<3> project(const Projection::Impl* projection, const Point<3>& point) {
  return projection == nullptr ? point : projection->apply(point);
}
/// For signatures: 0 for the identity.
inline std::uint64_t projection_id(const Projection::Impl* projection) {
  return projection == nullptr ? 0 : projection->id;
}
/// "identity", "shift by (1, 0, 0)", "affine", "NAME" or "NAME, key 3"; for messages.
[[nodiscard]] std::string describe(const Projection::Impl* projection);

}  // namespace data

}  // namespace refrain
