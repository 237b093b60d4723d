#include "oracle/reduction.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace refrain::oracle {

void Reduction::append(Symbol symbol) {
  for (;;) {
    const NodeIndex last = nodes_.previous(kRoot);
    const Symbol left = nodes_.symbol(last);
    if (left == symbol) return nodes_.give(last, 1);
    const NodeIndex there = couples_.find(left, symbol);
    if (there == Sequences::kNone) {
      nodes_.insert_after(last, symbol, 1);
      return meet(last);
    }
    const std::uint64_t times = std::min(nodes_[last].times, nodes_[there].times);
    if (is_whole_rule(there, times)) {
      take(last, times);
      symbol = Symbol::rule(nodes_.previous(there));
      if (nodes_.uses(left) == 1) expand(there);
    } else if (nodes_.uses(left) == 2) {
      return prolong(there);
    } else {
      take(last, times);
      symbol = make_rule(there, times);
    }
  }
}

/// Whether the couple, with so many of its left symbol and one of its right one, is all of a rule.
bool Reduction::is_whole_rule(NodeIndex there, std::uint64_t times) const {
  const NodeIndex guard = nodes_.previous(there), right = nodes_.next(there);
  return nodes_.is_guard(guard) && guard != kRoot && nodes_.next(right) == guard &&
         nodes_[there].times == times && nodes_[right].times == 1;
}

/// A rule of so many of the couple's left symbol and one of its right one, in their place.
Symbol Reduction::make_rule(NodeIndex there, std::uint64_t times) {
  const NodeIndex right = nodes_.next(there);
  const Symbol rule = nodes_.make_rule();
  const NodeIndex first = nodes_.insert_after(rule.number(), nodes_.symbol(there), times);
  nodes_.insert_after(first, nodes_.symbol(right), 1);
  couples_.hand_over(there, first);
  const NodeIndex made = nodes_.insert_after(there, rule, 1);
  take(there, times);
  take(right, 1);
  meet(nodes_.previous(made));
  meet(made);
  return rule;
}

/// The couple's left symbol is a rule that has its other use at the end of the root: one of the right symbol has come,
/// which is to go over to the rule's end (catch_up_outside). As if a new rule had been made and the left one, with one use
/// left, had been expanded in it.
void Reduction::prolong(NodeIndex there) {
  prolonged_ = there;
  expected_ = nodes_.next(there);
  times_come_ = 0;
  count_expected();
}

/// add_expected() of all other events that can be expected. Not of the last one of the sequence that the prolonged rule
/// is in: with it that ends, and it may be a whole rule.
bool Reduction::go_ahead(std::uint32_t event) {
  const Node& expected = nodes_[expected_];
  if (nodes_.is_guard(expected_)) return false;
  if (depth_ == 0 && nodes_.is_guard(expected.next) && times_come_ + 1 == expected.times)
    return false;
  const Symbol symbol = Symbol::event(event);
  if (expected.symbol.is_rule() ? !go_into_rules(symbol) : expected.symbol != symbol) return false;
  ++events_;
  count_expected();
  return true;
}

/// A rule is expected: goes down to its first event, if that is this one. False: it is not, or it is too deep, or what is
/// before it is used elsewhere.
bool Reduction::go_into_rules(Symbol event) {
  unsigned deep = depth_;
  NodeIndex first = expected_;
  for (; nodes_.symbol(first).is_rule(); ++deep) {
    if (deep == kDeepest) return false;
    first = nodes_.next(nodes_.symbol(first).number());
  }
  if (nodes_.symbol(first) != event || !is_behind_new_rule()) return false;
  for (; expected_ != first; times_come_ = 0) {
    within_[depth_++] = {expected_, times_come_};
    expected_ = nodes_.next(nodes_.symbol(expected_).number());
  }
  return true;
}

/// Whether, step by step, a rule would be at the end of the root by now that is used there and in the place of what has
/// come only. Otherwise it is the first symbol of a rule.
bool Reduction::is_behind_new_rule() const {
  if (depth_ == 0) return true;
  const NodeIndex before = nodes_.previous(expected_);
  if (nodes_.is_guard(before)) return false;
  return times_come_ > 0 || !nodes_.is_guard(nodes_.previous(before));
}

/// What is expected has come once more.
void Reduction::count_expected() {
  ++times_come_;
  while (times_come_ == nodes_[expected_].times) {
    expected_ = nodes_.next(expected_);
    times_come_ = 0;
    if (depth_ == 0 || !nodes_.is_guard(expected_)) return;
    const Outer& outer = within_[--depth_];
    expected_ = outer.node;
    times_come_ = outer.times_come + 1;
  }
}

/// What was put off is done. As the symbols of rules come as if they had come step by step, those that have come as a
/// whole are taken as such.
void Reduction::catch_up() {
  if (expected_ == kNothing) return;
  partly_.clear();
  for (unsigned d = 0; d < depth_; ++d) {
    const auto [node, times] = d + 1 < depth_ ? within_[d + 1] : Outer{expected_, times_come_};
    NodeIndex come = nodes_.next(nodes_.symbol(within_[d].node).number());
    for (; come != node; come = nodes_.next(come))
      partly_.push_back({nodes_.symbol(come), nodes_[come].times});
    if (times > 0) partly_.push_back({nodes_.symbol(node), times});
  }
  if (depth_ > 0) expected_ = within_[0].node, times_come_ = within_[0].times_come;
  depth_ = 0;
  catch_up_outside();
  for (const Use& use : partly_) {
    for (std::uint64_t time = 0; time < use.times; ++time) {
      append(use.symbol);
      catch_up_outside();
    }
  }
}

/// What is between the prolonged rule and what is expected, in no other rule, goes over to the rule's end.
void Reduction::catch_up_outside() {
  if (expected_ == kNothing) return;
  const NodeIndex first = nodes_.next(prolonged_), rest = std::exchange(expected_, kNothing);
  const NodeIndex rule = nodes_.symbol(prolonged_).number();
  if (first != rest) {
    const NodeIndex end = nodes_.previous(rule), last = nodes_.previous(rest);
    couples_.forget(prolonged_);
    couples_.forget(last);
    nodes_.move_after(end, first, last);
    meet(end);
    meet(prolonged_);
  }
  if (times_come_ == 0) return;
  const NodeIndex end = nodes_.previous(rule);
  nodes_.insert_after(end, nodes_.symbol(rest), times_come_);
  nodes_.take(rest, times_come_);
  meet(end);
}

/// The only use of a rule gives way to its sequence.
void Reduction::expand(NodeIndex only_use) {
  couples_.forget(only_use);
  const NodeIndex last = nodes_.previous(nodes_.symbol(only_use).number());
  nodes_.expand(only_use);
  meet(last);
}

/// A node has a new neighbour on its right, with which no other has a couple.
void Reduction::meet(NodeIndex left) {
  const NodeIndex right = nodes_.next(left);
  if (nodes_.is_guard(left) || nodes_.is_guard(right)) return;
  if (nodes_.symbol(left) != nodes_.symbol(right)) return couples_.enter(left);
  if (couples_.has(right)) couples_.hand_over(right, left);
  const std::uint64_t times = nodes_[right].times;
  nodes_.take(right, times);
  nodes_.give(left, times);
}

/// So many times less; what was beside a node that is gone is not entered with it any more.
void Reduction::take(NodeIndex node, std::uint64_t times) {
  if (nodes_[node].times == times) {
    couples_.forget(nodes_.previous(node));
    couples_.forget(node);
  }
  nodes_.take(node, times);
}

Grammar Reduction::grammar() {
  catch_up();
  std::vector<std::uint32_t> number(nodes_.end(), Sequences::kNone);
  std::vector<NodeIndex> guards{kRoot};
  number[kRoot] = 0;
  std::vector<Use> uses;
  std::vector<std::size_t> begin;
  uses.reserve(nodes_.symbols());
  begin.reserve(nodes_.rules() + 1);
  for (std::size_t r = 0; r < guards.size(); ++r) {
    begin.push_back(uses.size());
    for (NodeIndex node = nodes_.next(guards[r]); node != guards[r]; node = nodes_.next(node)) {
      Symbol symbol = nodes_.symbol(node);
      if (symbol.is_rule()) {
        std::uint32_t& rule = number[symbol.number()];
        if (rule == Sequences::kNone) {
          rule = static_cast<std::uint32_t>(guards.size());
          guards.push_back(symbol.number());
        }
        symbol = Symbol::rule(rule);
      }
      uses.push_back({symbol, nodes_[node].times});
    }
  }
  begin.push_back(uses.size());
  return Grammar::flat(std::move(uses), std::move(begin));
}

void Reduction::check_invariants() const {
  const auto hold = [](bool condition, const char* sentence) {
    if (!condition) throw std::logic_error(sentence);
  };
  std::vector<bool> met(nodes_.end());
  std::vector<std::uint64_t> uses(nodes_.end());
  std::vector<NodeIndex> guards{kRoot};
  met[kRoot] = true;
  std::size_t symbols = 0, entered = 0;
  for (std::size_t r = 0; r < guards.size(); ++r) {
    const NodeIndex guard = guards[r];
    hold(nodes_.is_guard(guard) && !couples_.has(guard), "a rule has a guard");
    for (NodeIndex node = nodes_.next(guard); node != guard; node = nodes_.next(node)) {
      const Node& at = nodes_[node];
      hold(!nodes_.is_guard(node) && at.times > 0, "a sequence is of symbols");
      hold(!met[node], "a node is in one sequence");
      met[node] = true;
      ++symbols;
      if (at.symbol.is_rule()) uses[at.symbol.number()] += at.times;
      hold(nodes_[at.previous].next == node && nodes_[at.next].previous == node,
           "sequences are linked both ways");
      const bool couple = !nodes_.is_guard(at.next);
      hold(couples_.has(node) == couple, "all couples are entered, and nothing else");
      hold(!couple || couples_.find(at.symbol, nodes_.symbol(at.next)) == node,
           "a couple is found where it is");
      entered += couple ? 1 : 0;
      if (!at.symbol.is_rule() || met[at.symbol.number()]) continue;
      met[at.symbol.number()] = true;
      guards.push_back(at.symbol.number());
    }
  }
  for (const NodeIndex guard : guards) hold(nodes_[guard].times == uses[guard], "uses are counted");
  hold(symbols == nodes_.symbols() && guards.size() == nodes_.rules(), "all is counted");
  hold(entered == couples_.size(), "couples are counted");
}

}  // namespace refrain::oracle
