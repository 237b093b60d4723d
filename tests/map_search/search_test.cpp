// What a search does with a program that misbehaves, with its budget, and at its end.

#include "map_search/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "map_search/diverse.hpp"
#include "map_search/synthetic.hpp"

namespace refrain::map_search::test::search_test {
namespace {

constexpr std::array algorithms{Algorithm::ccd,    Algorithm::cd,        Algorithm::ensemble,
                                Algorithm::random, Algorithm::annealing, Algorithm::exhaustive};

Program small_program() {
  Random random(3);
  return random_program(random, 512);
}

Options options_of(Algorithm algorithm) {
  Options options;
  options.algorithm = algorithm;
  options.limits.runs = 3;
  options.final_runs = 4;
  return options;
}

/// A program that fails in all ways that there are, depending on its mapping.
Run misbehaving(const Program& program, const Mapping& mapping) {
  const std::uint64_t hash = refrain::test::mix(7, MappingHash()(mapping));
  if (hash % 2 == 0) return program.run(mapping);
  const auto outcome = static_cast<Outcome>(1 + hash / 2 % 6);
  return {outcome, 0, 0, 1, "it " + std::string(name(outcome))};
}

TEST(Diverse, AreTheBestAndThoseAsGoodThatDifferMost) {
  const Program program = small_program();
  Calls calls([&](const Mapping& mapping) { return program.run(mapping); });
  Options options = options_of(Algorithm::exhaustive);
  options.final_runs = 0;
  options.finalists = 1000;
  const std::vector<Candidate> all = search(program.space, calls, nullptr, options).finalists;
  const auto value = [](const Candidate& candidate) {
    return candidate.measured.value(Objective::time);
  };
  constexpr double error = 0.3;
  const std::vector<Candidate> some = diverse(program.space, all, 5, Objective::time, error);
  ASSERT_EQ(some.size(), 5u);
  EXPECT_EQ(some[0].mapping, all[0].mapping);
  for (std::size_t i = 1; i < some.size(); ++i) {
    const auto nearest = [&](const Mapping& mapping) {
      double least = 2;
      for (std::size_t k = 0; k < i; ++k)
        least = std::min(least, distance(program.space, mapping, some[k].mapping));
      return least;
    };
    EXPECT_LE(value(some[i]), value(all[0]) * (1 + error));
    for (const Candidate& other : all)
      if (value(other) <= value(all[0]) * (1 + error)) {
        EXPECT_GE(nearest(some[i].mapping), nearest(other.mapping));
      }
  }
  // Where few are as good, the next ones follow.
  const std::vector<Candidate> next = diverse(program.space, all, 5, Objective::time, 0);
  ASSERT_EQ(next.size(), 5u);
  EXPECT_EQ(diverse(program.space, all, 2000, Objective::time, error).size(), all.size());
  EXPECT_TRUE(diverse(program.space, {}, 5, Objective::time, error).empty());
}

// What somebody else proposes is measured, and the starting point with it.
TEST(Search, MeasuresWhatIsGiven) {
  const Program program = small_program();
  Calls calls([&](const Mapping& mapping) { return program.run(mapping); });
  Options options = options_of(Algorithm::given);
  Mapping other = first_mapping(program.space);
  while (!executable(program.space, other) || other == starting_point(program.space))
    ASSERT_TRUE(advance(program.space, other));
  options.given = {other};
  const Result result = search(program.space, calls, nullptr, options);
  EXPECT_EQ(result.counts.evaluated, 2u);
  EXPECT_EQ(result.finalists.size(), 2u);
}

TEST(Search, GoesOnWhateverTheProgramDoes) {
  const Program program = small_program();
  for (const Algorithm algorithm : algorithms) {
    std::unordered_map<Mapping, int, MappingHash> runs;
    Calls calls([&](const Mapping& mapping) {
      EXPECT_TRUE(executable(program.space, mapping));
      ++runs[mapping];
      return misbehaving(program, mapping);
    });
    const Result result = search(program.space, calls, nullptr, options_of(algorithm));
    EXPECT_EQ(result.end, End::done);
    EXPECT_GT(result.counts.failed, 0u);
    EXPECT_EQ(result.failures.size(), result.counts.failed);
    EXPECT_EQ(result.counts.evaluated, runs.size());
    EXPECT_EQ(result.counts.proposed,
              result.counts.repeated + result.counts.invalid + result.counts.evaluated);
    std::set<Outcome> outcomes;
    for (const Candidate& failure : result.failures) {
      EXPECT_EQ(failure.measured.text, "it " + std::string(name(failure.measured.outcome)));
      EXPECT_EQ(runs.at(failure.mapping), 1) << "a mapping that fails is not run again";
      outcomes.insert(failure.measured.outcome);
    }
    EXPECT_TRUE(algorithm != Algorithm::exhaustive || outcomes.size() == 6);
    ASSERT_EQ(result.finalists.size(), 5u);
    for (const Candidate& finalist : result.finalists) EXPECT_EQ(runs.at(finalist.mapping), 3 + 4);
    EXPECT_EQ(calls.made, static_cast<int>(result.counts.runs));
  }
}

TEST(Search, SaysSoWhenNothingWorks) {
  const Program program = small_program();
  for (const Algorithm algorithm : algorithms) {
    Calls calls([](const Mapping&) {
      return map_search::Run{Outcome::crashed, 0, 0, 1, "signal 11"};
    });
    const Result result = search(program.space, calls, nullptr, options_of(algorithm));
    EXPECT_TRUE(result.finalists.empty());
    EXPECT_EQ(result.counts.failed, result.counts.evaluated);
  }
}

TEST(Search, TakesATimeThatIsNoNumberForNone) {
  const Program program = small_program();
  Calls calls([](const Mapping&) {
    return map_search::Run{Outcome::ok, std::numeric_limits<double>::quiet_NaN(), 0, 1, {}};
  });
  const Result result = search(program.space, calls, nullptr, options_of(Algorithm::cd));
  ASSERT_FALSE(result.failures.empty());
  EXPECT_EQ(result.failures[0].measured.outcome, Outcome::no_output);
}

TEST(Search, EndsWithItsBudget) {
  Random random(5);
  const Program program = random_program(random, 1e9);
  for (const Algorithm algorithm : algorithms) {
    Calls calls(program);
    Options options = options_of(algorithm);
    options.limits.budget = 31;
    const Result result = search(program.space, calls, nullptr, options);
    EXPECT_EQ(result.end, End::budget);
    EXPECT_EQ(result.spent, 33) << "a mapping that was begun is finished";
    EXPECT_EQ(result.counts.evaluated, 11u);
  }
}

TEST(Search, EndsWhenItIsTold) {
  const Program program = small_program();
  for (const Algorithm algorithm : algorithms) {
    Calls calls(program);
    Options options = options_of(algorithm);
    options.limits.stop = [&] { return calls.made >= 30; };
    const Result result = search(program.space, calls, nullptr, options);
    EXPECT_EQ(result.end, End::stopped);
    EXPECT_EQ(calls.made, 30);
    EXPECT_FALSE(result.finalists.empty());
  }
}

TEST(Search, DependsOnItsSeedAlone) {
  Random random(5);
  const Program program = random_program(random, 1e9);
  for (const Algorithm algorithm : algorithms) {
    const auto tried = [&](std::uint64_t seed) {
      std::vector<Mapping> all;
      Calls calls([&](const Mapping& mapping) {
        all.push_back(mapping);
        return program.run(mapping);
      });
      Options options = options_of(algorithm);
      options.seed = seed;
      options.limits.budget = 100;
      (void)search(program.space, calls, nullptr, options);
      return all;
    };
    EXPECT_EQ(tried(1), tried(1));
    const bool drawn = algorithm == Algorithm::ensemble || algorithm == Algorithm::random ||
                       algorithm == Algorithm::annealing;
    EXPECT_EQ(tried(1) != tried(2), drawn);
  }
}

TEST(Search, DecidesByTheFinalRuns) {
  // In the search the second mapping is lucky.
  Space space;
  space.program = "luck";
  space.memories = {{"sys", 0}};
  space.processors = {{"cpu", {0}, 0, false}};
  space.tasks = {{"task", {0}, 1, true}};
  std::unordered_map<Mapping, int, MappingHash> runs;
  Calls calls([&](const Mapping& mapping) {
    const bool blocked = mapping.distribution[0] == 0;
    return map_search::Run{Outcome::ok, blocked ? 2.0 : ++runs[mapping] <= 3 ? 1.0 : 3.0, 0, 1, {}};
  });
  const Result result = search(space, calls, nullptr, options_of(Algorithm::exhaustive));
  ASSERT_EQ(result.finalists.size(), 2u);
  EXPECT_EQ(text(space, result.finalists[0].mapping), "blocked cpu");
  EXPECT_EQ(result.finalists[1].measured.seconds.mean, 3);
  ASSERT_TRUE(result.start.has_value());
  EXPECT_EQ(result.start.value_or(Candidate()).measured.seconds.mean, 2);
}

TEST(Search, MayMinimiseBytes) {
  const Program program = small_program();
  Calls calls(program);
  Options options = options_of(Algorithm::exhaustive);
  options.limits.objective = Objective::bytes;
  EXPECT_EQ(search(program.space, calls, nullptr, options).finalists.at(0).measured.bytes.mean, 0);
}

TEST(Search, TriesOtherDistributionsWhenItIsAskedTo) {
  Program program = small_program();
  program.space.distributions = {"blocked", "leader", "cyclic"};
  const auto different = [&](Distributions distributions) {
    std::set<Kind> all;
    Calls calls([&](const Mapping& mapping) {
      all.insert(mapping.distribution.begin(), mapping.distribution.end());
      return program.run(mapping);
    });
    Options options = options_of(Algorithm::ccd);
    options.distributions = distributions;
    (void)search(program.space, calls, nullptr, options);
    return all.size();
  };
  EXPECT_EQ(different(Distributions::leader_blocked), 2u);
  EXPECT_EQ(different(Distributions::all), 3u);
}

TEST(Search, SaysHowFarItIsBeforeEachRun) {
  const Program program = small_program();
  Calls calls(program);
  Options options = options_of(Algorithm::ccd);
  std::size_t told = 0, final_runs = 0;
  double spent = 0, best = std::numeric_limits<double>::infinity();
  options.limits.progress = [&](const Progress& progress) {
    ++told;
    EXPECT_EQ(progress.best == nullptr, told <= 3);
    EXPECT_EQ(progress.counts.runs, told - 1);
    EXPECT_GE(progress.spent, spent);
    spent = progress.spent;
    final_runs += progress.phase == Phase::final;
    if (progress.best == nullptr) return;
    EXPECT_LE(progress.best->measured.seconds.mean, best);
    best = progress.best->measured.seconds.mean;
  };
  const Result result = search(program.space, calls, nullptr, options);
  EXPECT_EQ(told, result.counts.runs);
  EXPECT_EQ(final_runs, 4 * result.finalists.size());
}

}  // namespace
}  // namespace refrain::map_search::test::search_test
