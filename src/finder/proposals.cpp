// Candidates out of the grammar of an earlier run (oracle/grammar.hpp). The rules of a grammar are its repeats, so
// there is nothing to search for. A proposal proves nothing: it is recorded and compared like any other candidate.
//
// Choice of rules. Recording a rule costs its calls once, and then an entry for each row of it. Recording its parts
// costs less, but calls in no part are analysed each time, and each part has entries of its own. So each rule is
// compared with the best of its parts, from the bottom up; the better ones are taken, from the root down. That is the
// body of an inner loop if the outer loop comes seldom, and the body of the outer one if it comes often. A rule that
// follows itself is the body of a loop, and is turned and unrolled as the finder does (finder/mining.hpp). A rule with
// calls that cannot be replayed is cut there, and its pieces are proposed.

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <ranges>

#include "finder/mining.hpp"
#include "oracle/grammar.hpp"

namespace refrain::autotrace {

namespace {

using oracle::Grammar;
using oracle::Symbol;
using oracle::Use;
/// None: it cannot be replayed.
using Call = std::optional<Token>;
using Uses = std::span<const Use>;

/// Of calls in a whole run, which may be more than are ever made. Exact up to 2^53; beyond, either choice is as good.
using Count = double;
Count counted(std::uint64_t calls) { return static_cast<Count>(calls); }

/// To begin a replay costs about as much as to analyse so many calls.
constexpr Count kEntry = 4;

class Choice {
 public:
  Choice(const Grammar& grammar, std::span<const Call> tokens, const ProposalLimits& limits)
      : grammar_(grammar),
        tokens_(tokens),
        limits_(limits),
        by_length_(grammar.rules()),
        facts_(grammar.rules()) {
    // Each rule before those that it uses, which are shorter, or, if it is nothing but another rule, as long: then what
    // is known of that one is too little.
    std::iota(by_length_.begin(), by_length_.end(), 0);
    std::ranges::stable_sort(by_length_, std::greater<>(),
                             [&](std::uint32_t rule) { return grammar.length(rule); });
    count_occurrences();
    for (const std::uint32_t rule : by_length_ | std::views::reverse) compare(rule);
  }

  std::vector<MinedRepeat> made() && {
    choose();
    std::vector<Chosen> best;
    std::ranges::move(chosen_ | std::views::values, std::back_inserter(best));
    std::ranges::move(stretches_, std::back_inserter(best));
    std::ranges::stable_sort(best, std::greater<>(), &Chosen::calls);
    if (best.size() > limits_.most) best.resize(limits_.most);
    std::vector<MinedRepeat> made;
    for (const Chosen& chosen : best) make(chosen, made);
    return made;
  }

 private:
  struct Facts {
    Count occurrences = 0;  ///< in the whole run
    Count rows = 0;         ///< the same, those in a row as one
    std::uint64_t longest_row = 0;
    bool is_cut = false;  ///< by a call that cannot be replayed
    // If its parts are recorded and not the rule itself, in calls that are analysed.
    Count once = 0;          ///< to record them
    Count each = 0;          ///< of each occurrence
    bool is_better = false;  ///< the rule itself is
    bool is_open = false;    ///< its parts may be chosen
  };
  struct Chosen {
    std::vector<Use> uses;  ///< one after the other
    std::uint64_t row = 0;  ///< times in a row, at most
    Count calls = 0;        ///< in the whole run
  };

  void count_occurrences() {
    facts_[0].occurrences = 1;
    for (const std::uint32_t rule : by_length_)
      for (const Use& use : grammar_.rule(rule))
        if (use.symbol.is_rule()) {
          Facts& used = facts_[use.symbol.number()];
          used.occurrences += facts_[rule].occurrences * counted(use.times);
          used.rows += facts_[rule].occurrences;
          used.longest_row = std::max(used.longest_row, use.times);
        }
  }

  /// The rule with its parts, which were compared before. A row of a rule is entered once.
  void compare(std::uint32_t rule) {
    Facts& facts = facts_[rule];
    for (const Use& use : grammar_.rule(rule)) {
      facts.is_cut |= is_cut(use.symbol);
      if (is_wanted(use)) {
        facts.once += counted(grammar_.length(use.symbol));
        facts.each += kEntry;
      } else if (use.symbol.is_rule()) {
        facts.once += facts_[use.symbol.number()].once;
        facts.each += counted(use.times) * facts_[use.symbol.number()].each;
      } else {
        facts.each += counted(use.times);
      }
    }
    facts.is_better = !facts.is_cut && counted(grammar_.length(rule)) + facts.rows * kEntry <=
                                           facts.once + facts.occurrences * facts.each;
  }

  [[nodiscard]] bool is_cut(Symbol symbol) const {
    return symbol.is_rule() ? facts_[symbol.number()].is_cut
                            : symbol.number() >= tokens_.size() || !tokens_[symbol.number()];
  }
  /// However it is turned, there is enough for a recording and a replay.
  [[nodiscard]] bool is_loop(std::uint64_t length, std::uint64_t row) const {
    return row > 2 * ((limits_.mining.least + length - 1) / length);
  }
  /// Whether it is proposed where it is used so.
  [[nodiscard]] bool is_wanted(const Use& use) const {
    const std::uint64_t length = grammar_.length(use.symbol);
    if (length > limits_.longest || is_cut(use.symbol)) return false;
    if (is_loop(length, use.times)) return !use.symbol.is_rule() || is_better(use.symbol);
    return use.symbol.is_rule() && is_better(use.symbol) && length >= limits_.mining.least;
  }
  [[nodiscard]] bool is_better(Symbol rule) const { return facts_[rule.number()].is_better; }

  /// From the root down: what is chosen is not looked at further.
  void choose() {
    facts_[0].is_open = true;
    for (const std::uint32_t rule : by_length_) {
      if (!facts_[rule].is_open) continue;
      if (facts_[rule].is_cut && facts_[rule].occurrences > 1) choose_between_cuts(rule);
      else choose_among(grammar_.rule(rule), rule);
    }
  }
  void choose_among(Uses uses, std::uint32_t rule) {
    for (const Use& use : uses) {
      if (is_wanted(use)) {
        Chosen& chosen = chosen_[{use.symbol.is_rule(), use.symbol.number()}];
        chosen.uses = {{use.symbol, 1}};
        chosen.row = std::max(chosen.row, use.times);
        chosen.calls += facts_[rule].occurrences * counted(use.times * grammar_.length(use.symbol));
      } else if (use.symbol.is_rule()) {
        facts_[use.symbol.number()].is_open = true;
      }
    }
  }
  /// Of a rule that comes again: what is long enough between two cuts is proposed whole. Where the rule follows itself
  /// its end goes on with its beginning.
  void choose_between_cuts(std::uint32_t rule) {
    std::vector<Use> uses(grammar_.rule(rule).begin(), grammar_.rule(rule).end());
    const auto cut = [&](const Use& use) { return is_cut(use.symbol); };
    if (facts_[rule].longest_row > 2) std::ranges::rotate(uses, std::ranges::find_if(uses, cut));
    for (auto from = uses.begin(); from != uses.end();) {
      const auto to = std::find_if(from, uses.end(), cut);
      const std::vector<Use> stretch(from, to);
      std::uint64_t length = 0;
      for (const Use& use : stretch) length += use.times * grammar_.length(use.symbol);
      if (length >= limits_.mining.least && length <= limits_.longest)
        stretches_.push_back({stretch, 1, facts_[rule].occurrences * counted(length)});
      else choose_among(stretch, rule);
      for (from = to; from != uses.end() && cut(*from); ++from) choose_among({&*from, 1}, rule);
    }
  }

  void make(const Chosen& chosen, std::vector<MinedRepeat>& made) const {
    std::vector<Token> calls;
    const auto add = [&](std::uint32_t event) { calls.push_back(*tokens_[event]); };
    for (const Use& use : chosen.uses)
      for (std::uint64_t i = 0; i < use.times; ++i) {
        if (use.symbol.is_rule()) grammar_.unfold(add, use.symbol.number());
        else add(use.symbol.number());
      }
    const auto count = static_cast<std::uint32_t>(std::min<Count>(
        chosen.calls / counted(calls.size()), std::numeric_limits<std::uint32_t>::max()));
    const MiningLimits& limits = limits_.mining;
    if (is_loop(calls.size(), chosen.row) && calls.size() <= limits.most) {
      const Sample body{calls, std::vector(calls.size(), Sample::analysed),
                        std::vector<Work>(calls.size(), 1)};
      const auto period = static_cast<std::uint32_t>(calls.size());
      return made.push_back(repeat_of_loop(body, 0, period, count, limits));
    }
    for (std::span<const Token> rest = calls; rest.size() >= limits.least;) {
      const auto piece = rest.first(std::min(rest.size(), limits.most));
      made.push_back(repeat_of_stretch(piece, count));
      rest = rest.subspan(piece.size());
    }
  }

  const Grammar& grammar_;
  std::span<const Call> tokens_;
  const ProposalLimits& limits_;
  std::vector<std::uint32_t> by_length_;
  std::vector<Facts> facts_;
  std::map<std::pair<bool, std::uint32_t>, Chosen> chosen_;  ///< events, then rules
  std::vector<Chosen> stretches_;                            ///< between cuts
};

}  // namespace

std::vector<MinedRepeat> proposals(const Grammar& grammar, std::span<const Call> tokens,
                                   const ProposalLimits& limits) {
  return Choice(grammar, tokens, limits).made();
}

}  // namespace refrain::autotrace
