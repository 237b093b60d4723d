#pragma once
// Sharding functions: which shard runs which point of a launch (dynamic control replication, section 3.2). They are
// pure functions of the domain, the point and the number of shards, so every shard knows what each of the others runs.
//
// A `Sharding` is a value; equal ones divide every domain alike. Any thread.

#include <cstdint>
#include <string>
#include <vector>

#include "data/index_space.hpp"
#include "net/message.hpp"

namespace refrain::shard {

/// A shard: the part of a program that one rank runs. 0 .. shards - 1.
using ShardId = net::Rank;

class Sharding {
 public:
  /// What a function is told: a point, the smallest box around the domain, the number of shards, and its key.
  using Function = ShardId (*)(const Point<3>& point, const Rect<3>& bounds, ShardId shards,
                               std::uint64_t key);

  /// Consecutive runs of the domain's order, whose lengths differ by at most one. The default.
  static Sharding blocked() { return Sharding(Kind::blocked); }
  /// One point after the other, in the order of the domain.
  static Sharding cyclic() { return Sharding(Kind::cyclic); }
  /// The bounds of the domain cut into grid[d] tiles in each dimension (fewer where there are fewer points), which are
  /// dealt out in row-major order. UsageError unless the numbers are positive and their product is at most 2^20.
  static Sharding tiled(const Point<3>& grid);
  /// Any pure function. Name and key identify it in signatures. UsageError for null.
  static Sharding function(std::string name, Function f, std::uint64_t key = 0);

  /// `point`: one of the domain. UsageError when a function names a shard that does not exist.
  [[nodiscard]] ShardId shard_of(const data::IndexSpace& domain, const Point<3>& point,
                                 ShardId shards) const;
  /// The points of one shard. O(own points and tiles), but for functions, which are asked about every point.
  [[nodiscard]] data::IndexSpaceRef own_points(const data::IndexSpaceRef& domain, ShardId shard,
                                               ShardId shards) const;
  /// The same in every process.
  [[nodiscard]] std::uint64_t id() const;
  /// "blocked", "cyclic", "tiled (2, 2, 1)", the name of a function; for messages.
  [[nodiscard]] std::string describe() const;

  friend bool operator==(const Sharding&, const Sharding&) = default;

 private:
  enum class Kind : std::uint8_t { blocked, cyclic, tiled, function };
  explicit Sharding(Kind kind) : kind_(kind) {}

  Kind kind_;
  Point<3> grid_{};
  std::string name_;
  Function function_ = nullptr;
  std::uint64_t key_ = 0;
};

/// Of `count` things in a row, dealt out in runs: the first of a shard, and the shard of one.
[[nodiscard]] inline std::uint64_t first_of_run(std::uint64_t count, ShardId shard,
                                                ShardId shards) {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(count) * shard / shards);
}
[[nodiscard]] inline ShardId shard_in_runs(std::uint64_t count, std::uint64_t position,
                                           ShardId shards) {
  const auto after = static_cast<unsigned __int128>(position + 1) * shards;
  return static_cast<ShardId>((after - 1) / count);
}

}  // namespace refrain::shard
