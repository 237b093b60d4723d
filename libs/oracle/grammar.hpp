#pragma once
// What a run did, as a grammar: rules whose symbols are events and other rules, each with how often it comes in a row
// (PYTHIA, section II-A). It says the whole sequence of events and nothing else. This is the finished form, which is
// in files and is predicted from; reduction.hpp makes it event by event.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace refrain::oracle {

/// An event, by its number (0, 1 ... in the order in which they first came), or a rule.
class Symbol {
 public:
  constexpr Symbol() = default;
  static constexpr Symbol event(std::uint32_t number) { return Symbol(number); }
  static constexpr Symbol rule(std::uint32_t number) { return Symbol(number | kRule); }

  [[nodiscard]] constexpr bool is_rule() const { return (word_ & kRule) != 0; }
  [[nodiscard]] constexpr std::uint32_t number() const { return word_ & ~kRule; }
  friend constexpr bool operator==(Symbol, Symbol) = default;

  /// There are fewer events, and fewer rules.
  static constexpr std::uint32_t kMost = 1u << 31;

 private:
  explicit constexpr Symbol(std::uint32_t word) : word_(word) {}
  static constexpr std::uint32_t kRule = 1u << 31;
  std::uint32_t word_ = 0;
};

/// A symbol in a rule: it comes `times` times, at least once.
struct Use {
  Symbol symbol;
  std::uint64_t times = 1;
  friend constexpr bool operator==(const Use&, const Use&) = default;
};

/// Immutable; any number of threads read it.
class Grammar {
 public:
  /// Of no events.
  Grammar() : begin_{0, 0}, length_{0} {}
  /// Rule 0 is the root. InvalidGrammar unless every rule that is used is there, no rule contains itself, rules but the
  /// root have at least one use, times are not 0, and no rule is longer than 2^63 events.
  explicit Grammar(const std::vector<std::vector<Use>>& rules);
  /// The same, with the uses of all rules one after the other. `begin`: where each rule's begin, and the end.
  static Grammar flat(std::vector<Use> uses, std::vector<std::size_t> begin);

  [[nodiscard]] std::size_t rules() const { return begin_.size() - 1; }
  [[nodiscard]] std::span<const Use> rule(std::uint32_t number) const {
    return std::span(uses_).subspan(begin_[number], begin_[number + 1] - begin_[number]);
  }
  /// Of all rules, one after the other.
  [[nodiscard]] std::span<const Use> uses() const { return uses_; }
  /// Where a rule's begin among them.
  [[nodiscard]] std::size_t begin(std::uint32_t number) const { return begin_[number]; }
  /// One more than the greatest number of an event.
  [[nodiscard]] std::uint32_t events() const { return events_; }
  /// How many events a rule stands for; the root: the whole run.
  [[nodiscard]] std::uint64_t length(std::uint32_t rule) const { return length_[rule]; }
  [[nodiscard]] std::uint64_t length(Symbol symbol) const {
    return symbol.is_rule() ? length_[symbol.number()] : 1;
  }

  /// Calls visit(event) for the whole sequence that a rule stands for.
  void unfold(const std::function<void(std::uint32_t event)>& visit, std::uint32_t rule = 0) const;
  /// The paper's notation, a line for each rule: "R -> A B^2 A", "A -> a b". `name`: of events; `behind`: what to say
  /// behind a use, by its number among uses().
  [[nodiscard]] std::string text(
      const std::function<std::string(std::uint32_t event)>& name,
      const std::function<std::string(std::size_t use)>& behind = {}) const;

  friend bool operator==(const Grammar&, const Grammar&) = default;

 private:
  void complete();

  std::vector<Use> uses_;
  std::vector<std::size_t> begin_;
  std::vector<std::uint64_t> length_;
  std::uint32_t events_ = 0;
};

}  // namespace refrain::oracle
