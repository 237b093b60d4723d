// Runs of equivalence sets, against the same sets walked one by one.

#include "analysis/set_runs.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "analysis/field_state.hpp"
#include "point_sets.hpp"
#include "refrain/value_type.hpp"

namespace refrain::analysis::set_runs_test {
namespace {

using data::Box;
using data::IndexSpace;
using data::IndexSpaceRef;

/// Lowered for a test.
class LeastMany {
 public:
  explicit LeastMany(std::size_t least) : before_(std::exchange(SetRuns::least_many, least)) {}
  ~LeastMany() { SetRuns::least_many = before_; }
  LeastMany(const LeastMany&) = delete;

 private:
  std::size_t before_;
};

constexpr Coord last_point = 199;

IndexSpaceRef interval(Coord lo, Coord hi) {
  return IndexSpace::dense(1, {{lo, 0, 0}, {hi, 0, 0}});
}

/// A field, and the operations before each use of it, by number.
struct Used {
  explicit Used(const std::shared_ptr<Subdivision>& subdivision)
      : field(subdivision, value_type<double>(), "x") {
    for (Instance*& each : instances) {
      auto made = std::make_unique<Instance>();
      made->space = field.space();
      each = &field.add_instance(std::move(made));
    }
  }
  std::set<std::uint64_t> use(const IndexSpaceRef& points, StateChange change, std::size_t instance,
                              const exec::NodeRef& self) {
    std::set<std::uint64_t> before;
    Footprint& footprint = field.footprint(points);
    for (EquivalenceSet* set : field.runs().walk(footprint)) {
      Use& use = set->at(instances[instance]);
      apply(use, change, detail::fold_values<Sum, double>, self,
            [&](const exec::NodeRef& earlier) { before.insert(earlier.seq); });
      if (change != StateChange::read) set->only_valid(use);
    }
    return before;
  }
  FieldState field;
  Instance* instances[2]{};
};

TEST(SetRuns, OrderWhatSetsOfTheirOwnOrder) {
  const LeastMany least(2);
  exec::Node node;
  std::size_t shared = 0, walks = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    data::RandomSets random(seed);
    const auto subdivision = std::make_shared<Subdivision>(interval(0, last_point));
    Used runs(subdivision), apart(subdivision);
    std::vector<IndexSpaceRef> sets{interval(0, last_point)};
    const auto another = [&] {
      if (random.number(0, 3) == 0) return random.space(1, last_point / 2);
      const Box around =
          sets[static_cast<std::size_t>(random.number(0, std::ssize(sets) - 1))]->bounds();
      const Coord lo = random.number(around.lo[0], around.hi[0]);
      return random.number(0, 1) == 0 ? interval(around.lo[0], lo) : interval(lo, around.hi[0]);
    };
    const auto add = [&] {
      IndexSpaceRef set = data::intersect(another(), runs.field.space());
      if (!set->empty()) sets.push_back(std::move(set));
    };
    for (Coord i = random.number(3, 20); i > 0; --i) add();
    for (std::uint64_t seq = 1; seq <= 300; ++seq) {
      const IndexSpaceRef& points =
          sets[static_cast<std::size_t>(random.number(0, std::ssize(sets) - 1))];
      const Coord what = random.number(0, 19);
      const StateChange change = what < 13   ? StateChange::write
                                 : what < 18 ? StateChange::read
                                             : StateChange::fold;
      const std::size_t instance = random.number(0, 99) == 0 ? 1 : 0;
      const exec::NodeRef self{&node, seq};
      ASSERT_EQ(runs.use(points, change, instance, self), apart.use(points, change, instance, self))
          << "seed " << seed << ", operation " << seq;
      Footprint& footprint = runs.field.footprint(points);
      shared += footprint.sets.size() - runs.field.runs().walk(footprint).size();
      ++walks;
      if (footprint.many && change == StateChange::write)
        runs.field.runs().written(footprint, *runs.instances[instance]);
      if (random.number(0, 99) == 0) runs.field.runs().end();
      if (random.number(0, 149) == 0) add();
    }
    const auto& ended = runs.field.sets();
    ASSERT_EQ(ended.size(), apart.field.sets().size());
    for (std::size_t i = 0; i < ended.size(); ++i)
      for (std::size_t k = 0; k < 2; ++k) {
        const Use &a = ended[i]->at(runs.instances[k]),
                  &b = apart.field.sets()[i]->at(apart.instances[k]);
        ASSERT_TRUE(a.writer == b.writer && a.readers == b.readers && a.valid == b.valid)
            << "seed " << seed << ", set " << i;
      }
    runs.field.check_invariants();
  }
  EXPECT_GT(shared, walks / 10);
}

// Pieces that lose a point with each use: each one is nearly all that the one before was.
TEST(SetRuns, NestedSetsAreWalkedAsOne) {
  exec::Node node;
  Used used(std::make_shared<Subdivision>(interval(0, last_point)));
  std::vector<IndexSpaceRef> sets;
  for (Coord end = last_point; end >= 0; --end) sets.push_back(interval(0, end));
  std::uint64_t seq = 0;
  std::size_t walked = 0;
  for (int round = 0; round < 6; ++round) {
    walked = 0;
    for (const IndexSpaceRef& points : sets) {
      used.use(points, StateChange::write, 0, {&node, ++seq});
      Footprint& footprint = used.field.footprint(points);
      walked += used.field.runs().walk(footprint).size();
      if (footprint.many) used.field.runs().written(footprint, *used.instances[0]);
    }
  }
  EXPECT_TRUE(used.field.runs().begun());
  EXPECT_LE(walked, 2 * sets.size());
}

// A reader of its own at each point, between writes of all: to bring the sets together again would not pay.
TEST(SetRuns, EndWhereTheyDoNotPay) {
  const LeastMany least(2);
  exec::Node node;
  Used used(std::make_shared<Subdivision>(interval(0, last_point)));
  const auto use = [&](const IndexSpaceRef& points, StateChange change, std::uint64_t seq) {
    used.use(points, change, 0, {&node, seq});
    Footprint& footprint = used.field.footprint(points);
    if (footprint.many && change == StateChange::write)
      used.field.runs().written(footprint, *used.instances[0]);
  };
  std::uint64_t seq = 0;
  int begun = 0;
  for (int round = 0; round < 100; ++round) {
    use(interval(0, last_point), StateChange::write, ++seq);
    begun += used.field.runs().begun() ? 1 : 0;
    for (Coord p = 0; p <= last_point; ++p) use(interval(p, p), StateChange::read, ++seq);
  }
  EXPECT_GT(begun, 0);
  EXPECT_LT(begun, 30);
}

}  // namespace
}  // namespace refrain::analysis::set_runs_test
