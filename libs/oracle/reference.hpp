#pragma once
// The reference run, made ready to be followed and to be predicted from: its Grammar, and what is precomputed of it, so
// that moving through the run never unfolds it (PYTHIA, section II-B). A *position* is a use in a rule, by its number
// among Grammar::uses(); it stands for all places in the run that its unfolding gives.
//
// Immutable; any number of threads read it. Made in O(n log n) for n uses; beside the grammar 36 bytes per use, 236 at
// most per rule and 12 for each two events of which one comes right behind the other.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "oracle/grammar.hpp"

namespace refrain::oracle {

class Reference {
 public:
  /// InvalidGrammar with 2^32 - 1 uses or more.
  explicit Reference(Grammar grammar);

  [[nodiscard]] const Grammar& grammar() const { return grammar_; }
  [[nodiscard]] const Use& use(std::uint32_t position) const { return grammar_.uses()[position]; }
  /// The rule that a position is in.
  [[nodiscard]] std::uint32_t rule_of(std::uint32_t position) const { return rule_of_[position]; }
  /// How many events of its rule come before a position.
  [[nodiscard]] std::uint64_t before(std::uint32_t position) const { return before_[position]; }
  /// Is it the last of its rule?
  [[nodiscard]] bool is_last(std::uint32_t position) const { return before_[position + 1] == 0; }
  /// How many events of its rule come after all repetitions of a position.
  [[nodiscard]] std::uint64_t after(std::uint32_t position) const {
    return is_last(position) ? 0 : grammar_.length(rule_of_[position]) - before_[position + 1];
  }
  /// The position in a rule that holds its event of that number (from 0). O(log of the rule's uses).
  [[nodiscard]] std::uint32_t holding(std::uint32_t rule, std::uint64_t event) const;
  /// The run's event of that number (from 0). O(d log n) for a path of d uses.
  [[nodiscard]] std::uint32_t event(std::uint64_t number) const {
    return event(Symbol::rule(0), number);
  }

  /// The event of a symbol of that number (from 0); of several repetitions, if there are that many.
  [[nodiscard]] std::uint32_t event(Symbol symbol, std::uint64_t number) const;

  /// The first event of a symbol.
  [[nodiscard]] std::uint32_t first(Symbol symbol) const {
    return symbol.is_rule() ? first_[symbol.number()] : symbol.number();
  }
  /// How often a rule comes in the run. Rounded beyond 2^53.
  [[nodiscard]] double occurrences(std::uint32_t rule) const { return occurrences_[rule]; }
  /// How often a position comes in the run, each repetition counted.
  [[nodiscard]] double comes(std::uint32_t position) const {
    return occurrences_[rule_of_[position]] * static_cast<double>(use(position).times);
  }
  /// Did this event ever come? O(log of the number of events).
  [[nodiscard]] bool has(std::uint32_t event) const {
    return event < Symbol::kMost && !positions(Symbol::event(event)).empty();
  }
  /// The positions of a symbol that are in the run, those that come most often first. O(log of the number of events).
  [[nodiscard]] std::span<const std::uint32_t> positions(Symbol symbol) const;
  /// For each of these how often it and those before it come, together.
  [[nodiscard]] std::span<const double> added_up(std::span<const std::uint32_t> positions) const {
    return std::span(added_up_).subspan(
        static_cast<std::size_t>(positions.data() - positions_.data()), positions.size());
  }
  /// Where one event comes right behind another: at the beginning of a position that is not the first of its rule, or of
  /// a later repetition of a position.
  struct Succession {
    std::uint32_t position;
    bool repeated;
  };
  /// All that are in the run, those that come most often first; each of its places is of one of them. O(log n) for n
  /// pairs of events.
  [[nodiscard]] std::span<const Succession> successions(std::uint32_t event,
                                                        std::uint32_t next) const;
  /// A place in the run of a rule that is in it: how many events come before. `share`, from 0 to below 1: of all its
  /// places, of which kPlaces are known that are evenly spread.
  [[nodiscard]] std::uint64_t place(std::uint32_t rule, double share) const {
    return places_[rule][static_cast<std::size_t>(share * kPlaces)];
  }
  /// A rule has a smaller rank than the rules it uses.
  [[nodiscard]] std::uint32_t rank(std::uint32_t rule) const { return rank_[rule]; }

 private:
  static constexpr std::size_t kPlaces = 8;
  using Places = std::array<std::uint64_t, kPlaces>;
  /// The events of a rule that has so many are kept.
  static constexpr std::uint64_t kShort = 32;
  static constexpr std::uint32_t kLong = UINT32_MAX;

  void divide_root();
  void order_rules();
  void sort_positions();
  void unfold_short_rules();
  void sort_successions();
  void choose_places();
  using EventPair = std::pair<std::uint32_t, std::uint32_t>;
  [[nodiscard]] EventPair events_of(Succession of) const {
    const Symbol next = use(of.position).symbol;
    const Symbol before = of.repeated ? next : use(of.position - 1).symbol;
    return {before.is_rule() ? last_[before.number()] : before.number(), first(next)};
  }
  [[nodiscard]] Places places_of(std::uint32_t rule) const;

  Grammar grammar_;
  std::vector<std::uint32_t> rule_of_;
  std::vector<std::uint64_t> before_;  ///< and a 0 behind all: 0 is where a rule begins
  unsigned root_part_ = 0;
  std::vector<std::uint32_t>
      root_parts_;  ///< the position that holds the first of each 2^root_part_ events; the last
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> last_;  ///< events of rules, as first_
  std::vector<double> occurrences_;
  std::vector<std::uint32_t> rank_;
  struct Listed {
    std::uint32_t event;
    std::uint32_t begin;  ///< in positions_; ends where the next one's begin
  };
  std::vector<Listed> listed_;              ///< by event, and an end behind all
  std::vector<std::uint32_t> rules_begin_;  ///< where a rule's begin, and an end behind all
  std::vector<std::uint32_t> positions_;
  std::vector<double> added_up_;  ///< of a symbol's positions, up to each of positions_
  struct Pair {
    EventPair events;
    std::uint32_t begin;  ///< in successions_; ends where the next one's begin
  };
  std::vector<Pair> pairs_;  ///< by events, and an end behind all
  std::vector<Succession> successions_;
  std::vector<Places> places_;                 ///< of the rules that are in the run
  std::vector<std::uint32_t> unfolded_;        ///< the events of short rules
  std::vector<std::uint32_t> unfolded_begin_;  ///< where a rule's begin; kLong
};

}  // namespace refrain::oracle
