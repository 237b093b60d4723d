#include "oracle/grammar.hpp"

#include <algorithm>
#include <utility>

#include "oracle/error.hpp"

namespace refrain::oracle {

namespace {

[[noreturn]] void complain(std::size_t rule, const std::string& what) {
  throw InvalidGrammar("rule " + std::to_string(rule) + " " + what);
}

/// Rules in an order in which each comes after those it uses. Without recursion: rules may be nested as deep as there
/// are many.
std::vector<std::uint32_t> from_the_leaves(const Grammar& grammar) {
  enum class State : std::uint8_t { untouched, open, done };
  std::vector<State> state(grammar.rules(), State::untouched);
  std::vector<std::uint32_t> order;
  struct Visit {
    std::uint32_t rule;
    std::size_t next;  // among its uses
  };
  std::vector<Visit> path;
  const auto enter = [&](std::uint32_t rule) {
    state[rule] = State::open;
    path.push_back({rule, 0});
  };
  for (std::uint32_t rule = 0; rule < grammar.rules(); ++rule) {
    if (state[rule] == State::untouched) enter(rule);
    while (!path.empty()) {
      Visit& visit = path.back();
      const std::span<const Use> uses = grammar.rule(visit.rule);
      if (visit.next == uses.size()) {
        state[visit.rule] = State::done;
        order.push_back(visit.rule);
        path.pop_back();
        continue;
      }
      const Symbol symbol = uses[visit.next++].symbol;
      if (!symbol.is_rule()) continue;
      if (state[symbol.number()] == State::open) complain(symbol.number(), "contains itself");
      if (state[symbol.number()] == State::untouched) enter(symbol.number());
    }
  }
  return order;
}

}  // namespace

Grammar::Grammar(const std::vector<std::vector<Use>>& rules) : begin_{0} {
  for (const std::vector<Use>& rule : rules) {
    uses_.insert(uses_.end(), rule.begin(), rule.end());
    begin_.push_back(uses_.size());
  }
  complete();
}

Grammar Grammar::flat(std::vector<Use> uses, std::vector<std::size_t> begin) {
  Grammar grammar;
  grammar.uses_ = std::move(uses);
  grammar.begin_ = std::move(begin);
  grammar.complete();
  return grammar;
}

/// Checks the rules and finds how long they are.
void Grammar::complete() {
  length_.assign(rules(), 0);
  if (rules() == 0) throw InvalidGrammar("there is no root");
  if (rules() >= Symbol::kMost) throw InvalidGrammar("there are too many rules");
  for (std::uint32_t r = 0; r < rules(); ++r) {
    if (rule(r).empty() && r > 0) complain(r, "is empty");
    for (const Use& use : rule(r)) {
      if (use.times == 0) complain(r, "has a symbol that does not come");
      if (!use.symbol.is_rule()) events_ = std::max(events_, use.symbol.number() + 1);
      else if (use.symbol.number() >= rules() || use.symbol.number() == 0)
        complain(r, "uses rule " + std::to_string(use.symbol.number()) + ", which is not there");
    }
  }
  for (const std::uint32_t r : from_the_leaves(*this)) {
    for (const Use& use : rule(r)) {
      std::uint64_t all = 0;
      if (__builtin_mul_overflow(use.times, length(use.symbol), &all) ||
          __builtin_add_overflow(length_[r], all, &length_[r]) || length_[r] >> 63 != 0)
        complain(r, "is longer than 2^63 events");
    }
  }
}

void Grammar::unfold(const std::function<void(std::uint32_t)>& visit, std::uint32_t root) const {
  struct Place {
    std::uint32_t rule;
    std::size_t use;
    std::uint64_t time;  // of the use: how many have been
  };
  std::vector<Place> path{{root, 0, 0}};
  while (!path.empty()) {
    Place& at = path.back();
    const std::span<const Use> uses = rule(at.rule);
    if (at.use == uses.size()) {
      path.pop_back();
      continue;
    }
    const Use& use = uses[at.use];
    if (at.time == use.times) {
      ++at.use;
      at.time = 0;
      continue;
    }
    ++at.time;
    if (use.symbol.is_rule()) path.push_back({use.symbol.number(), 0, 0});
    else visit(use.symbol.number());
  }
}

std::string Grammar::text(const std::function<std::string(std::uint32_t)>& name,
                          const std::function<std::string(std::size_t)>& behind) const {
  // R, A, B ... Z, A1, B1 ...: Q comes before S, since R is the root.
  const auto rule_name = [](std::uint32_t number) {
    if (number == 0) return std::string("R");
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQSTUVWXYZ";
    const std::size_t letter = (number - 1) % letters.size(), round = (number - 1) / letters.size();
    return letters[letter] + (round == 0 ? std::string() : std::to_string(round));
  };
  std::string lines;
  std::size_t position = 0;
  for (std::uint32_t r = 0; r < rules(); ++r) {
    lines += rule_name(r) + " ->";
    for (const Use& use : rule(r)) {
      lines += ' ';
      lines += use.symbol.is_rule() ? rule_name(use.symbol.number()) : name(use.symbol.number());
      if (use.times > 1) lines += '^' + std::to_string(use.times);
      if (behind) lines += behind(position);
      ++position;
    }
    lines += '\n';
  }
  return lines;
}

}  // namespace refrain::oracle
