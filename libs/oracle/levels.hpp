#pragma once
// The uses on a path from the outermost rule that is known to an event. While it is not known where a run is, paths are
// short, and come and go with each event: the first kNear levels have their place in the object itself.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace refrain::oracle {

/// A use on the path.
struct Level {
  std::uint32_t position;
  bool exact;  ///< `time` is known, else it is a lower bound
  std::uint64_t
      time;  ///< how many repetitions of the use were before this one; this run may have more than it
  friend bool operator==(const Level&, const Level&) = default;
};

class Levels {
 public:
  Levels() = default;
  Levels(const Levels& other) { append(other.all()); }
  Levels(Levels&& other) noexcept { take(other); }
  Levels& operator=(const Levels& other) {
    if (this == &other) return *this;
    size_ = 0;
    append(other.all());
    return *this;
  }
  Levels& operator=(Levels&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~Levels() = default;

  [[nodiscard]] std::span<const Level> all() const { return {data(), size_}; }
  [[nodiscard]] std::span<Level> all() { return {data(), size_}; }

  /// Leaves the first so many; there are no fewer.
  void shorten(std::size_t size) { size_ = size; }
  void append(const Level& level) { append(std::span(&level, 1)); }
  /// Requires that they are not its own.
  void append(std::span<const Level> levels) {
    if (size_ + levels.size() > capacity_) grow(size_ + levels.size());
    std::ranges::copy(levels, data() + size_);
    size_ += levels.size();
  }

 private:
  static constexpr std::size_t kNear = 8;

  [[nodiscard]] const Level* data() const { return far_ ? far_.get() : near_.data(); }
  [[nodiscard]] Level* data() { return far_ ? far_.get() : near_.data(); }
  void grow(std::size_t least) {
    const std::size_t capacity = std::max(least, 2 * capacity_);
    auto grown = std::make_unique<Level[]>(capacity);
    std::ranges::copy(all(), grown.get());
    far_ = std::move(grown);
    capacity_ = capacity;
  }
  void take(Levels& other) {
    size_ = std::exchange(other.size_, 0);
    far_ = std::move(other.far_);
    capacity_ = std::exchange(other.capacity_, kNear);
    if (!far_) std::copy_n(other.near_.data(), size_, near_.data());
  }

  std::size_t size_ = 0, capacity_ = kNear;
  std::unique_ptr<Level[]> far_;  ///< has all of them, once they were more than kNear
  std::array<Level, kNear> near_{};
};

}  // namespace refrain::oracle
