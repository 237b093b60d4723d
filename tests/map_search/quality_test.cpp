// How good the mappings are that the algorithms find: beside the optimum of small spaces, and beside each other. The
// programs are fixed by their seeds, and nothing depends on time.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "map_search/paper.hpp"
#include "map_search/search.hpp"
#include "map_search/synthetic.hpp"

namespace refrain::map_search::test::quality_test {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// A run costs 1, so the budget is a number of mappings.
Result find(const Program& program, Algorithm algorithm, double budget = unbounded,
            std::uint64_t seed = 1) {
  Calls calls(program);
  Options options;
  options.algorithm = algorithm;
  options.limits.runs = 1;
  options.limits.budget = budget;
  options.final_runs = 0;
  options.seed = seed;
  return search(program.space, calls, nullptr, options);
}
double best(const Result& result) { return result.finalists.at(0).measured.seconds.mean; }

/// Of ratios, 1 being as good as what they are compared with, and more being worse.
struct Ratios {
  std::vector<double> all;

  [[nodiscard]] double within(double ratio) const {
    return static_cast<double>(std::ranges::count_if(all, [&](double r) { return r <= ratio; })) /
           static_cast<double>(all.size());
  }
  [[nodiscard]] double median() const {
    std::vector<double> sorted = all;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
  [[nodiscard]] double worst() const { return *std::ranges::max_element(all); }
};

void record(const std::string& name, const Ratios& ratios) {
  testing::Test::RecordProperty(name, "optimal " + std::to_string(ratios.within(1 + 1e-9)) +
                                          " within 2% " + std::to_string(ratios.within(1.02)) +
                                          " median " + std::to_string(ratios.median()) + " worst " +
                                          std::to_string(ratios.worst()));
}

bool has_all_variants(const Space& space) {
  return std::ranges::all_of(space.tasks, [&](const Task& task) {
    return task.variants.size() == space.processors.size();
  });
}

TEST(Quality, ExhaustiveSearchFindsTheOptimum) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Program program = random_program(random, 1024);
    const Result all = find(program, Algorithm::exhaustive);
    EXPECT_EQ(static_cast<double>(all.counts.evaluated), size(program.space));
    EXPECT_EQ(best(all), optimum(program)) << "seed " << seed;
  }
}

/// No descent finds the optimum of every space. Where a task lacks a variant, the moves that co-location would make are
/// not possible, and the paper's algorithm has nothing to put in their place.
TEST(Quality, CcdFindsNearlyTheOptimumOfSmallSpaces) {
  Ratios ccd, cd, with_all_variants;
  paper::Notes notes;
  for (const double largest : {256.0, 1024.0, 8192.0, 65536.0})
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      Random random(seed);
      const Program program = random_program(random, largest);
      const double least = optimum(program);
      ccd.all.push_back(best(find(program, Algorithm::ccd)) / least);
      cd.all.push_back(best(find(program, Algorithm::cd)) / least);
      if (has_all_variants(program.space)) with_all_variants.all.push_back(ccd.all.back());
      paper::ccd(
          program.space, 5,
          [&](const Mapping& mapping) {
            return executable(program.space, mapping) ? program.seconds(mapping) : unbounded;
          },
          notes);
    }
  record("ccd", ccd);
  record("ccd_where_all_variants_exist", with_all_variants);
  record("cd", cd);
  RecordProperty("co_located", notes.co_located);
  RecordProperty("looked_again", notes.looked_again);
  EXPECT_GE(ccd.within(1.02), 0.93);
  EXPECT_GE(with_all_variants.within(1.02), 0.97);
  EXPECT_GT(ccd.within(1.02), cd.within(1.02));
}

/// Nor is a descent with constraints always the better one: it may lead where the last rotation does not get out.
TEST(Quality, CcdIsHardlyEverWorseThanCd) {
  Ratios small, large;
  for (const double largest : {1024.0, 1e12})
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      Random random(seed);
      const Program program = random_program(random, largest);
      const double ratio = best(find(program, Algorithm::ccd)) / best(find(program, Algorithm::cd));
      (largest > 1e6 ? large : small).all.push_back(ratio);
    }
  record("small", small);
  record("large", large);
  EXPECT_GE(small.within(1.01), 0.98);
  EXPECT_GE(large.within(1.01), 0.93);
  EXPECT_LT(large.median(), 0.98);
}

TEST(Quality, EnsembleFindsTheOptimumOfEverySmallSpace) {
  Ratios with_half, with_a_tenth;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Program program = random_program(random, 1024);
    const double least = optimum(program);
    EXPECT_EQ(best(find(program, Algorithm::ensemble, unbounded, seed)), least) << "seed " << seed;
    for (Ratios* ratios : {&with_half, &with_a_tenth}) {
      const double budget = size(program.space) / (ratios == &with_half ? 2 : 10);
      ratios->all.push_back(best(find(program, Algorithm::ensemble, budget, seed)) / least);
    }
  }
  record("with_half_of_the_space", with_half);
  record("with_a_tenth_of_the_space", with_a_tenth);
  EXPECT_GE(with_half.within(1.02), 0.95);
}

/// Each with the budget that CCD takes to its end.
TEST(Quality, EnsembleBeatsRandomAndCcdBeatsBoth) {
  Ratios ensemble_to_random, annealing_to_random, ccd_to_ensemble, ccd_to_random;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const Program program = random_program(random, 1e12);
    const Result ccd = find(program, Algorithm::ccd);
    for (std::uint64_t of_search = 1; of_search <= 5; ++of_search) {
      const auto found = [&](Algorithm algorithm) {
        return best(find(program, algorithm, ccd.spent, of_search));
      };
      const double by_ensemble = found(Algorithm::ensemble), by_random = found(Algorithm::random);
      ensemble_to_random.all.push_back(by_ensemble / by_random);
      annealing_to_random.all.push_back(found(Algorithm::annealing) / by_random);
      ccd_to_ensemble.all.push_back(best(ccd) / by_ensemble);
      ccd_to_random.all.push_back(best(ccd) / by_random);
    }
  }
  record("ensemble_to_random", ensemble_to_random);
  record("annealing_to_random", annealing_to_random);
  record("ccd_to_ensemble", ccd_to_ensemble);
  record("ccd_to_random", ccd_to_random);
  EXPECT_LT(ensemble_to_random.median(), 0.99);
  EXPECT_LT(ccd_to_ensemble.median(), 0.99);
  EXPECT_GE(ccd_to_ensemble.within(1.01), 0.95);
}

}  // namespace
}  // namespace refrain::map_search::test::quality_test
