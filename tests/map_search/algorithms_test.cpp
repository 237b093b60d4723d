// Algorithms 1 and 2 against the paper's, line by line.

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "map_search/ccd.hpp"
#include "map_search/co_location.hpp"
#include "map_search/paper.hpp"
#include "map_search/search.hpp"
#include "map_search/synthetic.hpp"
#include "support/test_budget.hpp"

namespace refrain::map_search::test {
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

}  // namespace
}  // namespace refrain::map_search::test
