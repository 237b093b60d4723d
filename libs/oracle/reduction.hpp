#pragma once
// Events, one by one, become a grammar (PYTHIA, section II-A, after Sequitur). After each event:
//   1. every rule is used at least twice, repetitions counted,
//   2. no couple of neighbours comes twice, whatever their exponents,
//   3. no symbol stands beside itself: a^n a^m is a^(n+m).
//
// One step. A symbol s comes to the end of the root, behind x^m. If x is s, its exponent grows. If no x s is
// elsewhere, s stands there. Otherwise x^p s^q is elsewhere, in one place; there and here have x^i s in common, i =
// min(m, p). That is a rule's: of the one whose whole sequence it is, or of a new one, which takes its place there.
// Here x^i goes, and in the next step the rule comes to the end of the root. If that leaves x one use, at the
// beginning of the rule, the sequence of x takes its place. (Where the rule is new, x itself becomes that rule:
// `prolong`.)
//
// Why only the end of the root is looked at. The rest has rule 2 throughout; new neighbours come about there
//   - beside a new rule C in the place of x^i s. C has two uses, there and here, and here nothing follows it. Before
//     it is not the same symbol: where nothing of x is left on either side, by rule 2 for what stood before x; where
//     x is left on one side, by rule 3 for the other. (Where there and here are adjacent, C C is C^2.)
//   - at a seam z s: X, which ends with z, was used once, before s, and its sequence has taken its place. So it had
//     two uses, there and at the end of the root. Let T be when this last X came. Since then s came, and no more.
//       X was new at T. For an older rule had two uses besides, and a use is lost only here, where what had it is
//     there as well: one would be left in s, and that is not the X which stands before s.
//       A second z s is older than T. Since T no couple with s has come here, being longer than s; and elsewhere what
//     is new beside an s is a new rule, which is used there and, later, where it comes here: not at the end of X
//     also.
//       So s is older, and z, and both stood where they are at T, since what takes a place is a new rule: there was z
//     s, or z^2, before X took its place there. The first is against rule 2. In the second z is s: the exponents are
//     added, and there is no new couple.
// And no rule but x can be left with one use: s, if it is a rule, had two before it came, or it is new, and then
// there is no x s elsewhere.
//
// What it costs. The sum of all exponents grows by 1 with each event. A rule that is used again takes i from it, a
// new one i - 1, a sequence that takes its rule's place 1. So of n events at most n lead to the first or the last;
// new ones are there in the end or have lost their place: at most 2n steps in all, of a few look-ups in a hash table
// each. That is on average: one event can be the end of many rules.
//
// What is expected. A rule X that is prolonged has one use beside that at the end of the root, so what stands behind it
// there is all that can prolong it further. While that comes, nothing is done but to go ahead there, also into the
// rules that stand there (`expected_`, `within_`); all of it goes over to the rule's end at once when something else
// comes, before the sequence there ends, or when the grammar is asked for. So most events of a loop with a long body
// are a comparison.
//
// Why it may go ahead into a rule S, as if S had come at once. Parsed step by step, its events come behind a symbol l
// at the end of the root, and what has come of S becomes a new rule C there and in S; when S is whole, C's sequence
// takes its place again, and S comes. Within S that is so because each couple of S is entered there and nowhere else.
// At the seam l stands beside the first event of S for a while. That is a couple which must neither be elsewhere nor
// come again within S, or another rule comes about. If l is X or such a C it does not: l has two uses, and no third can
// come, as its own first couple is in it. If l is another one, which is the first symbol of a rule, nothing is put off.
//
// Memory: 24 bytes for each symbol and each rule, and a word or two for each couple. Exponents and counts have 64
// bits: events() would overflow first. One thread.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "oracle/couples.hpp"
#include "oracle/grammar.hpp"
#include "oracle/sequences.hpp"

namespace refrain::oracle {

/// After std::bad_alloc from any of these it can only be destroyed.
class Reduction {
 public:
  Reduction() { nodes_.make_rule(); }
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;

  /// What happened next. Requires event < Symbol::kMost.
  void add(std::uint32_t event) {
    if (add_expected(event)) return;
    ++events_;
    catch_up();
    append(Symbol::event(event));
  }
  /// The same, if it is the event that is expected. False: it is not, and nothing was done.
  bool add_expected(std::uint32_t event) {
    const Node& expected = nodes_[expected_];
    if (expected.symbol != Symbol::event(event) || expected.times != 1 ||
        nodes_.is_guard(expected.next))
      return expected_ != kNothing && go_ahead(event);
    ++events_;
    expected_ = expected.next;
    return true;
  }

  /// Of all events so far. Rules are numbered in the order in which one meets them who reads the root, then rule 1, and
  /// so on. O(symbols), and what was put off.
  [[nodiscard]] Grammar grammar();

  /// So many have been added.
  [[nodiscard]] std::uint64_t events() const { return events_; }
  /// Of the grammar, the root being one.
  [[nodiscard]] std::size_t rules() {
    catch_up();
    return nodes_.rules();
  }
  /// Uses of symbols, in all rules.
  [[nodiscard]] std::size_t symbols() {
    catch_up();
    return nodes_.symbols();
  }
  /// All memory that it has.
  [[nodiscard]] std::size_t bytes() const {
    return sizeof *this + nodes_.bytes() + couples_.bytes() + partly_.capacity() * sizeof(Use);
  }

  /// std::logic_error if links, counts of uses, or the couples' table are wrong. O(symbols); for tests.
  void check_invariants() const;

 private:
  static constexpr NodeIndex kRoot = 0;         // its guard
  static constexpr NodeIndex kNothing = kRoot;  // is expected: a guard is no event

  void append(Symbol symbol);
  Symbol make_rule(NodeIndex there, std::uint64_t times);
  [[nodiscard]] bool is_whole_rule(NodeIndex there, std::uint64_t times) const;
  void prolong(NodeIndex there);
  bool go_ahead(std::uint32_t event);
  bool go_into_rules(Symbol event);
  [[nodiscard]] bool is_behind_new_rule() const;
  void count_expected();
  void catch_up();
  void catch_up_outside();
  void expand(NodeIndex only_use);
  void meet(NodeIndex left);
  void take(NodeIndex node, std::uint64_t times);

  Sequences nodes_;
  Couples couples_{nodes_};
  std::uint64_t events_ = 0;
  // While events come as expected: the node of the rule that is at the end of the root, too; and the node whose symbol
  // comes next, behind it or in the rules there, and how often that has come, of its exponent.
  NodeIndex prolonged_ = kRoot;
  NodeIndex expected_ = kNothing;
  std::uint64_t times_come_ = 0;
  /// The uses of rules that `expected_` is in, from the one in the sequence of `prolonged_` on.
  struct Outer {
    NodeIndex node;
    std::uint64_t times_come;  ///< as a whole
  };
  static constexpr unsigned kDeepest = 8;  ///< rules in rules; what is deeper is parsed
  std::array<Outer, kDeepest> within_{};
  unsigned depth_ = 0;
  std::vector<Use> partly_;  // what has come of these rules, while it is caught up with
};

}  // namespace refrain::oracle
