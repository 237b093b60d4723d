#pragma once
// Memory of the program's own that it attaches to a field: the points' values in a layout of the plan's
// choice, in a buffer whose other bytes must stay as they are.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "refrain/context.hpp"
#include "support/resolve.hpp"

namespace refrain::test {

/// Stores what attached memory holds at first at a point of the region tree.
void write_attached(ValueKind kind, void* value, std::uint64_t salt, int point);

class AttachedMemory {
 public:
  AttachedMemory(const Shape& shape, const ResolvedArgument& is, std::uint64_t salt,
                 const MemoryLayout& layout);
  [[nodiscard]] void* data() { return bytes_.data(); }
  [[nodiscard]] const AttachLayout& layout() const { return layout_; }
  /// The value of a point.
  [[nodiscard]] const std::byte* at(const Point<3>& point) const { return &bytes_[offset(point)]; }
  /// Is everything beside them as it was?
  [[nodiscard]] bool intact() const;

 private:
  [[nodiscard]] std::size_t offset(const Point<3>& point) const;

  std::vector<Point<3>> points_;
  std::size_t size_;
  Point<3> lo_{}, stride_{};
  AttachLayout layout_;  ///< as it is told the runtime
  std::vector<std::byte> bytes_;
};

}  // namespace refrain::test
