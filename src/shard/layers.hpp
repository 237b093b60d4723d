#pragma once
// What every shard knows of the data of a field: who made the points' values last, and who has them.
//
// Each point has an *owner*, the shard that wrote it last, or every shard, and *holders*, the shards that have its
// value. The state is written down as a short list of *layers*: what accesses did, by names. No shard sees what others
// do; all derive the same list from the program's calls.
//
//   write         the users are owners and the only holders of what they use
//   read          the users become holders
//   reduce        contributions are folded at once, by the owner; where all were owners, by the point's *home*,
//                 which becomes the owner. The owner is the only holder.
//   write_by_all  every shard is owner and holder: a fill, or memory that all have attached
//   read_by_all   every shard becomes a holder: an access of the program
//
// In the beginning every shard is the owner of everything. The list is normalised: an access that an equal one precedes
// with nothing relevant since adds nothing, what later layers cover is dropped, and single launches share a layer where
// that makes no difference. So it stays short in programs that repeat themselves. Where it gets long all the same (each
// step reads by another partition, or writes another row), reads are forgotten, whose values are then sent once more,
// and old writes of groups become those of single launches. Equal states share one object.
//
// Cost. An access that was made before in the same state is remembered (Steps): O(own points). To derive an access costs
// what the pieces of its shards cost, and to derive the next state a few operations on the sets of all points of the
// layers.
//
// Owner: the thread of the context.

#include <cstdint>
#include <memory>
#include <vector>

#include "data/index_space.hpp"
#include "shard/interned.hpp"
#include "shard/users.hpp"

namespace refrain::shard {

enum class Kind : std::uint8_t { write, read, reduce, write_by_all, read_by_all };

/// What an argument of a call does to points of a field; also a layer. The points of a launch that write do not
/// overlap, neither with each other nor with others' reads: whoever asks here has refused other launches.
struct Access {
  Kind kind = Kind::read;
  data::IndexSpaceRef points;
  UsersRef users;  ///< null for what all shards do, and in the layer of a reduction

  friend bool operator==(const Access&, const Access&) = default;
};
inline Access access(Kind kind, const UsersRef& users) { return {kind, users->points(), users}; }
inline Access access_by_all(Kind kind, const data::IndexSpaceRef& points) {
  return {kind, points, nullptr};
}

struct State {
  data::IndexSpaceRef space;   ///< all points of the field
  std::vector<Access> layers;  ///< oldest first
  friend bool operator==(const State&, const State&) = default;
};
using StateRef = std::shared_ptr<const State>;

/// The owner of what every shard owns.
inline constexpr ShardId kEveryShard = ~ShardId{0};

/// Who owns and who has what. Every shard gets the same answers, but for candidates().
class Holdings {
 public:
  Holdings(const State& state, ShardId me, ShardId shards)
      : state_(state), me_(me), shards_(shards) {}

  /// The points by owner: disjoint sets, as those of the next two.
  [[nodiscard]] ByShard owners(const data::IndexSpaceRef& points) const;
  /// The points by the shard that folds contributions to them: the owner, or the home.
  [[nodiscard]] ByShard folders(const data::IndexSpaceRef& points) const;
  /// Those of the points that a shard does not have, by owner.
  [[nodiscard]] ByShard missing(const data::IndexSpaceRef& points, ShardId shard) const;
  /// All points that this shard owns or folds, and perhaps others.
  [[nodiscard]] data::IndexSpaceRef candidates() const;

 private:
  [[nodiscard]] ByShard walk(data::IndexSpaceRef points, ShardId reader) const;
  [[nodiscard]] ByShard homes(const data::IndexSpaceRef& points) const;
  [[nodiscard]] data::Box home(ShardId shard) const;

  const State& state_;
  ShardId me_, shards_;
};

/// The states that a shard has seen.
class States {
 public:
  /// With more of them, the older half is made simpler.
  static constexpr std::size_t max_layers = 64;

  States(ShardId me, ShardId shards) : users_(me, shards), me_(me), shards_(shards) {}

  [[nodiscard]] StateRef initial(const data::IndexSpaceRef& space) { return intern({space, {}}); }
  [[nodiscard]] StateRef after(const StateRef& state, Access access);
  [[nodiscard]] UserTable& users() { return users_; }

 private:
  StateRef intern(State state);
  [[nodiscard]] bool adds_nothing(const State& state, const Access& access) const;
  void put(std::vector<Access>& layers, const Access& layer);
  [[nodiscard]] UsersRef merge(const Access& older, const Access& newer);
  void simplify(std::vector<Access>& layers);

  UserTable users_;
  ShardId me_, shards_;
  Interned<State> states_;
};

}  // namespace refrain::shard
