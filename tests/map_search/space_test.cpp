// Spaces, mappings and their texts; several runs as one number.

#include "map_search/space.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "map_search/measure.hpp"
#include "map_search/moves.hpp"
#include "map_search/synthetic.hpp"
#include "support/test_budget.hpp"

namespace refrain::map_search::test::space_test {
namespace {

using refrain::test::TestBudget;

Space two_tasks() {
  Space space;
  space.program = "two tasks";
  space.memories = {{"sys", 0}, {"zc", 0}, {"fb", 100}};
  space.processors = {{"cpu", {0, 1}, 0, false}, {"gpu", {1, 2}, 2, true}};
  space.tasks = {{"short", {0, 1}, 1, true}, {"long", {0, 1}, 2, true}, {"host", {0}, 0, false}};
  space.arguments = {{0, "a", 80}, {0, "b", 30}, {1, "a", 80}, {1, "c", 20}, {2, "c", 20}};
  space.overlaps = {{0, 2, 80}, {3, 4, 20}};
  return space;
}

TEST(Space, BeginsWithWhatFitsIntoTheNearestMemory) {
  // The long task's arguments come first and fill the framebuffer; the short one's `a` is there already.
  const Space space = two_tasks();
  EXPECT_EQ(text(space, starting_point(space)),
            "blocked gpu fb zc; blocked gpu fb fb; blocked cpu sys");
}

TEST(Space, ReadsTheTextsItWrites) {
  for (TestBudget budget{200, 20}; budget.more(); budget.next()) {
    Random random(budget.seed());
    const Space space = any_space(random);
    map_search::Random draws(budget.seed());
    const Mapping mapping = random_mapping(space, draws);
    ASSERT_TRUE(executable(space, mapping)) << "seed " << budget.seed();
    const std::string written = text(space, mapping);
    EXPECT_EQ(mapping_of(space, written), mapping) << written;
    EXPECT_EQ(mapping_of(space, written + " "), std::nullopt);
    EXPECT_EQ(mapping_of(space, written.substr(0, written.size() - 1)), std::nullopt);
  }
}

TEST(Space, AdvancesThroughAllMappings) {
  for (TestBudget budget{100, 10}; budget.more(); budget.next()) {
    Random random(budget.seed());
    const Space space = any_space(random);
    if (size(space) > 5000) continue;
    std::set<Mapping> all;
    std::unordered_set<std::size_t> hashes;
    Mapping mapping = first_mapping(space);
    do {
      EXPECT_TRUE(executable(space, mapping));
      all.insert(mapping);
      hashes.insert(MappingHash()(mapping));
    } while (advance(space, mapping));
    EXPECT_EQ(mapping, first_mapping(space));
    EXPECT_EQ(static_cast<double>(all.size()), size(space)) << "seed " << budget.seed();
    EXPECT_EQ(hashes.size(), all.size());
  }
}

TEST(Space, HasAFingerprintOfAllThatMeasurementsDependOn) {
  const Space space = two_tasks();
  std::set<std::string> different{fingerprint(space)};
  const auto changed = [&](auto change) {
    Space other = two_tasks();
    change(other);
    different.insert(fingerprint(other));
  };
  changed([](Space& s) { s.program = "another"; });
  changed([](Space& s) { s.memories[2].capacity = 200; });
  changed([](Space& s) { s.processors[0].memories = {0}; });
  changed([](Space& s) { s.tasks[0].name = "another"; });
  changed([](Space& s) { s.tasks[0].variants = {1}; });
  changed([](Space& s) { s.arguments[0].bytes = 1; });
  changed([](Space& s) { s.arguments[2].task = 0; });
  changed([](Space& s) { s.overlaps.pop_back(); });
  EXPECT_EQ(different.size(), 9u);
  changed([](Space& s) { s.tasks[0].seconds = 77; });
  EXPECT_EQ(different.size(), 9u) << "another profile is no other program";
}

TEST(Space, SaysWhereItContradictsItself) {
  const auto complaint = [](auto change) -> std::string {
    Space space = two_tasks();
    change(space);
    try {
      check(space);
    } catch (const InvalidSpace& invalid) { return invalid.what(); }
    return "none";
  };
  EXPECT_EQ(complaint([](Space&) {}), "none");
  EXPECT_EQ(complaint([](Space& s) { s.tasks.clear(), s.arguments.clear(), s.overlaps.clear(); }),
            "search space: the list of tasks is empty");
  EXPECT_EQ(complaint([](Space& s) { s.tasks[1].variants.clear(); }),
            "search space: task 'long' has no variant for any processor kind");
  EXPECT_EQ(complaint([](Space& s) {
              s.tasks[1].variants = {0, 2};
            }),
            "search space: task 'long' has variants for processor kinds that do not exist or are "
            "not in the machine's order");
  EXPECT_EQ(complaint([](Space& s) {
              s.processors[1].memories = {2, 1};
            }),
            "search space: processor kind 'gpu' has memory kinds that do not exist or are not in "
            "the machine's order");
  EXPECT_EQ(complaint([](Space& s) { s.processors[1].nearest = 0; }),
            "search space: processor kind 'gpu' does not address the memory kind nearest to it");
  EXPECT_EQ(complaint([](Space& s) { s.memories[1].name = "zero copy"; }),
            "search space: memory kind 'zero copy' needs a name without blanks and semicolons");
  EXPECT_EQ(complaint([](Space& s) { s.memories[1].name = "sys"; }),
            "search space: memory kind 'sys' is there twice");
  EXPECT_EQ(complaint([](Space& s) { s.distributions.clear(); }),
            "search space: the list of each distribution needs 1 to 255 entries");
  EXPECT_EQ(complaint([](Space& s) { s.arguments[4].task = 3; }),
            "search space: argument 'c' belongs to a task that does not exist");
  EXPECT_EQ(complaint([](Space& s) { s.arguments[0].task = 1; }),
            "search space: the list of arguments is not in the order of the tasks");
  EXPECT_EQ(
      complaint([](Space& s) { s.overlaps[0].b = 9; }),
      "search space: the overlap of arguments 0 and 9 is not one of two arguments that exist");
}

TEST(Measure, LeavesOutliersAsideAndKeepsTheSpread) {
  const Robust all = robust(std::array{1.0, 1.1, 0.9, 1.05, 0.95, 1.0, 9.0});
  EXPECT_EQ(all.kept, 6u);
  EXPECT_NEAR(all.mean, 1.0, 1e-12);
  EXPECT_NEAR(all.spread, 0.0707, 1e-4);
  EXPECT_EQ(robust(std::array{3.0}).mean, 3.0);
  EXPECT_EQ(robust(std::array{3.0}).spread, 0.0);
  EXPECT_EQ(robust(std::array{2.0, 4.0}).mean, 3.0);
  EXPECT_EQ(robust(std::array{2.0, 2.0, 2.0, 8.0}).kept, 3u);
}

TEST(Measure, KeepsAtLeastHalf) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    std::vector<double> values;
    for (int i = random.between(1, 9); i > 0; --i) values.push_back(random.below(6));
    EXPECT_GE(2 * robust(values).kept, values.size()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace refrain::map_search::test::space_test
