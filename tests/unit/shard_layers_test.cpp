// The shard layer against owners and holders that are written out point by point: random accesses, on each shard.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "data/projection.hpp"
#include "point_sets.hpp"
#include "refrain/error.hpp"
#include "shard/traffic.hpp"
#include "support/naive_holdings.hpp"

namespace refrain::shard::shard_layers_test {
namespace {

using data::BoxPoint;
using data::IndexSpace;
using data::IndexSpaceRef;
using data::RandomSets;
using test::NaiveHoldings;

Point<3> scatter(const Point<3>& point, std::uint64_t key) {
  const auto mixed = static_cast<std::uint64_t>(point[0] * 7 + point[1] * 3 + point[2]) + key / 64;
  return {static_cast<Coord>(mixed % (key % 64)), 0, 0};
}

ShardId any_shard(const Point<3>& point, const Rect<3>& /*bounds*/, ShardId shards,
                  std::uint64_t key) {
  return static_cast<ShardId>((static_cast<std::uint64_t>(point[0] * 5 + point[1]) + key) % shards);
}

/// One access, as the program makes it, without the objects of a shard.
struct Call {
  Kind kind = Kind::read;
  // A group:
  IndexSpaceRef colours, domain;
  std::vector<IndexSpaceRef> pieces;
  bool partitioned = true;
  Projection projection;
  Sharding sharding = Sharding::blocked();
  // A single launch, or all shards:
  bool group = false;
  ShardId shard = 0;
  IndexSpaceRef points;
};

Sharding random_sharding(RandomSets& random, int dim) {
  switch (random.number(0, 3)) {
    case 0: return Sharding::cyclic();
    case 1: {
      Point<3> grid{1, 1, 1};
      for (int d = 0; d < dim; ++d) grid[d] = random.number(1, 3);
      return Sharding::tiled(grid);
    }
    case 2:
      return Sharding::function("any", any_shard, static_cast<std::uint64_t>(random.number(0, 3)));
    default: return Sharding::blocked();
  }
}

class Program {
 public:
  Program(unsigned seed, int dim, Coord range) : random_(seed), dim_(dim), range_(range) {
    do space_ = random_.space(dim, range);
    while (space_->empty());
    shards_ = static_cast<ShardId>(random_.number(1, 5));
  }

  [[nodiscard]] const IndexSpaceRef& space() const { return space_; }
  [[nodiscard]] ShardId shards() const { return shards_; }

  std::vector<Call> calls() {
    std::vector<Call> body, all;
    const auto loops = random_.number(1, 3);
    for (Coord loop = 0; loop < loops; ++loop) {
      body.clear();
      for (Coord n = random_.number(1, 6); n > 0; --n) body.push_back(call());
      for (Coord n = random_.number(1, 4); n > 0; --n)
        for (Call& each : body) {
          if (each.group && random_.number(0, 9) == 0) each.sharding = random_sharding(random_, 1);
          all.push_back(each);
        }
    }
    return all;
  }

 private:
  IndexSpaceRef some_points() { return data::intersect(space_, random_.space(dim_, range_)); }
  Call call() {
    Call call;
    call.kind = static_cast<Kind>(random_.number(0, 4));
    if (call.kind == Kind::write_by_all || call.kind == Kind::read_by_all ||
        random_.number(0, 2) == 0) {
      call.shard = static_cast<ShardId>(random_.number(0, shards_ - 1));
      call.points = some_points();
      return call;
    }
    call.group = true;
    const int dim = call.kind == Kind::write ? 1 : static_cast<int>(random_.number(1, 2));
    const Coord pieces = random_.number(1, 6);
    call.colours = IndexSpace::dense(1, data::Box{{0, 0, 0}, {pieces - 1, 0, 0}});
    IndexSpaceRef rest = space_;
    for (Coord i = 0; i < pieces; ++i) {
      call.pieces.push_back(call.kind == Kind::write ? data::intersect(rest, some_points())
                                                     : some_points());
      rest = data::subtract(rest, call.pieces.back());
    }
    if (call.kind == Kind::write) {  // each piece once
      call.domain = call.colours;
    } else {
      call.domain = IndexSpace::from_boxes(dim, {random_.box(dim, 3), random_.box(dim, 3)});
      call.projection = Projection::function(
          "scatter", scatter,
          static_cast<std::uint64_t>(pieces + 64 * 1000 + 64 * random_.number(0, 9)));
      if (pieces == 1) call.partitioned = random_.number(0, 1) == 0;
    }
    call.sharding = random_sharding(random_, dim);
    return call;
  }

  RandomSets random_;
  int dim_;
  Coord range_;
  IndexSpaceRef space_;
  ShardId shards_ = 1;
};

Access access_of(const Call& call, UserTable& users) {
  if (call.group)
    return access(call.kind,
                  users.group({users.pieces(call.pieces[0]->dim(), call.colours, call.pieces),
                               call.partitioned, call.projection, call.domain, call.sharding}));
  if (call.kind == Kind::write_by_all || call.kind == Kind::read_by_all)
    return access_by_all(call.kind, call.points);
  ByShard uses;
  add(uses, call.shard, call.points);
  return access(call.kind, users.single(uses, call.points->dim()));
}

/// Which points each launch point uses, and where it runs.
std::vector<Use> uses_of(const Call& call, ShardId shards) {
  std::vector<Use> uses;
  if (call.group) {
    std::uint32_t rank = 0;
    call.domain->for_each_point([&](const BoxPoint& p) {
      const Coord piece = call.partitioned ? data::project(call.projection.impl(), p)[0] : Coord{0};
      uses.push_back({shard_of(call.sharding, *call.domain, p, shards), rank++,
                      call.pieces[static_cast<std::size_t>(piece)]});
    });
  } else if (call.kind == Kind::write_by_all || call.kind == Kind::read_by_all) {
    for (ShardId shard = 0; shard < shards; ++shard) uses.push_back({shard, 0, call.points});
  } else {
    uses.push_back({call.shard, 0, call.points});
  }
  return uses;
}

using Message = std::pair<int, int>;  // from, to
using Messages = std::map<Message, data::PointSet>;
/// Contributions by launch rank and point: from, to.
using Folds = std::map<std::pair<std::uint32_t, BoxPoint>, Message>;

Messages naive_messages(const NaiveHoldings& naive, const std::vector<Use>& uses) {
  Messages messages;
  for (const Use& use : uses)
    for (const auto& [from, points] : naive.read(static_cast<int>(use.shard), use.points))
      messages[{from, static_cast<int>(use.shard)}].insert(points.begin(), points.end());
  return messages;
}

Folds naive_folds(const NaiveHoldings& naive, const std::vector<Use>& uses) {
  Folds folds;
  for (const Use& use : uses)
    use.points->for_each_point([&](const BoxPoint& p) {
      folds[{use.launch_rank, p}] = {static_cast<int>(use.shard), naive.folder(p)};
    });
  return folds;
}

/// The shards of a world, each with a state of its own.
struct World {
  World(ShardId shards, const IndexSpaceRef& space) {
    for (ShardId me = 0; me < shards; ++me) {
      steps.push_back(std::make_unique<Steps>(me, shards));
      states.push_back(steps.back()->initial(space));
    }
  }
  std::vector<std::unique_ptr<Steps>> steps;
  std::vector<StateRef> states;
};

// What the shards send and receive, and what they fold, is what the judge says.
void compare_traffic(World& world, const Call& call, const NaiveHoldings& naive) {
  const auto shards = static_cast<ShardId>(world.states.size());
  const std::vector<Use> uses = uses_of(call, shards);
  const bool reads = call.kind == Kind::read || call.kind == Kind::read_by_all;
  Messages sent, received;
  Folds given, folded;
  for (ShardId me = 0; me < shards; ++me) {
    const int shard = static_cast<int>(me);
    const Access access = access_of(call, world.steps[me]->users());
    const Step& step = world.steps[me]->take(world.states[me], access);
    const Traffic& traffic = step.traffic;
    for (const Transfer& each : traffic.sends)
      ASSERT_TRUE(
          sent.emplace(Message(shard, static_cast<int>(each.peer)), data::points_of(each.points))
              .second);
    for (const Transfer& each : traffic.receives)
      ASSERT_TRUE(
          received
              .emplace(Message(static_cast<int>(each.peer), shard), data::points_of(each.points))
              .second);
    std::uint32_t rank = 0;
    for (const Contribution& each : traffic.folded) {
      ASSERT_LE(rank, each.launch_rank) << "folds are in launch order";
      rank = each.launch_rank;
      for (const BoxPoint& p : data::points_of(each.points)) {
        ASSERT_EQ(each.to, me);
        const Message message(static_cast<int>(each.from), shard);
        ASSERT_TRUE(folded.emplace(std::pair(each.launch_rank, p), message).second);
        if (each.from == me) given.emplace(std::pair(each.launch_rank, p), message);
      }
    }
    for (const Contribution& each : traffic.given)
      for (const BoxPoint& p : data::points_of(each.points))
        ASSERT_TRUE(
            given.emplace(std::pair(each.launch_rank, p), Message(shard, static_cast<int>(each.to)))
                .second);
    world.states[me] = step.next;
  }
  ASSERT_EQ(sent, reads ? naive_messages(naive, uses) : Messages());
  ASSERT_EQ(received, sent);
  ASSERT_EQ(folded, call.kind == Kind::reduce ? naive_folds(naive, uses) : Folds());
  ASSERT_EQ(given, folded);
}

void note(NaiveHoldings& naive, const Call& call, ShardId shards) {
  if (call.kind == Kind::write_by_all) naive.write(NaiveHoldings::every, call.points);
  else
    for (const Use& use : uses_of(call, shards)) {
      if (call.kind == Kind::write) naive.write(static_cast<int>(use.shard), use.points);
      else if (call.kind == Kind::reduce) naive.reduce(use.points);
      else naive.note_read(static_cast<int>(use.shard), use.points);
    }
}

void compare_holdings(const World& world, const NaiveHoldings& naive, const IndexSpaceRef& space) {
  const auto shards = static_cast<ShardId>(world.states.size());
  for (ShardId me = 0; me < shards; ++me) {
    const auto &layers = world.states[me]->layers, &first = world.states[0]->layers;
    ASSERT_EQ(layers.size(), first.size());
    for (std::size_t i = 0; i < layers.size(); ++i)
      ASSERT_TRUE(layers[i].kind == first[i].kind && layers[i].points == first[i].points);
    const Holdings holdings(*world.states[me], me, shards);
    for (const auto& [owner, points] : holdings.owners(space))
      for (const BoxPoint& p : data::points_of(points))
        ASSERT_EQ(naive.owner(p),
                  owner == kEveryShard ? NaiveHoldings::every : static_cast<int>(owner));
    std::map<int, NaiveHoldings::Points> missing;
    for (const auto& [owner, points] : holdings.missing(space, me))
      points->for_each_point(
          [&, from = static_cast<int>(owner)](const BoxPoint& p) { missing[from].push_back(p); });
    ASSERT_EQ(missing, naive.read(static_cast<int>(me), space));
  }
}

TEST(ShardLayers, AreWhatOwnersAndHoldersPerPointSay) {
  data::for_seeds(1500, [](RandomSets& random, int dim, Coord range) {
    Program program(static_cast<unsigned>(random.number(0, 1 << 30)), dim, range);
    World world(program.shards(), program.space());
    NaiveHoldings naive(program.space(), static_cast<int>(program.shards()));
    for (const Call& call : program.calls()) {
      ASSERT_NO_FATAL_FAILURE(compare_traffic(world, call, naive));
      note(naive, call, program.shards());
      ASSERT_NO_FATAL_FAILURE(compare_holdings(world, naive, program.space()));
    }
  });
}

// A program that repeats itself repeats its states, so that nothing is worked out any more.
TEST(ShardLayers, RepeatThemselves) {
  data::for_seeds(600, [](RandomSets& random, int dim, Coord range) {
    Program program(static_cast<unsigned>(random.number(0, 1 << 30)), dim, range);
    const std::vector<Call> body = program.calls();
    Steps steps(0, program.shards());
    StateRef state = steps.initial(program.space());
    std::vector<Access> accesses;  // as plans keep them
    accesses.reserve(body.size());
    for (const Call& call : body) accesses.push_back(access_of(call, steps.users()));
    const auto run = [&] {
      for (const Access& each : accesses) state = steps.take(state, each).next;
    };
    for (int i = 0; i < 8; ++i) run();
    const std::uint64_t before = steps.misses();
    for (int i = 0; i < 4; ++i) run();
    ASSERT_EQ(steps.misses(), before);
    ASSERT_LE(state->layers.size(), 2 * body.size() + 2);
  });
}

// What leaves owners and holders as they are leaves the state as it is: in whatever order a program reads and reduces,
// nothing is worked out twice.
TEST(ShardLayers, AreLeftAloneByWhatChangesNothing) {
  const IndexSpaceRef space = IndexSpace::dense(1, data::Box{{0, 0, 0}, {29, 0, 0}});
  const auto points = [](Coord lo, Coord hi) {
    return IndexSpace::dense(1, data::Box{{lo, 0, 0}, {hi, 0, 0}});
  };
  Steps steps(1, 3);
  const IndexSpaceRef colours = points(0, 2);
  const auto group = [&](Kind kind, Coord width) {
    std::vector<IndexSpaceRef> pieces;
    for (Coord i = 0; i < 3; ++i)
      pieces.push_back(
          points(std::max<Coord>(0, 10 * i - width), std::min<Coord>(29, 10 * i + 9 + width)));
    const PiecesRef made = steps.users().pieces(1, colours, std::move(pieces));
    return access(kind, steps.users().group({made, true, {}, colours, Sharding::blocked()}));
  };
  const auto single = [&](Kind kind, ShardId shard, Coord lo, Coord hi) {
    return access(kind, steps.users().single({{shard, points(lo, hi)}}, 1));
  };
  const std::vector<Access> reads{single(Kind::read, 0, 25, 29), single(Kind::read, 2, 3, 8),
                                  group(Kind::read, 1), group(Kind::read, 3),
                                  access_by_all(Kind::read_by_all, points(14, 15))};
  const std::vector<Access> reductions{group(Kind::reduce, 0), group(Kind::reduce, 2),
                                       single(Kind::reduce, 2, 4, 20)};
  for (const auto& accesses : {reads, reductions}) {
    StateRef state = steps.take(steps.initial(space), group(Kind::write, 0)).next;
    for (const Access& each : accesses) state = steps.take(state, each).next;
    for (std::size_t i = 0; i < 100; ++i)
      ASSERT_EQ(steps.take(state, accesses[(7 * i + i / 5) % accesses.size()]).next, state);
  }
  StateRef state = steps.initial(space);
  for (const Access& each : reads) ASSERT_EQ(steps.take(state, each).next, state);
}

TEST(ShardLayers, RowsThatAreWrittenOneByOneShareALayer) {
  const IndexSpaceRef space = IndexSpace::dense(2, data::Box{{0, 0, 0}, {99, 9, 0}});
  Steps steps(1, 4);
  StateRef state = steps.initial(space);
  for (int repeat = 0; repeat < 2; ++repeat)
    for (Coord row = 0; row < 100; ++row) {
      const IndexSpaceRef points = IndexSpace::dense(2, data::Box{{row, 0, 0}, {row, 9, 0}});
      const UsersRef writer = steps.users().single({{static_cast<ShardId>(row % 4), points}}, 2);
      state = steps.take(state, access(Kind::write, writer)).next;
      ASSERT_EQ(state->layers.size(), 1U);
    }
}

// Rows that groups write one after the other, and reads by ever other partitions: the list stays short, and the owners
// are what they were. (Reads may be forgotten: what is sent once more is no mistake.)
TEST(ShardLayers, LongListsAreMadeShort) {
  const IndexSpaceRef space = IndexSpace::dense(2, data::Box{{0, 0, 0}, {299, 5, 0}});
  const IndexSpaceRef colours = IndexSpace::dense(1, data::Box{{0, 0, 0}, {2, 0, 0}});
  Steps steps(1, 3);
  StateRef state = steps.initial(space);
  NaiveHoldings naive(space, 3);
  for (Coord row = 0; row < 300; ++row)
    for (const Kind kind : {Kind::write, Kind::read}) {
      std::vector<IndexSpaceRef> pieces;
      for (Coord i = 0; i < 3; ++i) {
        const Coord first = kind == Kind::write ? row : 0;
        pieces.push_back(IndexSpace::dense(2, data::Box{{first, 2 * i, 0}, {row, 2 * i + 1, 0}}));
      }
      const PiecesRef made = steps.users().pieces(2, colours, pieces);
      const Sharding sharding = kind == Kind::write ? Sharding::blocked() : Sharding::cyclic();
      const UsersRef users = steps.users().group({made, true, {}, colours, sharding});
      state = steps.take(state, access(kind, users)).next;
      ASSERT_LE(state->layers.size(), States::max_layers);
      if (kind == Kind::write)
        for (int shard = 0; shard < 3; ++shard)
          naive.write(shard, pieces[static_cast<std::size_t>(shard)]);
    }
  for (const auto& [owner, points] : Holdings(*state, 1, 3).owners(space))
    for (const BoxPoint& p : data::points_of(points))
      ASSERT_EQ(naive.owner(p), static_cast<int>(owner));
}

// Of no points there are users in each number of dimensions.
TEST(ShardLayers, SingleLaunchesOfNoPoints) {
  Steps steps(0, 2);
  for (int dim = 1; dim <= 3; ++dim) {
    const StateRef state = steps.initial(IndexSpace::dense(dim, data::Box{{0, 0, 0}, {3, 0, 0}}));
    for (const Kind kind : {Kind::read, Kind::write, Kind::reduce})
      EXPECT_EQ(steps.take(state, access(kind, steps.users().single({}, dim))).next, state);
  }
}

TEST(ShardLayers, PartitionsWithoutColours) {
  const IndexSpaceRef space = IndexSpace::dense(2, data::Box{{0, 0, 0}, {3, 3, 0}});
  const IndexSpaceRef none = IndexSpace::empty_space(1);
  Steps steps(0, 2);
  const PiecesRef pieces = steps.users().pieces(2, none, {});
  const UsersRef users = steps.users().group({pieces, true, {}, none, Sharding::blocked()});
  const StateRef state = steps.initial(space);
  for (const Kind kind : {Kind::read, Kind::write, Kind::reduce})
    EXPECT_EQ(steps.take(state, access(kind, users)).next, state);
}

TEST(ShardLayers, PointsWithoutPieceOrShardAreErrors) {
  Steps steps(0, 2);
  const IndexSpaceRef two = IndexSpace::dense(1, data::Box{{0, 0, 0}, {1, 0, 0}});
  const IndexSpaceRef three = IndexSpace::dense(1, data::Box{{0, 0, 0}, {2, 0, 0}});
  const PiecesRef pieces = steps.users().pieces(1, two, {two, two});
  EXPECT_THROW(steps.users().group({pieces, true, {}, three, Sharding::blocked()}), UsageError);
  const auto beyond = [](const Point<3>&, const Rect<3>&, ShardId shards, std::uint64_t) {
    return shards;
  };
  EXPECT_THROW(steps.users().group({pieces, true, {}, two, Sharding::function("beyond", beyond)}),
               UsageError);
}

}  // namespace
}  // namespace refrain::shard::shard_layers_test
