// Algorithms 1 and 2 against the paper's, line by line.

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "map_search/ccd.hpp"
#include "map_search/co_location.hpp"
#include "map_search/paper.hpp"
#include "map_search/search.hpp"
#include "map_search/synthetic.hpp"
#include "support/test_budget.hpp"

namespace refrain::map_search::test::algorithms_test {
namespace {

using refrain::test::TestBudget;

/// Different for different mappings, with ties and failures.
double any_cost(const Space& space, const Mapping& mapping, std::uint64_t seed) {
  if (!executable(space, mapping)) return std::numeric_limits<double>::infinity();
  const std::uint64_t hash = refrain::test::mix(seed, MappingHash()(mapping));
  if (hash % 16 == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(hash / 16 % 50);
}

TEST(Descent, ProposesWhatThePaperDoes) {
  paper::Notes notes;
  std::size_t proposals = 0;
  for (TestBudget budget{1000, 50}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    Random random(budget.seed());
    const Space space = any_space(random);
    check(space);
    const int rotations = random.between(1, 6);
    std::vector<Mapping> expected, proposed;
    const auto into = [&](std::vector<Mapping>& all) {
      return [&, cost = budget.seed()](const Mapping& mapping) {
        all.push_back(mapping);
        return any_cost(space, mapping, cost);
      };
    };
    paper::ccd(space, rotations, into(expected), notes);
    constrained_descent(space, into(proposed), static_cast<std::size_t>(rotations));
    ASSERT_EQ(proposed.size(), expected.size());
    for (std::size_t i = 0; i < proposed.size(); ++i)
      ASSERT_EQ(proposed[i], expected[i])
          << "proposal " << i << " is\n  " << text(space, proposed[i]) << "\n, the paper's\n  "
          << text(space, expected[i]);
    proposals += proposed.size();
  }
  RecordProperty("proposals", static_cast<int>(proposals));
  RecordProperty("co_located", notes.co_located);
  RecordProperty("looked_again", notes.looked_again);
  EXPECT_GT(notes.looked_again, 0);
}

/// The example at the end of section 4.2: two group tasks share two large collections. All of them in framebuffers cost
/// copies between the framebuffers; all in zero-copy memory cost slower accesses, which is less; some here and some there
/// cost both.
class TwoCollections : public testing::Test {
 protected:
  TwoCollections() {
    space_.program = "two collections";
    space_.memories = {{"sys", 0}, {"zc", 0}, {"fb", 0}};
    space_.processors = {{"cpu", {0, 1}, 0, false}, {"gpu", {1, 2}, 2, true}};
    space_.tasks = {{"first", {0, 1}, 2, true}, {"second", {0, 1}, 1, true}};
    space_.arguments = {{0, "a", 200}, {0, "b", 100}, {1, "a", 200}, {1, "b", 100}};
    space_.overlaps = {{0, 2, 200}, {1, 3, 100}};
  }

  [[nodiscard]] map_search::Run run(const Mapping& mapping) const {
    double seconds = 0;
    for (std::size_t task = 0; task < 2; ++task)
      seconds +=
          (mapping.processor[task] == 0 ? 100 : 1) + (mapping.distribution[task] == 0 ? 0 : 50);
    for (std::size_t i = 0; i < 2; ++i) {
      const Kind a = mapping.memory[i], b = mapping.memory[i + 2];
      if (a != b) seconds += 12;
      else seconds += a == 2 ? 10 : 6;
    }
    return {Outcome::ok, seconds, 0, 1, {}};
  }
  [[nodiscard]] Result search_with(Algorithm algorithm, std::size_t rotations = 5,
                                   bool by_gain = false) const {
    Calls calls([&](const Mapping& mapping) { return run(mapping); });
    Options options;
    options.algorithm = algorithm;
    options.rotations = rotations;
    options.by_gain = by_gain;
    options.final_runs = 0;
    return search(space_, calls, nullptr, options);
  }
  [[nodiscard]] std::string best_of(const Result& result) const {
    return text(space_, result.finalists.at(0).mapping);
  }

  Space space_;
};

TEST_F(TwoCollections, HoldCdInALocalMinimumThatCcdLeaves) {
  const Result cd = search_with(Algorithm::cd), ccd = search_with(Algorithm::ccd);
  EXPECT_EQ(best_of(cd), "blocked gpu fb fb; blocked gpu fb fb");
  EXPECT_EQ(cd.finalists[0].measured.seconds.mean, 22);
  EXPECT_EQ(best_of(ccd), "blocked gpu zc zc; blocked gpu zc zc");
  EXPECT_EQ(ccd.finalists[0].measured.seconds.mean, 14);
  EXPECT_EQ(best_of(search_with(Algorithm::exhaustive)), best_of(ccd));
}

TEST_F(TwoCollections, AreSearchedByCdWhereThereIsOneRotation) {
  const Result cd = search_with(Algorithm::cd), one = search_with(Algorithm::ccd, 1);
  EXPECT_EQ(best_of(one), best_of(cd));
  // The starting point; then, for each task, two distributions, and on each of two processors two arguments in two
  // memories.
  EXPECT_EQ(cd.counts.proposed, 1u + 2 * (2 + 2 * 2 * 2));
  EXPECT_EQ(one.counts.proposed, cd.counts.proposed);
  const std::size_t five = 1 + 5 * (cd.counts.proposed - 1);
  EXPECT_EQ(search_with(Algorithm::ccd).counts.proposed, five);
  // By gain: each change alone, of which none gains anything, and each of them once more.
  EXPECT_EQ(search_with(Algorithm::ccd, 5, true).counts.proposed,
            five + 1 + 2 * (cd.counts.proposed - 1));
}

/// Either argument gains in zero-copy memory, the smaller one much more; both there lose.
TEST(Descent, ByGainTakesTheLargestFirst) {
  Space space;
  space.program = "a large argument and a small one";
  space.memories = {{"zc", 0}, {"fb", 0}};
  space.processors = {{"gpu", {0, 1}, 1, true}};
  space.tasks = {{"only", {0}, 1, false}};
  space.arguments = {{0, "large", 100}, {0, "small", 10}};
  const auto seconds = [](const Mapping& mapping) {
    const bool large = mapping.memory[0] == 0, small = mapping.memory[1] == 0;
    if (large && small) return 600.0;
    return large ? 499.0 : small ? 400.0 : 500.0;
  };
  Calls calls([&](const Mapping& mapping) {
    return map_search::Run{Outcome::ok, seconds(mapping), 0, 1, {}};
  });
  Options options;
  options.final_runs = 0;
  options.algorithm = Algorithm::cd;
  EXPECT_EQ(text(space, search(space, calls, nullptr, options).finalists.at(0).mapping),
            "blocked gpu zc fb");
  options.algorithm = Algorithm::ccd;
  options.by_gain = true;
  EXPECT_EQ(text(space, search(space, calls, nullptr, options).finalists.at(0).mapping),
            "blocked gpu fb zc");
}

TEST_F(TwoCollections, LoseTheirLightestEdgesFirst) {
  OverlapGraph overlaps(space_);
  EXPECT_EQ(overlaps.edges(), 2u);
  overlaps.prune(1);
  EXPECT_TRUE(overlaps.overlap(0, 2));
  EXPECT_FALSE(overlaps.overlap(1, 3));
  overlaps.prune(2);
  EXPECT_EQ(overlaps.edges(), 0u);
  EXPECT_FALSE(overlaps.overlap(0, 2));
}

TEST_F(TwoCollections, TakeAlongWhatOverlapsAndWhoeverCannotFollow) {
  Mapping moved = starting_point(space_);
  moved.processor[0] = 0;
  moved.memory[0] = 0;
  // The second task follows its `a` to the CPU; either task's `b` comes along to the CPU's first memory.
  EXPECT_EQ(text(space_, co_located(space_, OverlapGraph(space_), moved, 0)),
            "blocked cpu sys sys; blocked cpu sys sys");
  EXPECT_EQ(text(space_, co_located(space_, OverlapGraph(space_.arguments.size()), moved, 0)),
            "blocked cpu sys sys; blocked gpu fb fb");
}

/// The second task is moved for the sake of its later argument; the earlier one, which Algorithm 2 as printed has looked
/// at by then, is in a memory that the task can no longer address.
TEST_F(TwoCollections, AreLookedAtAgain) {
  Mapping moved = starting_point(space_);
  space_.overlaps = {{1, 3, 100}};
  moved.processor[0] = 0;
  moved.memory[1] = 0;
  const Mapping result = co_located(space_, OverlapGraph(space_), moved, 1);
  EXPECT_TRUE(executable(space_, result));
  EXPECT_EQ(text(space_, result), "blocked cpu sys sys; blocked cpu sys sys");
}

TEST(Descent, CountsProposalsWithoutAVariantAndDoesNotRunThem) {
  Space space;
  space.program = "variants";
  space.memories = {{"zc", 0}};
  space.processors = {{"cpu", {0}, 0, false}, {"gpu", {0}, 0, true}};
  space.tasks = {{"only on cpu", {0}, 1, false}, {"no arguments", {0, 1}, 1, false}};
  space.arguments = {{0, "a", 1}};
  Calls calls([](const Mapping&) { return map_search::Run{}; });
  Options options;
  options.final_runs = 0;
  options.limits.runs = 3;
  options.algorithm = Algorithm::cd;
  const Result result = search(space, calls, nullptr, options);
  EXPECT_EQ(result.counts.proposed, 1u + (1 + 2) + (1 + 2));
  EXPECT_EQ(result.counts.invalid, 1u);
  EXPECT_EQ(result.counts.evaluated, 2u);
  EXPECT_EQ(result.counts.repeated, 4u);
  EXPECT_EQ(calls.made, 2 * 3);
}

}  // namespace
}  // namespace refrain::map_search::test::algorithms_test
