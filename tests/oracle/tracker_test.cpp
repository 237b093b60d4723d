// Following and predicting: the paper's figures, string matching in the unfolded run as the judge, and what happens
// after events that were not expected.

#include "oracle/tracker.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "oracle/reduction.hpp"
#include "oracle/support/naive_tracker.hpp"
#include "oracle/support/slow_reduction.hpp"
#include "support/random.hpp"
#include "support/test_budget.hpp"

namespace refrain::oracle::tracker_test {
namespace {

using test::NaiveTracker;
using test::Random;
using test::TestBudget;

constexpr Symbol a = Symbol::event(0), b = Symbol::event(1), c = Symbol::event(2),
                 d = Symbol::event(3);
constexpr Symbol A = Symbol::rule(1), B = Symbol::rule(2);

const Reference& figure_1() {  // abbcbcab
  static const Reference reference(Grammar({{{A}, {B, 2}, {A}}, {{a}, {b}}, {{b}, {c}}}));
  return reference;
}
const Reference& figure_4() {  // abcabdababc
  static const Reference reference(Grammar({{{B}, {A}, {d}, {A}, {B}}, {{a}, {b}}, {{A}, {c}}}));
  return reference;
}

/// As the paper writes it: the event, the rule it is in, the rule around that ...
std::string text(const Reference& reference, const Progress& sequence) {
  std::string letters;
  for (const Level& level : sequence.levels()) {
    const Symbol symbol = reference.use(level.position).symbol;
    letters +=
        static_cast<char>(symbol.is_rule() ? 'A' + symbol.number() - 1 : 'a' + symbol.number());
  }
  return {letters.rbegin(), letters.rend()};
}
std::multiset<std::string> texts(const Reference& reference, const Tracker& tracker) {
  std::multiset<std::string> texts;
  for (const Progress& sequence : tracker.sequences()) texts.insert(text(reference, sequence));
  return texts;
}
using Texts = std::multiset<std::string>;

void track(Tracker& tracker, const std::string& letters) {
  for (const char letter : letters) tracker.track(static_cast<std::uint32_t>(letter - 'a'));
}
double places(const Reference& reference, const Tracker& tracker) {
  double places = 0;
  for (const Progress& sequence : tracker.sequences()) places += sequence.weight(reference);
  return places;
}

// By their events, each place in the run is of one.
TEST(OracleReference, HasAllSuccessionsOfTwoEvents) {
  test::Random random(3);
  for (int size = 1; size <= 200; ++size) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> expected;
    Reduction reduction;
    for (std::uint32_t i = 0, event = 0, before = 0; i < static_cast<std::uint32_t>(size); ++i) {
      event = static_cast<std::uint32_t>(random.percent(80) ? (before + 1) % 4 : random.below(4));
      reduction.add(event);
      if (i > 0) ++expected[{before, event}];
      before = event;
    }
    const Reference reference(reduction.grammar());
    for (std::uint32_t event = 0; event < 4; ++event) {
      for (std::uint32_t next = 0; next < 4; ++next) {
        double comes = 0;
        for (const auto [position, repeated] : reference.successions(event, next)) {
          const double times = repeated ? double(reference.use(position).times - 1) : 1;
          comes += times * reference.occurrences(reference.rule_of(position));
        }
        EXPECT_EQ(comes, (expected[{event, next}])) << event << " and " << next << " of " << size;
      }
    }
  }
}

// However often it is asked, and whatever else was asked for before.
TEST(OracleReference, TheWaysBehindARuleAreThoseThatComeMostOften) {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    const Reference reference(test::random_grammar(random, 60));
    const auto comes = [&](const Level& at) {
      const double around = reference.occurrences(reference.rule_of(at.position));
      return at.exact ? around : around * static_cast<double>(reference.use(at.position).times - 1);
    };
    const auto most = static_cast<std::size_t>(random.between(1, 6));
    WaysBehind behind;
    for (int ask = 0; ask < 40; ++ask) {
      if (reference.grammar().rules() == 1) break;
      const auto rule = static_cast<std::uint32_t>(
          random.between(1, static_cast<int>(reference.grammar().rules()) - 1));
      const std::uint32_t event =
          random.percent(30) ? WaysBehind::kAnyEvent : static_cast<std::uint32_t>(random.below(5));
      std::vector<double> all, found;
      WaysBehind::all(reference, rule, [&](const Level& at) {
        if (event == WaysBehind::kAnyEvent ||
            reference.first(reference.use(at.position).symbol) == event)
          all.push_back(comes(at));
      });
      for (const Level& at : behind.find(reference, rule, event, most)) found.push_back(comes(at));
      std::ranges::sort(all, std::greater());
      std::ranges::sort(found, std::greater());
      all.resize(std::min(all.size(), most));
      EXPECT_EQ(found, all);
    }
  }
}

TEST(OracleLevels, AreWhatWasAppendedHoweverMany) {
  Random random(1);
  Levels levels, other;
  std::vector<Level> expected, expected_of_other;
  for (int step = 0; step < 2000; ++step) {
    switch (random.below(5)) {
      case 0: {
        const auto size = static_cast<std::size_t>(random.below(int(expected.size()) + 1));
        levels.shorten(size);
        expected.resize(size);
        break;
      }
      case 1:
        other = levels;
        expected_of_other = expected;
        break;
      case 2:
        levels = std::move(other);
        other = Levels();
        expected = std::exchange(expected_of_other, {});
        break;
      case 3: std::swap(levels, other), std::swap(expected, expected_of_other); break;
      default:
        for (int i = random.below(5); i >= 0; --i) {
          expected.push_back({static_cast<std::uint32_t>(step), true, 1});
          levels.append(expected.back());
        }
    }
    ASSERT_TRUE(std::ranges::equal(levels.all(), expected));
    ASSERT_TRUE(std::ranges::equal(other.all(), expected_of_other));
  }
}

// Section II-B1: of the four b two are followed by c; the next b begins a B again.
TEST(OracleTracker, StartsInTheMiddleAsInFigure1) {
  Tracker tracker(figure_1(), nullptr, Settings::paper());
  EXPECT_EQ(tracker.track(1), Tracked::unexpected);
  EXPECT_EQ(places(figure_1(), tracker), 4);
  EXPECT_EQ(texts(figure_1(), tracker), (Texts{"b", "b"}));  // of A, of B
  EXPECT_EQ(tracker.track(2), Tracked::expected);
  EXPECT_EQ(texts(figure_1(), tracker), Texts{"c"});
  EXPECT_EQ(places(figure_1(), tracker), 2);
  EXPECT_EQ(tracker.predict(1).probability, 0.5);  // b of B again, or a of A
  EXPECT_EQ(tracker.track(1), Tracked::expected);
  EXPECT_EQ(texts(figure_1(), tracker), Texts{"bB"});
  EXPECT_EQ(places(figure_1(), tracker), 1);
  const std::string rest = "cab";
  for (std::uint64_t x = 1; x <= 3; ++x) {
    EXPECT_EQ(tracker.predict(x).event, static_cast<std::uint32_t>(rest[x - 1] - 'a'));
    EXPECT_EQ(tracker.predict(x).probability, 1);
  }
  EXPECT_EQ(tracker.predict(4).event, std::nullopt);
  EXPECT_EQ(tracker.predict(4).end, 1);
}

TEST(OracleTracker, TheFourthAIsThatOfFigure4) {
  Tracker tracker(figure_4(), nullptr, Settings::paper());
  tracker.start();
  track(tracker, "abcabdaba");
  EXPECT_EQ(texts(figure_4(), tracker), Texts{"aAB"});
  const Level path[]{{4, true, 0}, {7, true, 0}, {5, true, 0}};  // in R, B and A
  EXPECT_TRUE(std::ranges::equal(tracker.sequences()[0].levels(), path));
}

TEST(OracleTracker, GoesOnAsInFigure5) {
  Tracker tracker(figure_4(), nullptr, Settings::paper());
  tracker.start();
  track(tracker, "abcabdab");
  EXPECT_EQ(texts(figure_4(), tracker), Texts{"bA"});  // (a)
  Progress sequence = tracker.sequences()[0];
  int ways = 0;
  sequence.continuations(figure_4(), [&](std::size_t level, const Level& at) {
    ++ways;
    EXPECT_EQ(level, 0u);                // (b): b has no successor in A
    EXPECT_EQ(at, (Level{4, true, 0}));  // (c): the successor of A in R, the last B
  });
  EXPECT_EQ(ways, 1);
  sequence.go(figure_4(), 0, {4, true, 0});  // (d)
  EXPECT_EQ(text(figure_4(), sequence), "aAB");
  EXPECT_EQ(tracker.track(0), Tracked::expected);
  EXPECT_EQ(texts(figure_4(), tracker), Texts{"aAB"});
}

// A b after an a may be any of four, two of which are followed by c.
TEST(OracleTracker, KnowsTheOccurrencesOfFigure6) {
  Tracker tracker(figure_4(), nullptr, Settings::paper());
  track(tracker, "ab");
  EXPECT_EQ(texts(figure_4(), tracker), Texts{"b"});
  EXPECT_EQ(places(figure_4(), tracker), 4);
  EXPECT_EQ(tracker.predict(1).event, 2u);
  EXPECT_EQ(tracker.predict(1).probability, 0.5);
  track(tracker, "c");
  EXPECT_EQ(texts(figure_4(), tracker), Texts{"c"});
  EXPECT_EQ(places(figure_4(), tracker), 2);
  EXPECT_EQ(tracker.predict(1).event, 0u);
  EXPECT_EQ(tracker.predict(1).probability, 0.5);
  EXPECT_EQ(tracker.predict(1).end, 0.5);
  EXPECT_EQ(tracker.next(3).distance, 3u);
  EXPECT_EQ(tracker.next(3).probability, 0.5);
}

TEST(OracleTracker, BeforeTheFirstEvent) {
  Tracker tracker(figure_4());
  EXPECT_EQ(tracker.predict(1).event, std::nullopt);
  EXPECT_EQ(tracker.predict(1).end, 0);
  EXPECT_EQ(tracker.next(0).distance, 0u);
  EXPECT_TRUE(tracker.known());
  tracker.start();
  EXPECT_EQ(tracker.predict(6).event, 3u);
  EXPECT_EQ(tracker.predict(12).end, 1);
  EXPECT_EQ(tracker.next(3).distance, 6u);
  EXPECT_EQ(tracker.track(0), Tracked::expected);
}

TEST(OracleTracker, OfARunWithoutEvents) {
  const Reference nothing{Grammar()};
  Tracker tracker(nothing);
  tracker.start();
  EXPECT_EQ(tracker.predict(1).end, 1);
  EXPECT_EQ(tracker.next(0).end, 1);
  EXPECT_EQ(tracker.track(0), Tracked::unknown);
  EXPECT_EQ(tracker.track(UINT32_MAX), Tracked::unknown);
}

TEST(OracleTracker, WhatNeverCameChangesNothing) {
  Tracker tracker(figure_4());
  tracker.start();
  track(tracker, "abcab");
  EXPECT_EQ(tracker.track(77), Tracked::unknown);
  EXPECT_EQ(tracker.track(Symbol::kMost + 1), Tracked::unknown);
  EXPECT_EQ(tracker.track(UINT32_MAX), Tracked::unknown);
  EXPECT_FALSE(tracker.known());
  EXPECT_EQ(tracker.predict(1).event, 3u);
  EXPECT_EQ(tracker.next(77).distance, 0u);
  EXPECT_EQ(tracker.next(77).end, 1);
  EXPECT_EQ(tracker.track(3), Tracked::expected);
  EXPECT_TRUE(tracker.known());
}

TEST(OracleTracker, KeepsTheMostProbableSequences) {
  // Twenty places of a that come once, and behind them three that come more often: these are all that is kept, and each
  // has enough of the probability to be predicted from.
  std::vector<std::vector<Use>> rules(1);
  for (std::uint32_t i = 0; i < 20; ++i) {
    rules[0].push_back({a});
    rules[0].push_back({Symbol::event(i + 4)});
  }
  for (const auto& [event, number] : {std::pair(b, 20), std::pair(c, 100), std::pair(d, 30)}) {
    rules[0].push_back({Symbol::rule(static_cast<std::uint32_t>(rules.size())),
                        static_cast<std::uint64_t>(number)});
    rules.push_back({{a}, {event}});
  }
  const Reference reference{Grammar(rules)};
  Tracker tracker(reference, nullptr, {.sequences = 3});
  tracker.track(0);
  EXPECT_EQ(tracker.sequences().size(), 3u);
  EXPECT_TRUE(tracker.left_out());
  EXPECT_EQ(places(reference, tracker), 150);
  EXPECT_EQ(tracker.predict(1).event, c.number());
  EXPECT_DOUBLE_EQ(tracker.predict(1).probability, 100.0 / 150);
}

// --- the judge

void expect_same(const NaiveTracker::Outcomes& expected, std::uint64_t key, double probability,
                 double end) {
  ASSERT_NEAR(end, expected.end, 1e-9);
  ASSERT_NEAR(probability, expected.most(), 1e-9);
  if (!expected.of.empty()) {
    ASSERT_TRUE(expected.of.contains(key)) << key;
    ASSERT_NEAR(expected.of.at(key), expected.most(), 1e-9);
  }
}

void expect_same(const Reference& reference, const NaiveTracker& judge, Tracker& tracker) {
  ASSERT_FALSE(tracker.left_out());
  ASSERT_EQ(places(reference, tracker), static_cast<double>(judge.places().size()));
  for (std::uint64_t x = 1; x <= reference.grammar().length(0) + 1; ++x) {
    SCOPED_TRACE("distance " + std::to_string(x));
    const Prediction prediction = tracker.predict(x);
    ASSERT_NO_FATAL_FAILURE(expect_same(judge.predict(x), prediction.event.value_or(UINT32_MAX),
                                        prediction.probability, prediction.end));
  }
  for (std::uint32_t event = 0; event <= reference.grammar().events(); ++event) {
    SCOPED_TRACE("event " + std::to_string(event));
    const Occurrence next = tracker.next(event);
    ASSERT_NO_FATAL_FAILURE(
        expect_same(judge.next(event), next.distance, next.probability, next.end));
  }
}

/// Pieces of the run, and what does not belong there.
std::uint32_t next_event(Random& random, const std::vector<std::uint32_t>& run,
                         std::size_t& place) {
  if (random.percent(6))
    place = static_cast<std::size_t>(random.below(static_cast<int>(run.size())));
  if (random.percent(4)) return static_cast<std::uint32_t>(random.below(5));
  if (place == run.size()) place = 0;
  return run[place++];
}

/// Whether the last loop ends with a use of the root: within a rule it is not looked for.
bool last_round_is_whole(const Grammar& grammar) {
  const auto loop = last_loop(grammar);
  std::uint64_t end = 0;
  for (const Use& use : grammar.rule(0)) {
    end += use.times * grammar.length(use.symbol);
    if (loop && end == loop->end) return true;
  }
  return false;
}

TEST(OracleTracker, KnowsWhatStringMatchingKnows) {
  for (TestBudget budget{1500, 50}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    Random random(budget.seed());
    Grammar grammar = test::random_grammar(random, 60);
    const std::vector<std::uint32_t> run = test::unfolded(grammar);
    if (random.percent(30)) grammar = test::slow_reduction(run);
    const Reference reference(grammar);
    Settings settings = Settings::paper();
    settings.sequences = 1'000'000;
    settings.history = static_cast<std::uint32_t>(random.between(1, 6));
    settings.limits = {1'000'000, 1'000'000, random.percent(50) && last_round_is_whole(grammar)};
    settings.crowd = static_cast<std::size_t>(random.below(4));
    std::set<std::uint32_t> crowded;
    for (std::uint32_t event = 0; event < grammar.events(); ++event)
      if (reference.positions(Symbol::event(event)).size() > settings.crowd) crowded.insert(event);
    NaiveTracker judge(run, crowded, settings.history,
                       settings.limits.goes_on ? last_loop(grammar) : std::nullopt);
    Tracker tracker(reference, nullptr, settings);
    if (random.percent(40)) {
      judge.start();
      tracker.start();
      ASSERT_NO_FATAL_FAILURE(expect_same(reference, judge, tracker));
    }
    std::size_t place = 0;
    for (int i = 0; i < 40; ++i) {
      const std::uint32_t event = next_event(random, run, place);
      ASSERT_EQ(judge.track(event), tracker.track(event));
      ASSERT_NO_FATAL_FAILURE(expect_same(reference, judge, tracker));
    }
  }
}

// --- after unexpected events

constexpr Symbol e = Symbol::event(4), f = Symbol::event(5);

/// "a (bcd)^10 e (bcd)^10 f", so that what is around a repetition matters.
const Reference& two_loops() {
  static const Reference reference(Grammar({{{a}, {A, 10}, {e}, {A, 10}, {f}}, {{b}, {c}, {d}}}));
  return reference;
}
std::string times(int number, const std::string& letters) {
  std::string all;
  for (int i = 0; i < number; ++i) all += letters;
  return all;
}
/// That one sequence is followed from the root, and the event after is this one for certain.
void expect_next(Tracker& tracker, Symbol next) {
  ASSERT_EQ(tracker.sequences().size(), 1u);
  EXPECT_EQ(tracker.predict(1).event, next.number());
  EXPECT_EQ(tracker.predict(1).probability, 1);
}

TEST(OracleTracker, FollowsALoopThatRunsLonger) {
  Tracker tracker(two_loops());
  tracker.start();
  track(tracker, "a" + times(10, "bcd"));
  expect_next(tracker, e);
  EXPECT_EQ(tracker.track(b.number()), Tracked::unexpected);
  expect_next(tracker, c);
  EXPECT_EQ(tracker.next(e.number()).end, 0);  // it is still the first loop
  EXPECT_EQ(tracker.next(f.number()).end, 0);
  track(tracker, "cd" + times(13, "bcd"));
  EXPECT_EQ(tracker.sequences().size(), 1u);
  EXPECT_EQ(tracker.track(e.number()), Tracked::expected);
  track(tracker, times(10, "bcd"));
  // f came in the reference; as this is its last loop, the run may also go on in it, which then has this probability.
  EXPECT_EQ(tracker.predict(1).event, f.number());
  EXPECT_EQ(tracker.predict(1).probability, 1 - Future::kGoesOn);
}

TEST(OracleTracker, FollowsALoopThatEndsSooner) {
  Tracker tracker(two_loops());
  tracker.start();
  track(tracker, "a" + times(4, "bcd"));
  EXPECT_EQ(tracker.track(e.number()), Tracked::unexpected);
  expect_next(tracker, b);
  EXPECT_EQ(tracker.next(f.number()).distance, 31u);
  track(tracker, times(7, "bcd"));
  EXPECT_EQ(tracker.track(f.number()), Tracked::unexpected);
  EXPECT_EQ(tracker.predict(1).end, 1);
}

TEST(OracleTracker, ReturnsAfterAnInsertedEvent) {
  Tracker tracker(two_loops());
  tracker.start();
  track(tracker, "abcdbc");
  EXPECT_EQ(tracker.track(f.number()), Tracked::unexpected);
  EXPECT_EQ(tracker.track(a.number()), Tracked::unexpected);
  EXPECT_EQ(tracker.track(d.number()), Tracked::unexpected);
  expect_next(tracker, b);
  EXPECT_EQ(tracker.next(e.number()).distance, 25u);
  EXPECT_EQ(tracker.track(b.number()), Tracked::expected);
}

TEST(OracleTracker, GoesOnAfterASkippedEvent) {
  Tracker tracker(two_loops());
  tracker.start();
  track(tracker, "abcdb");
  EXPECT_EQ(tracker.track(d.number()), Tracked::unexpected);
  EXPECT_EQ(tracker.track(b.number()), Tracked::expected);
  expect_next(tracker, c);
  EXPECT_EQ(tracker.next(e.number()).distance, 24u);
}

TEST(OracleTracker, GoesOnAfterSwappedEvents) {
  Tracker tracker(two_loops());
  tracker.start();
  track(tracker, "abcdbdc");
  track(tracker, "b");
  expect_next(tracker, c);
  EXPECT_EQ(tracker.next(e.number()).distance, 24u);
}

TEST(OracleTracker, GivesUpWhatIsAsideForTooLong) {
  Tracker tracker(two_loops());
  tracker.start();
  track(tracker, "abcdb");        // c is next
  track(tracker, "f");            // unexpected
  track(tracker, times(4, "f"));  // as long as it is waited for
  track(tracker, "c");
  EXPECT_GT(tracker.next(e.number()).end, 0);  // any c
}

// --- behind the end of the reference, and where much is possible

std::vector<std::uint32_t> events(const std::string& letters) {
  std::vector<std::uint32_t> events;
  for (const char letter : letters) events.push_back(static_cast<std::uint32_t>(letter - 'a'));
  return events;
}
Grammar reduced(const std::vector<std::uint32_t>& run) {
  Reduction reduction;
  for (const std::uint32_t event : run) reduction.add(event);
  return reduction.grammar();
}
/// How many of the run's events are predicted right, from so many events before.
double right(const Reference& reference, const std::vector<std::uint32_t>& run,
             std::size_t distance) {
  Tracker tracker(reference);
  tracker.start();
  double right = 0;
  for (std::size_t at = 0; at + distance < run.size(); ++at) {
    tracker.track(run[at]);
    if (tracker.predict(distance).event == run[at + distance]) ++right;
  }
  return right / static_cast<double>(run.size() - distance);
}

TEST(OracleTracker, TheLastLoopIsWhatGoesOnFurthest) {
  const auto last = [](const std::string& letters) { return last_loop(reduced(events(letters))); };
  EXPECT_EQ(last("ab" + times(20, "cde") + "fg"), (LastLoop{62, 3}));
  EXPECT_EQ(last("ab" + times(20, "cde") + "cdfg"),
            (LastLoop{64, 3}));  // the last round was cut short
  EXPECT_EQ(last(times(50, "a") + times(20, "bc") + "d"), (LastLoop{90, 2}));
  // Loops in it, or of a small part of the run, are not it.
  EXPECT_EQ(last(times(10, "ab" + times(7, "c") + "d")), (LastLoop{100, 10}));
  EXPECT_EQ(last(times(100, "abcd") + "eee"), (LastLoop{400, 4}));
  EXPECT_EQ(last(times(10, times(10, "abc") + "d") + times(5, "abc") + "e"), (LastLoop{325, 31}));
  // Nothing goes on where more came behind it, or nothing repeats.
  EXPECT_EQ(last(times(5, "a") + "bcdefgh"), std::nullopt);
  EXPECT_EQ(last("abcdacbd"), std::nullopt);
  EXPECT_EQ(last(""), std::nullopt);
}

TEST(OracleTracker, ALoopThatRunsTwiceAsLongIsPredictedFarAhead) {
  const std::string once = "cdefgcdehijk", inner = "c" + times(9, "de") + "f";
  for (const std::string& body : {once, inner, std::string("c"), "cd" + times(4, "e" + inner)}) {
    for (const char* const end : {"", "l", "lm"}) {
      const std::size_t rounds = 1000 / body.size();
      const auto run = [&](std::size_t times_as_long) {
        return events("aab" + times(static_cast<int>(times_as_long * rounds), body) + end);
      };
      const Reference reference(reduced(run(1)));
      EXPECT_EQ(right(reference, run(1), 128), 1) << body << end;
      EXPECT_GE(right(reference, run(2), 128), 0.95) << body << end;
      EXPECT_GE(right(reference, run(2), 1), 0.99) << body << end;
    }
  }
}

/// A loop of 32 events of 40, of which one becomes another one after each 20 rounds.
std::vector<std::uint32_t> drifting(std::uint64_t seed) {
  Random first(1), random(seed);
  std::vector<std::uint32_t> loop(32), run;
  for (std::uint32_t& event : loop) event = static_cast<std::uint32_t>(first.below(40));
  while (run.size() < 20'000) {
    for (int round = 0; round < 20; ++round) run.insert(run.end(), loop.begin(), loop.end());
    loop[static_cast<std::size_t>(random.below(32))] = static_cast<std::uint32_t>(random.below(40));
  }
  return run;
}

// What all that is possible has in common is known, however many possibilities there are.
TEST(OracleTracker, WhatManyPlacesHaveInCommonIsSeenFarAhead) {
  const Reference reference(reduced(drifting(2)));
  const auto run = drifting(3);
  EXPECT_GE(right(reference, run, 32), 0.92);
  EXPECT_GE(right(reference, run, 128), 0.92);
}

// Where it is by chance how often a loop goes round, places like the last events say more than one that was right.
TEST(OracleTracker, ARunThatIsNeverAsItWasIsLookedForAnew) {
  const auto noisy = [](std::uint64_t seed) {
    Random random(seed);
    std::string run;
    while (run.size() < 20'000)
      run += 'a' + times(random.between(3, 5), "bc") + (random.percent(10) ? "ed" : "d");
    return events(run);
  };
  const Reference reference(reduced(noisy(1)));
  EXPECT_GE(right(reference, noisy(2), 1), 0.91);
  EXPECT_GE(right(reference, noisy(2), 16), 0.55);
}

TEST(OracleTracker, IsSoundWhateverComes) {
  for (TestBudget budget{2000, 50}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    Random random(budget.seed());
    const Reference reference(test::random_grammar(random, 200));
    const std::vector<std::uint32_t> run = test::unfolded(reference.grammar());
    Settings settings;
    settings.sequences = static_cast<std::size_t>(random.between(1, 16));
    settings.skipped = static_cast<std::uint32_t>(random.below(6));
    settings.patience = static_cast<std::uint32_t>(random.below(6));
    settings.history = static_cast<std::uint32_t>(random.between(1, 6));
    settings.counts = random.percent(80);
    settings.limits = {static_cast<std::size_t>(random.between(1, 200)),
                       static_cast<std::size_t>(random.between(1, 20))};
    Tracker tracker(reference, nullptr, settings);
    if (random.percent(50)) tracker.start();
    std::size_t place = 0;
    for (int i = 0; i < 200; ++i) {
      const std::uint32_t event = next_event(random, run, place);
      const Tracked tracked = tracker.track(event);
      ASSERT_EQ(tracked == Tracked::unknown, std::ranges::find(run, event) == run.end());
      ASSERT_LE(tracker.sequences().size(), settings.sequences);
      if (tracked != Tracked::unknown)
        for (const Progress& sequence : tracker.sequences()) {
          ASSERT_GT(sequence.weight(tracker.reference()), 0);
          ASSERT_EQ(reference.use(sequence.levels().back().position).symbol, Symbol::event(event));
        }
      const Prediction prediction =
          tracker.predict(1 + static_cast<std::uint64_t>(random.below(300)));
      ASSERT_GE(prediction.probability, 0);
      ASSERT_LE(prediction.probability + prediction.end, 1 + 1e-9);
      const Occurrence next = tracker.next(static_cast<std::uint32_t>(random.below(5)));
      ASSERT_LE(next.probability + next.end, 1 + 1e-9);
      ASSERT_EQ(next.distance == 0, next.probability == 0);
    }
  }
}

TEST(OracleTracker, LooksAsFarAheadAsARunIsLong) {
  // (...((ab)^10)^10...)^10 c
  std::vector<std::vector<Use>> rules{{{Symbol::rule(1), 10}, {c}}};
  for (std::uint32_t r = 1; r < 18; ++r) rules.push_back({{Symbol::rule(r + 1), 10}});
  rules.push_back({{a}, {b}});
  const Reference reference{Grammar(rules)};
  const std::uint64_t length = reference.grammar().length(0);
  Tracker tracker(reference);
  tracker.start();
  track(tracker, "ab");
  EXPECT_EQ(tracker.predict(length / 2).event, 1u);
  EXPECT_EQ(tracker.predict(length / 2 + 1).event, 0u);
  EXPECT_EQ(tracker.predict(length - 2).event, 2u);
  // Behind the end of the reference there is nothing, unless the run goes on in the last loop, which is all but the c.
  EXPECT_EQ(tracker.predict(length - 1).end, 1 - Future::kGoesOn);
  EXPECT_EQ(tracker.next(c.number()).distance, length - 2);
}

}  // namespace
}  // namespace refrain::oracle::tracker_test
