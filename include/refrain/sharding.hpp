#pragma once
// Sharding functions: which shard runs which point of a group launch, where a program runs on several
// (dynamic control replication, section 3.2). A mapper chooses one for each launch. They are pure: the
// same domain, point and number of shards give the same shard whenever and wherever they are asked, so
// every shard knows what each of the others runs.

#include <cstdint>
#include <string>

#include "refrain/geometry.hpp"

namespace refrain {

/// A shard: the part of a program that one of its processes runs; 0 .. shards - 1.
using ShardId = std::uint32_t;

/// A sharding function by value; equal ones divide every domain alike. Default: blocked().
class Sharding {
 public:
  enum class Kind : std::uint8_t { blocked, cyclic, tiled, function };
  /// Told a point, the smallest box around the domain, the number of shards, and the key.
  using Function = ShardId (*)(const Point<3>& point, const Rect<3>& bounds, ShardId shards,
                               std::uint64_t key);

  Sharding() = default;

  /// Consecutive runs of the domain's order, whose lengths differ by at most one.
  static Sharding blocked() { return {}; }
  /// One point after the other, in the order of the domain.
  static Sharding cyclic();
  /// The bounds of the domain cut into grid[d] tiles in each dimension (fewer where there are fewer
  /// points), which are dealt out in row-major order: tile i is shard i's, modulo their number.
  /// UsageError unless the numbers are positive and their product is at most 2^20.
  static Sharding tiled(const Point<3>& grid);
  /// Any pure function. It has no state but `key`; name and key identify it, and on its own shard the
  /// function, too. A launch of which a point gets a shard that does not exist is a UsageError.
  /// UsageError for null.
  static Sharding function(std::string name, Function f, std::uint64_t key = 0);

  [[nodiscard]] Kind kind() const { return kind_; }
  /// Of tiles: how many there are in each dimension.
  [[nodiscard]] const Point<3>& grid() const { return grid_; }
  /// Of a function: its answer.
  [[nodiscard]] ShardId ask(const Point<3>& point, const Rect<3>& bounds, ShardId shards) const {
    return function_(point, bounds, shards, key_);
  }
  /// Of tiles: the number of the one that has the point, in row-major order. `bounds`: the smallest box around the domain.
  [[nodiscard]] std::uint64_t tile_of(const Point<3>& point, const Rect<3>& bounds) const;
  /// The same in every process.
  [[nodiscard]] std::uint64_t id() const;
  /// "blocked", "cyclic", "tiled (2, 2, 1)", the name of a function; for messages.
  [[nodiscard]] std::string describe() const;

  friend bool operator==(const Sharding&, const Sharding&) = default;

 private:
  Kind kind_ = Kind::blocked;
  Point<3> grid_{};
  std::string name_;
  Function function_ = nullptr;
  std::uint64_t key_ = 0;
};

}  // namespace refrain
