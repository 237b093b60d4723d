#pragma once
// Who uses which points of a field: the pieces of a launch's points, and the shards that run these.
//
// All of it is known to every shard. A table per partition, and one per projection, domain and sharding, answer in
// O(log pieces + answers), so a shard finds whom its own points concern without a look at all points of a launch.
// Making a table is O(points of the launch), once.
//
// Immutable, and interned: equal ones are one object. Any thread may ask; the thread of the context makes them.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "data/box_index.hpp"
#include "data/index_space.hpp"
#include "refrain/projection.hpp"
#include "shard/interned.hpp"
#include "shard/sharding.hpp"

namespace refrain::shard {

/// The pieces of a partition of a region with `dim` dimensions, by the rank of their colour: one for each.
class Pieces {
 public:
  Pieces(int dim, data::IndexSpaceRef colours, std::vector<data::IndexSpaceRef> spaces);

  [[nodiscard]] int dim() const { return dim_; }
  [[nodiscard]] const data::IndexSpaceRef& colours() const { return colours_; }
  [[nodiscard]] const std::vector<data::IndexSpaceRef>& spaces() const { return spaces_; }
  /// The ranks, in order, of those that share a point with the set.
  [[nodiscard]] std::vector<std::uint32_t> overlapping(const data::IndexSpaceRef& points) const;

 private:
  int dim_;
  data::IndexSpaceRef colours_;
  std::vector<data::IndexSpaceRef> spaces_;
  std::vector<data::NumberedBox> boxes_;
  data::BoxIndex<const data::NumberedBox> index_;  ///< of boxes_
};
using PiecesRef = std::shared_ptr<const Pieces>;

/// An argument of a group launch: which piece each of its points uses, and who runs the point.
struct GroupArgument {
  PiecesRef pieces;
  bool partitioned = true;  ///< false: every point uses the one piece that there is
  Projection projection;
  data::IndexSpaceRef domain;
  Sharding sharding{};
};

/// Points of a set that was asked about, which one point of a launch uses.
struct Use {
  ShardId shard = 0;
  std::uint32_t launch_rank = 0;
  data::IndexSpaceRef points;  ///< not empty
};

/// Sets of points, by shard; none is empty.
using ByShard = std::map<ShardId, data::IndexSpaceRef>;
inline void add(ByShard& sets, ShardId shard, const data::IndexSpaceRef& points) {
  if (points->empty()) return;
  data::IndexSpaceRef& set = sets[shard];
  if (set == nullptr) set = points;
  else if (set != points) set = data::unite(set, points);
}

class Users {
 public:
  /// UsageError when a point has no piece or no shard.
  Users(const GroupArgument& argument, ShardId me, ShardId shards);
  /// What each shard uses in single launches, of a region with `dim` dimensions.
  Users(ByShard single, int dim, ShardId me);

  /// All points that anybody uses.
  [[nodiscard]] const data::IndexSpaceRef& points() const { return points_; }
  /// Those that this shard uses.
  [[nodiscard]] const data::IndexSpaceRef& own() const { return own_; }
  /// Who uses points of the set, in launch order; of one shard, if that is given.
  [[nodiscard]] std::vector<Use> overlapping(const data::IndexSpaceRef& points,
                                             std::optional<ShardId> shard = {}) const;
  /// What this shard's points use, in launch order.
  [[nodiscard]] std::vector<Use> own_uses() const;

  /// A hash of which piece and which shard each launch point has: the same on every shard, if projection and sharding are
  /// pure.
  [[nodiscard]] std::uint64_t assignment() const;

  [[nodiscard]] bool is_group() const { return argument_.pieces != nullptr; }
  [[nodiscard]] const GroupArgument& argument() const { return argument_; }
  [[nodiscard]] const ByShard& single() const { return single_; }

 private:
  template <class Self>
  [[nodiscard]] static auto users_of(Self& self, std::size_t piece) {
    return std::span(self.users_)
        .subspan(self.first_user_[piece], self.first_user_[piece + 1] - self.first_user_[piece]);
  }
  [[nodiscard]] auto by_shard() const {
    return [this](std::uint32_t launch_rank) { return shard_of_[launch_rank]; };
  }
  [[nodiscard]] const data::IndexSpaceRef& piece_of(std::size_t launch_rank) const {
    return argument_.pieces->spaces()[piece_of_[launch_rank]];
  }

  GroupArgument argument_;  ///< without pieces: of single launches
  ByShard single_;          ///< empty for a group
  ShardId me_;
  data::IndexSpaceRef points_, own_;
  // Of a group:
  std::vector<std::uint32_t> piece_of_;    ///< by launch rank
  std::vector<ShardId> shard_of_;          ///< by launch rank
  std::vector<std::uint32_t> own_ranks_;   ///< launch ranks of this shard's points
  std::vector<std::uint32_t> first_user_;  ///< by piece, and one more: into users_
  std::vector<std::uint32_t> users_;       ///< launch ranks, by piece, shard and rank
};
using UsersRef = std::shared_ptr<const Users>;

/// The users that a shard knows of.
class UserTable {
 public:
  UserTable(ShardId me, ShardId shards) : me_(me), shards_(shards) {}

  PiecesRef pieces(int dim, const data::IndexSpaceRef& colours,
                   std::vector<data::IndexSpaceRef> spaces);
  /// UsageError, the same on every shard, when a point has no piece or no shard.
  UsersRef group(const GroupArgument& argument);
  UsersRef single(const ByShard& uses, int dim);

 private:
  ShardId me_, shards_;
  Interned<Pieces> pieces_;
  Interned<Users> users_;
};

}  // namespace refrain::shard
