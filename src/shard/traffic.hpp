#pragma once
// The messages of a shard. What an access makes a shard send and receive follows from the state before it; both ends of
// a message work out the same points from the same facts, so nobody asks (dynamic control replication, section 4.1,
// with an owner in the place of the dependence analysis' last writer).
//
// The layers answer for own points. Which other shards use own data the users answer: the inverse of partition and
// projection. Either costs what own points and their neighbours cost.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "shard/layers.hpp"

namespace refrain::shard {

/// Values of points that one shard sends another.
struct Transfer {
  ShardId peer = 0;
  data::IndexSpaceRef points;
};

/// What a launch point contributes to points that one shard folds.
struct Contribution {
  ShardId from = 0, to = 0;  ///< who runs the launch point, and who folds; perhaps the same shard
  std::uint32_t launch_rank = 0;
  data::IndexSpaceRef points;
};

struct Traffic {
  // Of a read, by peer:
  std::vector<Transfer> sends, receives;
  // Of a reduction, in launch order. A launch that reduces by several arguments folds, point after point, what each of
  // its arguments has.
  std::vector<Contribution> given;   ///< by own points to other shards
  std::vector<Contribution> folded;  ///< here: the order of the folds
};

[[nodiscard]] Traffic traffic_of(const State& state, const Access& access, ShardId me,
                                 ShardId shards);

/// What an access does to a state.
struct Step {
  StateRef next;
  Traffic traffic;
};

/// The steps of a shard, remembered by state and access. Both are in the key: what is sent depends on who has what.
/// Owner: the thread of the context.
class Steps {
 public:
  static constexpr std::size_t max_boxes = std::size_t{1} << 20;  ///< of what is remembered

  Steps(ShardId me, ShardId shards) : me_(me), shards_(shards), states_(me, shards) {}

  [[nodiscard]] ShardId me() const { return me_; }
  [[nodiscard]] ShardId shards() const { return shards_; }
  [[nodiscard]] UserTable& users() { return states_.users(); }
  [[nodiscard]] StateRef initial(const data::IndexSpaceRef& space) {
    return states_.initial(space);
  }
  /// Good until the next call.
  const Step& take(StateRef state, const Access& access);
  /// As Holdings says them. Good until the next call.
  const ByShard& owners(const StateRef& state, const data::IndexSpaceRef& points) {
    return answer({state, points, false});
  }
  const ByShard& folders(const StateRef& state, const data::IndexSpaceRef& points) {
    return answer({state, points, true});
  }
  /// How often a step, or one of these answers, was not remembered.
  [[nodiscard]] std::uint64_t misses() const { return misses_; }

 private:
  struct Key {
    StateRef state;
    Access access;
    friend bool operator==(const Key&, const Key&) = default;
  };
  /// Who owns or folds the points.
  struct Question {
    StateRef state;
    data::IndexSpaceRef points;
    bool folders;
    friend bool operator==(const Question&, const Question&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
    std::size_t operator()(const Question& question) const;
  };
  const ByShard& answer(const Question& question);
  void remember(std::size_t boxes);

  ShardId me_, shards_;
  States states_;
  std::unordered_map<Key, Step, Hash> steps_;
  std::unordered_map<Question, ByShard, Hash> answers_;
  std::size_t boxes_ = 0;  ///< of what is remembered
  std::uint64_t misses_ = 0;
};

}  // namespace refrain::shard
