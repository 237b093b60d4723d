// The sizes of teams, without teams: durations come from tables.

#include "gomp/team_sizes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <ostream>
#include <vector>

#include "gomp/learner.hpp"
#include "support/random.hpp"
#include "support/test_budget.hpp"

namespace refrain::gomp {
namespace {

using test::Random;
using test::TestBudget;

Thresholds thresholds_of(const char* text) {
  const std::optional<Thresholds> thresholds = Thresholds::parse(text);
  EXPECT_TRUE(thresholds) << text;
  return thresholds.value_or(Thresholds());
}

TEST(Thresholds, ChooseAsThePaper) {
  const Thresholds thresholds = thresholds_of("1:10,4:50,8:200.5");
  const std::map<double, unsigned> chosen{{1, 1},     {9999, 1},   {10000, 4},   {49999, 4},
                                          {50000, 8}, {200499, 8}, {200500, 24}, {1e9, 24}};
  for (const auto& [ns, threads] : chosen) EXPECT_EQ(thresholds.choose(ns, 24), threads) << ns;
  EXPECT_EQ(thresholds.choose(100e3, 6), 6u) << "never more than the limit";
  EXPECT_EQ(thresholds.choose(0, 24), 24u) << "nothing is expected";
}

TEST(Thresholds, AreAscending) {
  for (const char* text : {"", "1", "1:", ":10", "1:10,", "1:10;2:20", "2:10,1:20", "1:20,2:10",
                           "1:10,2:10", "1:ten", "0:10", "1:nan", "-1:10", "1:10 "}) {
    EXPECT_FALSE(Thresholds::parse(text)) << text;
  }
}

TEST(Durations, OneOutlierIsNoneAndManyAre) {
  Durations durations;
  EXPECT_EQ(durations.typical(), 0);
  for (int i = 0; i < 10; ++i) durations.add(100);
  durations.add(1e9);
  EXPECT_EQ(durations.typical(), 100);
  for (int i = 0; i < 30; ++i) durations.add(i % 5 == 0 ? 1100 : 100);
  EXPECT_NEAR(durations.typical(), 100 + 2000.0 / 14, 1);
  for (int i = 0; i < 20; ++i) durations.add(7);
  EXPECT_EQ(durations.typical(), 7) << "what is long past does not count";
}

/// What a region takes with so many threads, and how that varies.
struct Region {
  explicit Region(Random& random) {
    serial = std::pow(10.0, random.between(30, 70) / 10.0);  // 1 us to 10 ms
    overhead = random.between(1, 40) * 500;
    efficiency = random.between(0, 100) / 100.0;
  }
  double with(unsigned threads) const {
    const double speedup = 1 + (threads - 1) * efficiency;
    return serial / speedup + (threads - 1) * overhead;
  }
  double drawn(unsigned threads, Random& random) const {
    const double noise = random.between(95, 110) / 100.0;
    return with(threads) * noise * (random.below(300) == 0 ? 10 : 1);
  }
  unsigned best(unsigned limit) const {
    unsigned best = limit;
    for (unsigned threads = 1; threads < limit; threads *= 2) {
      if (with(threads) < with(best)) best = threads;
    }
    return best;
  }

  double serial, overhead, efficiency;
};

// The judge: all sizes' true durations.
TEST(Occasion, FindsTheBestSizeAtLittleCost) {
  for (TestBudget budget{300, 20}; budget.more(); budget.next()) {
    SCOPED_TRACE(budget.seed());
    Random random(budget.seed());
    const Region region(random);
    const auto limit = static_cast<unsigned>(random.between(2, 24));
    const double best = region.with(region.best(limit));
    Occasion occasion(region.with(limit));
    Trials trials;
    const Thresholds first;
    double in_all = 0;
    std::map<unsigned, int> late;  // sizes of the last calls; few of them are trials
    constexpr int calls = 20000, last = 5000;
    for (int call = 0; call < calls; ++call) {
      const unsigned threads = occasion.choose(limit, first, trials);
      ASSERT_TRUE(threads >= 1 && threads <= limit) << threads;
      const double took = region.drawn(threads, random);
      trials.allowance.earn(took);
      occasion.ran(threads, took, trials);
      in_all += took;
      if (call >= calls - last) ++late[threads];
    }
    const auto usual = std::max_element(late.begin(), late.end(),
                                        [](auto& a, auto& b) { return a.second < b.second; });
    EXPECT_LT(region.with(usual->first), 1.1 * best)
        << "of " << region.serial << " ns, limit " << limit;
    // More than what was earned is spent by one trial at most, an outlier.
    EXPECT_LT(trials.allowance.spent(), Allowance::share * in_all + Allowance::advance_ns +
                                            11 * std::max(region.with(1), region.with(limit)));
  }
}

TEST(Occasion, LongRegionsAreTriedWhenThatIsAffordable) {
  Occasion occasion(10e6);
  Trials trials;
  const Thresholds first;
  for (int call = 0; call < 40; ++call) {
    EXPECT_EQ(occasion.choose(2, first, trials), 2u) << call;
    occasion.ran(2, 10e6, trials);
  }
  trials.allowance.earn(10e6 / Allowance::share);
  EXPECT_EQ(occasion.choose(2, first, trials), 1u);
  occasion.ran(1, 25e6, trials);
  EXPECT_EQ(occasion.choose(2, first, trials), 2u) << "it was far worse than usual";
}

TEST(Occasion, BeginsAsThePaperWould) {
  const Thresholds first = thresholds_of("1:10,2:50");
  Trials trials;
  EXPECT_EQ(Occasion(5e3).choose(8, first, trials), 1u);
  EXPECT_EQ(Occasion(20e3).choose(8, first, trials), 2u);
  Occasion longer(90e3);
  longer.choose(8, first, trials);  // perhaps a trial
  EXPECT_EQ(longer.best(), 8u);
  EXPECT_EQ(Occasion(0).choose(8, first, trials), 8u);
}

TEST(Occasion, FollowsTheLimit) {
  Occasion occasion(0);
  Trials trials;
  trials.allowance.earn(1e15);
  const Thresholds first;
  for (int call = 0; call < 200; ++call) {
    const unsigned limit = call % 7 == 0 ? 3 : 8;
    const unsigned threads = occasion.choose(limit, first, trials);
    ASSERT_LE(threads, limit);
    occasion.ran(threads, 1e6 / threads, trials);
  }
  EXPECT_EQ(occasion.choose(8, first, trials), 8u);
  EXPECT_EQ(occasion.choose(3, first, trials), 3u);
}

TEST(Occasion, FollowsTheMachine) {
  Occasion occasion(1e6);
  Trials trials;
  const Thresholds first;
  const auto call = [&](double with_two) {
    const unsigned threads = occasion.choose(2, first, trials);
    const double took = threads == 2 ? with_two : 2e6;
    trials.allowance.earn(took);
    occasion.ran(threads, took, trials);
    return threads;
  };
  unsigned last = 0;
  for (int i = 0; i < 1000; ++i) last = call(1e6);
  EXPECT_EQ(last, 2u);
  // Somebody else takes the second processor: each fourth call waits for it.
  for (int i = 0; i < 500; ++i) last = call(i % 4 == 0 ? 9e6 : 1e6);
  EXPECT_EQ(last, 1u);
  int with_two = 0;
  for (int i = 0; i < 20000; ++i) with_two += call(1e6) == 2;
  EXPECT_GT(with_two, 10000) << "and goes away again";
}

TEST(Occasion, WhatIsFasterIsTriedWhateverTrialsHaveCost) {
  Occasion occasion(50e3);
  Trials trials;
  const Thresholds first = thresholds_of("2:1");
  for (int tried = 0; tried < 2; ++tried) {
    ASSERT_EQ(occasion.choose(2, first, trials), 1u);
    occasion.ran(1, 10e3, trials);
  }
  trials.allowance.spend(1e9);
  EXPECT_EQ(occasion.choose(2, first, trials), 1u);
  occasion.ran(1, 10e3, trials);
  EXPECT_EQ(occasion.best(), 1u);
}

TEST(Occasion, WhatWasInterruptedIsChargedAsFarAsItsSizeMayBeTheCause) {
  Occasion occasion(50e3);
  Trials trials;
  const Thresholds first = thresholds_of("2:1");
  ASSERT_EQ(occasion.choose(2, first, trials), 1u);
  occasion.ran(1, 4e6, trials);
  EXPECT_LE(trials.allowance.spent(), 4 * 50e3);
  EXPECT_EQ(occasion.note(), "") << "and is no measure";
}

// As with teams that sleep while they wait: a trial of all threads costs many times what one thread takes.
TEST(Occasion, TrialsOfMoreThreadsCostNoMoreThanAllowed) {
  Trials trials;
  const Thresholds first;
  std::vector<Occasion> occasions(32, Occasion(60e3));
  double in_all = 0, lost = 0;
  for (int call = 0; call < 40000; ++call) {
    Occasion& occasion = occasions[static_cast<std::size_t>(call) % occasions.size()];
    const unsigned threads = occasion.choose({2, true}, first, trials);
    const double took = threads == 1 ? 3e3 : 60e3;
    trials.allowance.earn(took);
    occasion.ran(threads, took, trials);
    in_all += took;
    // What was before one thread is known is no trial.
    if (threads == 2 && occasion.best() == 1) lost += took - 3e3;
  }
  EXPECT_LE(lost, Allowance::share * in_all + Allowance::advance_ns + 60e3);
}

// It may take a second with one thread, or a microsecond.
TEST(Occasion, WhatIsUnknownIsNotTriedWithItsNeighbours) {
  Trials trials;
  const Thresholds first;
  Occasion unforeseen(0), brief(3e3);
  EXPECT_EQ(unforeseen.choose(2, first, trials, 1), 2u);
  EXPECT_EQ(brief.choose(2, first, trials, 2), 1u);
}

TEST(Choices, MayBeOneOrAll) {
  Occasion occasion(30e3);
  Trials trials;
  const Thresholds first;
  for (int call = 0; call < 200; ++call) {
    const unsigned threads = occasion.choose({8, true}, first, trials);
    ASSERT_TRUE(threads == 1 || threads == 8) << threads;
    trials.allowance.earn(40e3);
    occasion.ran(threads, threads == 1 ? 40e3 : 30e3, trials);
  }
  EXPECT_EQ(occasion.best(), 8u);
}

TEST(Trial, CountsWhereNoOtherSizeCameBefore) {
  Trial trial;
  EXPECT_TRUE(trial.is_first());
  EXPECT_TRUE(trial.counts(2, 5e3, false));
  EXPECT_TRUE(trial.counts(1, 5e3, false)) << "these two are so in each step";
  EXPECT_FALSE(trial.counts(2, 5e3, true)) << "it begins";
  EXPECT_TRUE(trial.counts(2, 5e3, true));
  EXPECT_FALSE(trial.counts(1, 5e3, false)) << "it has ended";
  EXPECT_TRUE(trial.counts(1, 5e3, false));
  EXPECT_TRUE(trial.counts(2, 1e6, true)) << "it is long";
  trial.left_out();
  EXPECT_FALSE(trial.counts(2, 5e3, true)) << "the one before it may have had another";
  trial.left_out();
  EXPECT_TRUE(trial.counts(1, 5e3, false));
  trial.begin(1);
  unsigned stretch = 0;
  while (trial.next() == 1) ++stretch;
  EXPECT_EQ(stretch, Trial::length);
}

TEST(TeamCosts, OneInterruptionSaysNothing) {
  TeamCosts costs;
  for (int i = 0; i < 50; ++i) costs.ended(2, i == 20 ? 3e6 : 5e3, 5e3);
  EXPECT_EQ(costs.interruptions(2), 0);
  for (int i = 0; i < 1000; ++i) costs.ended(2, i % 40 == 0 ? 4e6 : 5e3, 5e3);
  EXPECT_NEAR(costs.interruptions(2), 100e3, 30e3);
  EXPECT_NEAR(costs.interruptions(1), 50e3, 15e3) << "a guess";
  for (int i = 0; i < 100; ++i) costs.ended(1, 5e3, 5e3);
  EXPECT_EQ(costs.interruptions(1), 0);
}

TEST(TeamCosts, OverheadIsWhatOneThreadDoesNotHave) {
  TeamCosts costs;
  EXPECT_EQ(costs.overhead(1), 0);
  EXPECT_GT(costs.overhead(16), costs.overhead(2)) << "a guess";
  costs.saw(16, 30e3, 160e3);
  EXPECT_NEAR(costs.overhead(16), 20e3, 1);
  costs.saw(2, 350e3, 400e3);
  EXPECT_LE(costs.overhead(2), 2 * TeamCosts::most_ns) << "that is memory, perhaps";
  TeamCosts of_short;
  of_short.expect(2, 60e3);
  of_short.expect(2, 8e3);
  of_short.expect(2, 30e3);
  EXPECT_EQ(of_short.overhead(2), 8e3) << "no region is shorter than what its team costs";
  of_short.saw(2, 60e3, 110e3);
  EXPECT_EQ(of_short.overhead(2), 5e3) << "it has been seen";
  of_short.saw(2, 10e6, 19e6);
  EXPECT_EQ(of_short.overhead(2), 5e3) << "the region is long";
}

/// A machine, made up.
class Machine {
 public:
  Machine(unsigned processors, bool sleeps, double interrupted, std::uint64_t seed,
          double wake_ns = 14e3, double fetch_ns = 0)
      : processors_(processors),
        sleeps_(sleeps),
        interrupted_(interrupted),
        wake_ns_(wake_ns),
        fetch_ns_(fetch_ns),
        random_(seed) {}

  double now() const { return now_; }
  void pass(double ns) { now_ += ns; }
  /// A region with so much work, in ns of one thread, of which several threads do no more at a time (`divides`: or as
  /// many times more as they have processors).
  double run(double work, unsigned threads, bool divides = true) {
    double took = work * random_.between(97, 103) / 100;
    if (threads > 1) {
      const bool wakes = sleeps_ || now_ - last_team_ > 1e6;
      const unsigned at_once = std::min(threads, processors_);
      took = took / (divides ? at_once : 1) +
             (wakes ? wake_ns_ : 1e3) * std::log2(at_once) * threads / at_once;
      if (random_.between(1, 1000) <= 1000 * interrupted_) took += 1e6 * random_.between(1, 4);
    }
    if (threads > before_) took += fetch_ns_;
    before_ = threads;
    now_ += took;
    if (threads > 1) last_team_ = now_;
    return took;
  }

 private:
  const unsigned processors_;
  const bool sleeps_;         ///< threads that wait
  const double interrupted_;  ///< so many teams
  const double wake_ns_;
  const double fetch_ns_;  ///< what fewer threads had in their caches
  Random random_;
  unsigned before_ = 0;
  double now_ = 1e6;
  double last_team_ = 0;
};

struct TimeSteps {
  double work;         ///< of a region
  unsigned threads;    ///< of a whole team
  bool sleeps;         ///< threads that wait
  double interrupted;  ///< so many teams
  double most;         ///< times the better fixed number
  unsigned processors = threads;
  double long_work = 0;  ///< of every sixth region, for one thread as for a team; 0: as the others
  double wake_ns = 14e3;
  double spread = 1;  ///< the longest region has so many times the work
  double fetch_ns =
      0;  ///< a team takes so much longer behind fewer threads; every second region has 14
          ///< times the work

  [[nodiscard]] bool is_long(int region) const { return long_work > 0 && region % 6 == 0; }
  double run(Machine& machine, int region, unsigned of_team) const {
    if (is_long(region)) return machine.run(long_work, of_team, false);
    if (fetch_ns > 0) return machine.run(region % 2 == 0 ? work : 14 * work, of_team);
    return machine.run(work * std::pow(spread, region / 31.0), of_team);
  }
};

std::ostream& operator<<(std::ostream& out, const TimeSteps& program) {
  return out << program.work << " ns, " << program.threads << " threads that "
             << (program.sleeps ? "sleep" : "spin") << ", interrupted " << program.interrupted
             << ", on " << program.processors << " processors, long ones " << program.long_work
             << " ns, waking " << program.wake_ns << " ns, spread " << program.spread
             << ", fetching " << program.fetch_ns << " ns";
}

/// Of what the better fixed number takes for so many steps of 32 regions.
struct Ratios {
  double learning;
  double learned;  ///< the run beside the one that learned
};

/// Of the reference's durations every fifth is too long, as where something else ran on the machine; otherwise it was calm
/// then. The one behind it has the durations of the sizes that were chosen, some of which are far from those.
Ratios learning(const TimeSteps& program, int steps, std::uint64_t seed) {
  constexpr int regions = 32;
  Machine machine(program.processors, program.sleeps, program.interrupted, seed, program.wake_ns,
                  program.fetch_ns);
  const auto fixed = [&](unsigned threads) {
    const double begin = machine.now();
    for (int i = 0; i < regions * steps; ++i) program.run(machine, i % regions, threads);
    return machine.now() - begin;
  };
  const double alone = fixed(1), whole = fixed(program.threads);
  const Thresholds first;
  Random random(seed);
  std::vector<double> expected(regions), took(regions);
  Machine calm(program.processors, program.sleeps, 0, seed, program.wake_ns);
  for (int i = 0; i < regions; ++i) {
    double& ns = expected[static_cast<std::size_t>(i)];
    ns = program.run(calm, i, program.threads);
    if (random.below(5) == 0) ns += 1e3 * random.between(30, 130);
  }
  const auto run = [&](std::vector<Learner::Region>& known, Learner& learner) {
    const double begin = machine.now();
    for (int i = 0; i < regions * steps; ++i) {
      const auto number = static_cast<std::size_t>(i % regions);
      const auto now = [&] { return static_cast<std::uint64_t>(machine.now()); };
      Learner::Call call{program.threads};
      if (!learner.takes_whole(now))
        call = learner.choose(
            known[number], {program.threads, true}, [&] { return expected[number]; }, now);
      took[number] = program.run(machine, i % regions, call.threads);
      if (call.occasion != nullptr)
        learner.ended(known[number], call, static_cast<std::uint64_t>(machine.now()));
    }
    return (machine.now() - begin) / std::min(alone, whole);
  };
  std::vector<Learner::Region> known(regions), later(regions);
  Learner learner(first, program.processors), beside(first, program.processors);
  const double first_run = run(known, learner);
  beside.contest().recall(learner.contest().note());
  for (std::size_t i = 0; i < regions; ++i) {
    later[i].occasions.recall(known[i].occasions.note());
    expected[i] = i % 7 == 0 ? took[i] / 4 : took[i];
  }
  return {first_run, run(later, beside)};
}

TEST(Learner, TakesHardlyLongerThanTheBetterFixedNumber) {
  for (const TimeSteps& program : {
           TimeSteps{3e3, 2, true, 0, 1.02},
           {11e3, 2, true, 0, 1.02},
           {11e3, 2, false, 0, 1.02},
           {55e3, 2, true, 0, 1.02},
           {55e3, 2, false, 0, 1.02},
           {11e3, 16, true, 0, 1.03},
           {3e3, 2, true, 0.02, 1.1},
           {3e3, 2, false, 0.02, 2},
           {11e3, 64, true, 0, 1.02, 2},
           {11e3, 16, true, 0, 1.02, 2},
           {500, 2, true, 0, 1.03, 2, 80e3},
           {11e3, 2, false, 1, 5},
           {500, 2, true, 0, 1.02, 2, 0, 50e3, 200},
           {2e3, 2, false, 0, 1.02, 2, 0, 50e3, 100},
           {110e3, 2, true, 0, 1.02, 2, 0, 50e3},
           {1.5e3, 2, false, 0, 1.02, 2, 0, 14e3, 1, 1000},
           {1.5e3, 2, false, 0, 1.02, 2, 0, 14e3, 1, 100},
       }) {
    // With many steps there are several contests.
    for (const int steps : program.fetch_ns > 0 ? std::vector{300, 3000} : std::vector{300}) {
      std::vector<double> first, later;
      for (std::uint64_t seed = 1; seed <= 9; ++seed) {
        const Ratios ratios = learning(program, steps, seed);
        first.push_back(ratios.learning);
        later.push_back(ratios.learned);
      }
      std::ranges::sort(first);
      std::ranges::sort(later);
      EXPECT_LE(first[4], program.most) << "learning, " << steps << " steps, " << program;
      EXPECT_LE(later[4], program.most) << "learned, " << steps << " steps, " << program;
    }
  }
}

/// A contest of regions that take so long, made up.
struct Played {
  Contest contest;
  std::uint64_t now = 1000;
  unsigned teams_so_far = 0;
  double expected_ns = 0;  ///< by region, of whole teams; 0: what they take

  /// Returns how many had whole teams, of all; `interrupted`: one of so many takes 3 ms longer.
  double whole(unsigned looks, double by_region_ns, double whole_ns, unsigned interrupted = 0) {
    unsigned teams = 0;
    for (unsigned i = 0; i < looks * Contest::look; ++i) {
      const bool whole = contest.next([&] { return now; }) == Contest::Way::whole;
      teams += whole ? 1 : 0;
      now += static_cast<std::uint64_t>(whole ? whole_ns : by_region_ns);
      if (whole && interrupted > 0 && ++teams_so_far % interrupted == 0) now += 3'000'000;
      if (!whole) contest.expect(by_region_ns, expected_ns > 0 ? expected_ns : whole_ns);
    }
    return static_cast<double>(teams) / (looks * Contest::look);
  }
};

TEST(Contest, FindsWhatNoRegionShows) {
  Played played;
  played.expected_ns = 4200;
  played.whole(200, 4000, 3700);
  EXPECT_EQ(played.contest.winner(), Contest::Way::whole);
  EXPECT_EQ(played.whole(200, 4000, 3700), 1);
  EXPECT_EQ(played.contest.note(), "whole 3700");
  Played later;
  later.contest.recall(played.contest.note());
  EXPECT_EQ(later.whole(200, 4000, 3700), 1);
  EXPECT_EQ(Contest().note(), "by region");
  for (const char* const other : {"", "whole", "whole 0", "whole x", "whole 3700 ", "by region"}) {
    Contest contest;
    contest.recall(other);
    EXPECT_EQ(contest.winner(), Contest::Way::by_region) << other;
  }
}

TEST(Contest, WholeTeamsThatLoseCostLittle) {
  Played played;
  EXPECT_LT(played.whole(20'000, 4000, 4800), 0.03);
  EXPECT_EQ(played.contest.winner(), Contest::Way::by_region);
  Played hopeless;
  EXPECT_EQ(hopeless.whole(20'000, 4000, 6000), 0);
}

TEST(Contest, WhoHasWonIsWatched) {
  Played played;
  played.contest.recall("whole 3700");
  EXPECT_EQ(played.whole(100, 4000, 3700, 50 * Contest::look), 1) << "now and then";
  EXPECT_LT(played.whole(100, 4000, 3700, 100), 0.1) << "others use the machine";
  EXPECT_EQ(played.contest.winner(), Contest::Way::by_region);
  Played changed;
  changed.contest.recall("whole 3700");
  EXPECT_LT(changed.whole(200, 4000, 8000), 0.4) << "on another machine";
  EXPECT_EQ(changed.contest.winner(), Contest::Way::by_region);
}

TEST(Contest, RegionsMayBecomeLonger) {
  Played played;
  played.expected_ns = 1000;
  played.whole(20, 1000, 1000);
  played.expected_ns = 110e3;
  played.whole(200, 100e3, 90e3);
  EXPECT_EQ(played.whole(100, 100e3, 90e3), 1);
}

TEST(Measuring, FewAreWhereNothingIsNew) {
  Measuring measuring;
  std::uint64_t now = 1000;
  const auto measured = [&](int regions, std::uint64_t each_ns, bool news) {
    int count = 0;
    for (int i = 0; i < regions; ++i, now += each_ns) {
      if (!measuring.next()) continue;
      ++count;
      measuring.began(now);
      if (news) measuring.is_new();
    }
    return count;
  };
  EXPECT_EQ(measured(1000, 5000, true), 1000);
  measured(20000, 5000, false);
  EXPECT_LT(measured(100000, 5000, false), 12000);
}

// Otherwise the regions of a trial would come after others that have another size.
TEST(Learner, LeavesNoneOutWhileATrialRuns) {
  const Thresholds first;
  Learner learner(first, 2);
  Learner::Region region;
  std::uint64_t now = 1000;
  unsigned tried = 0, trials = 0;
  for (int i = 0; i < 100000; ++i) {
    const auto call = learner.choose(
        region, {2, true}, [] { return 60e3; }, [&] { return now; });
    const unsigned best = region.occasions.at(60e3).best();
    if (call.occasion != nullptr && call.threads != best) {
      ++tried;
    } else if (tried > 0) {
      EXPECT_NE(call.occasion, nullptr) << i;
      ++trials;
      tried = 0;
    }
    now += call.threads == 1 ? 100'000 : 60'000;
    if (call.occasion != nullptr) learner.ended(region, call, now);
  }
  EXPECT_GE(trials, 5U);
}

TEST(Notes, AreKnownInTheNextRun) {
  for (TestBudget budget{200, 20}; budget.more(); budget.next()) {
    SCOPED_TRACE(budget.seed());
    Random random(budget.seed());
    const Region region(random);
    constexpr unsigned limit = 8;
    Trials trials;
    const Thresholds first;
    Occasion before(region.with(limit));
    for (int call = 0; call < 1000; ++call) {
      const unsigned threads = before.choose(limit, first, trials);
      const double took = region.with(threads);
      trials.allowance.earn(took);
      before.ran(threads, took, trials);
    }
    Occasions occasions;
    occasions.recall(before.note() + "\n");
    // It took so long in the run that the note is of, so that is what is expected now.
    Occasion& after = occasions.at(region.with(region.best(limit)) * 1.1);
    for (int call = 0; call < 3; ++call) {
      const unsigned threads = after.choose(limit, first, trials);
      EXPECT_LT(region.with(threads), 1.05 * region.with(region.best(limit)));
      after.ran(threads, region.with(threads), trials);
    }
  }
}

TEST(Notes, WhatTookSoLongWithFewThreadsIsNotTakenForAWholeTeams) {
  Occasions occasions;
  occasions.recall("30000 1:30000*3\n");
  Occasion& occasion = occasions.at(30000);
  Trials trials;
  EXPECT_EQ(occasion.choose({8, true}, Thresholds(), trials), 1u);
  EXPECT_EQ(occasion.best(), 1u);
}

TEST(Notes, OfAnotherFormSayNothing) {
  for (const char* note : {"", "x", "1000", "1000 2", "1000 2:", "1000 2:5", "1000 2:5*",
                           "1000 2:5*9", "1000 0:5*1", "1000 -2:5*1", "-1 2:5*1", "nan 2:5*1",
                           "1000 2:nan*1", "1000 2:5*1 ", "\n\n", "1000  2:5*1"}) {
    Occasions occasions;
    occasions.recall(note);
    Trials trials;
    EXPECT_EQ(occasions.at(1e9).choose(4, Thresholds(), trials), 4u) << note;
  }
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string note = "1000 1:5*3 2:10*3\n0 1:7*2";
    for (int edits = random.between(1, 4); edits > 0; --edits) {
      note[static_cast<std::size_t>(random.below(static_cast<int>(note.size())))] =
          static_cast<char>(random.between(0, 127));
    }
    Occasions occasions;
    occasions.recall(note);
    Trials trials;
    const unsigned threads = occasions.at(1000).choose(4, Thresholds(), trials);
    ASSERT_TRUE(threads >= 1 && threads <= 4) << note;
  }
}

TEST(Occasions, AreApartByWhatIsExpected) {
  Occasions occasions;
  Occasion& tiny = occasions.at(1e3);
  Occasion& large = occasions.at(1e6);
  Occasion& unknown = occasions.at(0);
  EXPECT_NE(&tiny, &large);
  EXPECT_NE(&tiny, &unknown);
  EXPECT_EQ(&occasions.at(1.5e3), &tiny);
  EXPECT_EQ(&occasions.at(0.6e6), &large);
  EXPECT_EQ(&occasions.at(0), &unknown);
  for (double expected = 1; expected < 1e12; expected *= 3) occasions.at(expected);
  EXPECT_EQ(&occasions.at(1e3), &tiny) << "they stay where they are";
}

}  // namespace
}  // namespace refrain::gomp
