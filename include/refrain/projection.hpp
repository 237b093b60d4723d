#pragma once
// Projection functions: which piece of a partition each point of a group launch gets. They are pure:
// the same point gives the same colour whenever and wherever they are asked, so the runtime may ask
// once and remember, and other processes may ask for themselves.

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "refrain/geometry.hpp"

namespace refrain {

/// A projection function by value; default: the identity.
class Projection {
 public:
  using Function = Point<3> (*)(const Point<3>& point, std::uint64_t key);

  Projection() = default;

  /// colour = matrix * point + offset (unused dimensions zero).
  static Projection affine(const std::array<std::array<Coord, 3>, 3>& matrix,
                           const Point<3>& offset);
  /// Any pure function. It has no state but `key`; name and key identify it in signatures.
  static Projection function(std::string name, Function f, std::uint64_t key = 0);

  struct Impl;
  [[nodiscard]] const Impl* impl() const { return impl_.get(); }  ///< null: identity

 private:
  std::shared_ptr<const Impl> impl_;
};

/// colour = point + offset.
Projection shift(Coord offset);
Projection shift(const Point<2>& offset);
Projection shift(const Point<3>& offset);

}  // namespace refrain
