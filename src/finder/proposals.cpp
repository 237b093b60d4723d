#include "finder/proposals.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <ranges>
#include <utility>

namespace refrain::autotrace {

namespace {

using oracle::Grammar;
using oracle::Symbol;
using oracle::Use;
/// None: it cannot be replayed.
using Call = std::optional<Token>;

/// Of calls in a whole run, which may be more than are ever made. Exact up to 2^53; beyond, either choice is as good.
using Count = double;
Count counted(std::uint64_t calls) { return static_cast<Count>(calls); }

/// To begin a replay costs about as much as to analyse so many calls.
constexpr Count kEntry = 4;

/// A sequence of calls, cut where something cannot be replayed. Of pieces between two cuts those that are long enough
/// count; what comes before the first cut and after the last may be longer in a larger sequence.
struct Cut {
  bool is_cut = false;
  Count head = 0;    ///< calls before the first cut; all, if there is none
  Count tail = 0;    ///< after the last one
  Count pieces = 0;  ///< between two, and ...
  Count calls = 0;   ///< ... their calls
  Count other = 0;   ///< calls that are in none

  void add_piece(Count length, Count least) {
    if (length < least) {
      other += length;
    } else {
      pieces += 1;
      calls += length;
    }
  }
};

Cut joined(const Cut& first, const Cut& second, Count least) {
  if (!first.is_cut && !second.is_cut) return {.head = first.head + second.head};
  Cut both{.is_cut = true,
           .head = first.is_cut ? first.head : first.head + second.head,
           .tail = second.is_cut ? second.tail : first.tail + second.head,
           .pieces = first.pieces + second.pieces,
           .calls = first.calls + second.calls,
           .other = first.other + second.other};
  if (first.is_cut && second.is_cut) both.add_piece(first.tail + second.head, least);
  return both;
}

Cut repeated(Cut once, std::uint64_t times, Count least) {
  Cut all;
  for (; times > 0; times /= 2) {
    if (times % 2 != 0) all = joined(all, once, least);
    once = joined(once, once, least);
  }
  return all;
}

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
    best.reserve(chosen_.size());
    for (const auto& [symbol, chosen] : chosen_) best.push_back(chosen);
    std::ranges::stable_sort(best, std::greater<>(), &Chosen::calls);
    if (best.size() > limits_.most) best.resize(limits_.most);
    std::vector<MinedRepeat> made;
    for (const Chosen& chosen : best) make(chosen, made);
    return made;
  }

 private:
  /// Counted in calls that are analysed.
  struct Cost {
    Count once = 0;  ///< to record it
    Count each = 0;  ///< of each occurrence
  };
  struct Facts {
    Count occurrences = 0;  ///< in the whole run
    Count rows = 0;         ///< the same, those in a row as one
    std::uint64_t longest_row = 0;
    Cut cut;
    Cost in_parts;           ///< if its parts are recorded and not the rule itself
    bool is_better = false;  ///< the rule itself is
    bool is_open = false;    ///< its parts may be chosen
  };
  struct Chosen {
    Symbol symbol;
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

  /// The rule with its parts, which were compared before.
  void compare(std::uint32_t rule) {
    Facts& facts = facts_[rule];
    for (const Use& use : grammar_.rule(rule)) {
      facts.cut = joined(facts.cut, repeated(cut(use.symbol), use.times, least()), least());
      const Cost cost = is_wanted(use) ? cost_of(use) : cost_in_parts(use);
      facts.in_parts.once += cost.once;
      facts.in_parts.each += cost.each;
    }
    const Cost itself = cost_of({Symbol::rule(rule), 1});
    const Count times = facts.cut.is_cut ? facts.occurrences : facts.rows;
    facts.is_better = itself.once + times * itself.each <=
                      facts.in_parts.once + facts.occurrences * facts.in_parts.each;
  }
  /// If the symbol itself is recorded. A row is entered once, or each piece of it.
  [[nodiscard]] Cost cost_of(const Use& use) const {
    const Cut cut = closed(use.symbol);
    if (!cut.is_cut) return {cut.head, kEntry};
    return {cut.calls, counted(use.times) * (cut.other + cut.pieces * kEntry)};
  }
  [[nodiscard]] Cost cost_in_parts(const Use& use) const {
    const Cost one =
        use.symbol.is_rule() ? facts_[use.symbol.number()].in_parts : Cost{.once = 0, .each = 1};
    return {one.once, counted(use.times) * one.each};
  }

  [[nodiscard]] Call call(std::uint32_t event) const {
    return event < tokens_.size() ? tokens_[event] : Call();
  }
  [[nodiscard]] Count least() const { return counted(limits_.mining.least); }
  [[nodiscard]] Cut cut(Symbol symbol) const {
    if (symbol.is_rule()) return facts_[symbol.number()].cut;
    return call(symbol.number()) ? Cut{.head = 1} : Cut{.is_cut = true, .other = 1};
  }
  /// With its ends, which are one piece if it follows itself.
  [[nodiscard]] Cut closed(Symbol symbol) const {
    Cut all = cut(symbol);
    if (!all.is_cut) return all;
    if (follows_itself(symbol)) {
      all.add_piece(all.tail + all.head, least());
    } else {
      all.add_piece(all.head, least());
      all.add_piece(all.tail, least());
    }
    return all;
  }
  /// However it is turned, there is enough for a recording and a replay.
  [[nodiscard]] bool follows_itself(Symbol symbol) const {
    return symbol.is_rule() && facts_[symbol.number()].longest_row > 2;
  }
  [[nodiscard]] bool is_loop(std::uint64_t length, std::uint64_t row) const {
    return row > 2 * ((limits_.mining.least + length - 1) / length);
  }

  /// Whether it is proposed where it is used so.
  [[nodiscard]] bool is_wanted(const Use& use) const {
    const std::uint64_t length = grammar_.length(use.symbol);
    if (length > limits_.longest) return false;
    const Cut cut = closed(use.symbol);
    if (!use.symbol.is_rule()) return !cut.is_cut && is_loop(length, use.times);
    if (!facts_[use.symbol.number()].is_better) return false;
    return cut.is_cut ? cut.pieces > 0
                      : length >= limits_.mining.least || is_loop(length, use.times);
  }

  /// From the root down: what is chosen is not looked at further.
  void choose() {
    facts_[0].is_open = true;
    for (const std::uint32_t rule : by_length_) {
      if (!facts_[rule].is_open) continue;
      for (const Use& use : grammar_.rule(rule))
        if (is_wanted(use)) note(use, facts_[rule].occurrences);
        else if (use.symbol.is_rule()) facts_[use.symbol.number()].is_open = true;
    }
  }
  void note(const Use& use, Count occurrences) {
    Chosen& chosen = chosen_[{use.symbol.is_rule(), use.symbol.number()}];
    chosen.symbol = use.symbol;
    chosen.row = std::max(chosen.row, use.times);
    chosen.calls += occurrences * counted(use.times) * counted(grammar_.length(use.symbol));
  }

  void make(const Chosen& chosen, std::vector<MinedRepeat>& made) const {
    std::vector<Call> calls = unfolded(chosen.symbol);
    const auto count = static_cast<std::uint32_t>(std::min<Count>(
        chosen.calls / counted(calls.size()), std::numeric_limits<std::uint32_t>::max()));
    const auto first_cut = std::ranges::find(calls, Call());
    const bool is_cut = first_cut != calls.end();
    if (!is_cut && is_loop(calls.size(), chosen.row) && calls.size() <= limits_.mining.most)
      return made.push_back(loop(calls, count));
    if (is_cut && follows_itself(chosen.symbol)) std::ranges::rotate(calls, first_cut);
    for (std::span<const Call> rest = calls; !rest.empty();) {
      const auto cut = std::ranges::find(rest, Call());
      const auto length = static_cast<std::size_t>(cut - rest.begin());
      make_pieces(rest.first(length), count, made);
      rest = rest.subspan(std::min(length + 1, rest.size()));
    }
  }
  [[nodiscard]] MinedRepeat loop(std::span<const Call> body, std::uint32_t count) const {
    const Sample sample{tokens_of(body), std::vector(body.size(), Sample::analysed),
                        std::vector<Work>(body.size(), 1)};
    return repeat_of_loop(sample, 0, static_cast<std::uint32_t>(body.size()), count,
                          limits_.mining);
  }
  void make_pieces(std::span<const Call> calls, std::uint32_t count,
                   std::vector<MinedRepeat>& made) const {
    while (calls.size() >= limits_.mining.least) {
      const auto piece = calls.first(std::min(calls.size(), limits_.mining.most));
      made.push_back(repeat_of_stretch(tokens_of(piece), count));
      calls = calls.subspan(piece.size());
    }
  }

  [[nodiscard]] std::vector<Call> unfolded(Symbol symbol) const {
    std::vector<Call> calls;
    const auto add = [&](std::uint32_t event) { calls.push_back(call(event)); };
    if (symbol.is_rule()) grammar_.unfold(add, symbol.number());
    else add(symbol.number());
    return calls;
  }
  /// Of those that have one: here all of them.
  static std::vector<Token> tokens_of(std::span<const Call> calls) {
    std::vector<Token> tokens;
    tokens.reserve(calls.size());
    for (const Call& call : calls)
      if (call) tokens.push_back(*call);
    return tokens;
  }

  const Grammar& grammar_;
  std::span<const Call> tokens_;
  const ProposalLimits& limits_;
  std::vector<std::uint32_t> by_length_;
  std::vector<Facts> facts_;
  std::map<std::pair<bool, std::uint32_t>, Chosen> chosen_;  ///< events, then rules
};

}  // namespace

std::vector<MinedRepeat> proposals(const Grammar& grammar, std::span<const Call> tokens,
                                   const ProposalLimits& limits) {
  return Choice(grammar, tokens, limits).made();
}

}  // namespace refrain::autotrace
