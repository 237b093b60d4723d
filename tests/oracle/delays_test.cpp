#include "oracle/delays.hpp"

#include <gtest/gtest.h>

#include "oracle/error.hpp"
#include "oracle/tracker.hpp"

namespace refrain::oracle::delays_test {
namespace {

constexpr Symbol a = Symbol::event(0), b = Symbol::event(1), c = Symbol::event(2),
                 d = Symbol::event(3);
constexpr Symbol A = Symbol::rule(1), B = Symbol::rule(2);
// Positions: R is 0 to 4, A is 5 and 6, B is 7 and 8.
const Grammar figure_6({{{B}, {A}, {d}, {A}, {B}}, {{a}, {b}}, {{A}, {c}}});

/// The run "ab c ab d ab ab c", each event in the longest context.
const std::vector<Delays::Recorded> recorded{
    {{5, 7, 0}, 1, 1}, {{6, 7, 0}, 10, 1}, {{8, 0}, 100, 1}, {{5, 1}, 2, 1},
    {{6, 1}, 40, 1},   {{2}, 1000, 1},     {{5, 3}, 3, 1},   {{6, 3}, 60, 1},
    {{5, 7, 4}, 4, 1}, {{6, 7, 4}, 14, 1}, {{8, 4}, 300, 1},
};

TEST(OracleDelays, AreThoseOfTheLongestContextAsInFigure6) {
  const Reference reference(figure_6);
  const Delays delays(reference, recorded);
  EXPECT_EQ(delays.count({6, 7}), 2u);  // BAb
  EXPECT_EQ(delays.mean({6, 7}), 12);
  EXPECT_EQ(delays.count({6}), 4u);  // Ab
  EXPECT_EQ(delays.mean({6}), 31);
  EXPECT_EQ(delays.mean({6, 7, 4}), 14);
  EXPECT_EQ(delays.mean({6, 1}), 40);

  Tracker tracker(reference, &delays);
  tracker.track(0);
  EXPECT_EQ(tracker.predict(1).delay, 31);  // any a
  tracker.start();
  tracker.track(0);
  EXPECT_EQ(tracker.predict(1).delay, 10);  // in the first B
  EXPECT_EQ(tracker.predict(2).delay, 110);
  EXPECT_EQ(tracker.next(2).delay, 110);
}

TEST(OracleDelays, AreAddedUpOverWholeRules) {
  const Reference reference(figure_6);
  const Delays delays(reference, recorded);
  EXPECT_EQ(delays.repetition(1), 42);                          // A in R
  EXPECT_EQ(delays.repetition(7), 2.5 + 12);                    // A in B, whichever B
  EXPECT_EQ(delays.repetition(4), delays.repetition(7) + 300);  // c is that of the last B
  Tracker tracker(reference, &delays);
  tracker.start();
  tracker.track(0);
  // b and c, then A, d and A as they are in R, then the a of the last B.
  EXPECT_EQ(tracker.predict(8).delay, 110 + 42 + 1000 + 63 + 4);
  EXPECT_EQ(tracker.predict(8).event, 0u);
}

TEST(OracleDelays, OfRepetitions) {
  // R -> A^4 c, A -> a b^10
  const Reference reference(Grammar({{{A, 4}, {c}}, {{a}, {b, 10}}}));
  const Delays delays(
      reference, std::vector<Delays::Recorded>{{{2, 0}, 400, 4}, {{3, 0}, 40, 40}, {{1}, 7, 1}});
  Tracker tracker(reference, &delays);
  tracker.start();
  tracker.track(0);
  EXPECT_EQ(tracker.predict(3).delay, 3);
  EXPECT_EQ(tracker.predict(11).delay, 110);
  EXPECT_EQ(tracker.predict(33 + 2).delay, 330 + 2);
  EXPECT_EQ(tracker.next(2).delay, 10 + 330 + 7);
}

TEST(OracleDelays, TellTheFirstRepetitionFromLaterOnes) {
  // R -> A^4 c, A -> a b^10
  const Reference reference(Grammar({{{A, 4}, {c}}, {{a}, {b, 10}}}));
  const Delays delays(reference, std::vector<Delays::Recorded>{
                                     {{.position = 2, .around = 0}, 500, 1},
                                     {{.position = 2, .around = 0, .again = true}, 21, 3},
                                     {{.position = 3, .around = 0}, 80, 4},
                                     {{.position = 3, .around = 0, .again = true}, 36, 36},
                                     {{.position = 1}, 3, 1}});
  EXPECT_EQ(delays.mean({.position = 2, .around = 0, .again = true}), 7);
  EXPECT_EQ(delays.repetition(0), 500 + 20 + 9);
  EXPECT_EQ(delays.repetition(0, true), 7 + 20 + 9);
  EXPECT_EQ(delays.rule(0), 529 + 3 * 36 + 3);
  Tracker tracker(reference, &delays);
  tracker.start();
  EXPECT_EQ(tracker.predict(1).delay, 500);
  EXPECT_EQ(tracker.predict(12).delay, 529 + 7);
  EXPECT_EQ(tracker.next(2).delay, 529 + 3 * 36 + 3);
  tracker.track(0);
  EXPECT_EQ(tracker.predict(1).delay, 20);
  EXPECT_EQ(tracker.predict(2).delay, 21);
  EXPECT_EQ(tracker.predict(11).delay, 29 + 7);
  EXPECT_EQ(tracker.predict(12).delay, 29 + 7 + 20);
  EXPECT_EQ(tracker.predict(33).delay, 29 + 2 * 36 + 7);
}

// What begins a rule that begins another begins its repetitions, too.
TEST(OracleDelays, TellRepetitionsApartOfWhatIsAround) {
  // R -> B^3 d, B -> A^2 c, A -> a b
  const Reference reference(Grammar({{{B, 3}, {d}}, {{a}, {b}}, {{A, 2}, {c}}}));
  const Delays delays(reference, std::vector<Delays::Recorded>{{{2, 4, 0}, 100, 1},
                                                               {{2, 4, 0, true}, 50, 5},
                                                               {{3, 4, 0}, 6, 6},
                                                               {{5, 0}, 6, 3},
                                                               {{1}, 1, 1}});
  Tracker tracker(reference, &delays);
  tracker.start();
  EXPECT_EQ(tracker.predict(1).delay, 100);
  EXPECT_EQ(tracker.predict(3).delay, 100 + 1 + 10);
  EXPECT_EQ(tracker.predict(6).delay, 100 + 1 + 10 + 1 + 2 + 10);
  EXPECT_EQ(tracker.next(3).delay, 100 + 5 * 10 + 6 + 6 + 1);
}

TEST(OracleDelays, UseTheShorterContextWhereTheLongerOneIsNotKnown) {
  const Reference reference(figure_6);
  const Delays delays(reference, std::vector<Delays::Recorded>{{{6, 7}, 12, 2}, {{6}, 9, 1}});
  EXPECT_EQ(delays.mean({6, 7, 4}), 6);
  EXPECT_EQ(delays.mean({6, 1}), 7);
  EXPECT_EQ(delays.mean({5, 1}), 0);
  EXPECT_EQ(delays.count({6, 1}), 0u);
}

TEST(OracleDelays, OfNoPositionAreRefused) {
  const Reference reference(figure_6);
  const auto refused = [&](Delays::Context context) {
    EXPECT_THROW(Delays(reference, std::vector<Delays::Recorded>{{context, 1, 1}}), InvalidGrammar);
  };
  refused({9});                       // not there
  refused({7});                       // not an event
  refused({6, 0});                    // not around it
  refused({6, 7, 1});                 // nor this
  refused({6, Delays::kUnknown, 1});  // a gap
}

}  // namespace
}  // namespace refrain::oracle::delays_test
