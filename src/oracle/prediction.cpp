#include "oracle/prediction.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace refrain::oracle {

namespace {

constexpr std::uint64_t kNever = UINT64_MAX;

/// Behind the last position of a rule.
std::uint32_t end(const Reference& reference, std::uint32_t rule) {
  const Grammar& grammar = reference.grammar();
  return static_cast<std::uint32_t>(grammar.begin(rule) + grammar.rule(rule).size());
}

/// How many events of a rule come before a position in it, or before its end.
std::uint64_t before(const Reference& reference, std::uint32_t rule, std::uint32_t position) {
  return position == end(reference, rule) ? reference.grammar().length(rule)
                                          : reference.before(position);
}

// A goal says how many events come before it: repeated(), if a position were repeated for ever; rest(), in a rule
// from a position on. At least as many as there are, or kNever: it is not there. `gone`: what has gone by until then.

struct AtDistance {
  std::uint64_t distance;

  [[nodiscard]] std::uint64_t repeated(std::uint32_t, std::uint64_t gone) const {
    return distance - gone - 1;
  }
  [[nodiscard]] std::uint64_t rest(std::uint32_t, std::uint32_t, std::uint64_t gone) const {
    return distance - gone - 1;
  }
  static std::uint64_t key(std::uint64_t, std::uint32_t event) { return event; }
};

struct NextOf {
  const Reference& reference;
  const Containing& containing;

  [[nodiscard]] std::uint64_t repeated(std::uint32_t position, std::uint64_t) const {
    const auto found = containing.first(position, position + 1);
    return found ? found->offset : kNever;
  }
  [[nodiscard]] std::uint64_t rest(std::uint32_t rule, std::uint32_t from, std::uint64_t) const {
    const auto found = containing.first(from, end(reference, rule));
    if (!found) return kNever;
    return reference.before(found->position) - before(reference, rule, from) + found->offset;
  }
  static std::uint64_t key(std::uint64_t distance, std::uint32_t) { return distance; }
};

}  // namespace

void Future::turn_to(const Reference& reference, const Delays* delays) {
  reference_ = &reference;
  delays_ = delays;
  containing_.clear();
  kept_ = 0;
}

Prediction Future::predict(std::span<const Progress> sequences, std::uint64_t distance) {
  assert(distance > 0 && "what comes later is asked for");
  explore(sequences, AtDistance{distance});
  Prediction prediction{std::nullopt, 0, end_, 0};
  if (const Outcome* const best = most_probable()) {
    prediction.event = static_cast<std::uint32_t>(best->key);
    prediction.probability = best->probability;
    prediction.delay = best->delay / best->probability;
  }
  return prediction;
}

Occurrence Future::next(std::span<const Progress> sequences, std::uint32_t event) {
  if (sequences.empty()) return {};
  if (!reference_->has(event)) return {0, 0, 1, 0};
  explore(sequences, NextOf{*reference_, containing(event)});
  Occurrence occurrence{0, 0, end_, 0};
  if (const Outcome* const best = most_probable())
    occurrence = {best->key, best->probability, end_, best->delay / best->probability};
  return occurrence;
}

template <class Goal>
void Future::explore(std::span<const Progress> sequences, const Goal& goal) {
  branches_.clear();
  outcomes_.clear();
  end_ = 0;
  if (sequences.size() == 1) {
    begin(sequences[0], goal);
  } else {
    double all = 0;
    for (const Progress& sequence : sequences) all += sequence.weight(*reference_);
    for (const Progress& sequence : sequences)
      push({sequence.weight(*reference_) / all, 0, 0, &sequence, sequence.levels().size() - 1,
            sequence.levels().back()});
  }
  for (std::size_t left = limits_.branches; left > 0 && !branches_.empty(); --left) {
    std::ranges::pop_heap(branches_, std::less(), &Branch::probability);
    const Branch branch = branches_.back();
    branches_.pop_back();
    follow(branch, goal);
  }
}

template <class Goal>
void Future::begin(const Progress& sequence, const Goal& goal) {
  const std::span<const Level> levels = sequence.levels();
  Branch branch{1, 0, 0, &sequence, 0, {}};
  if (levels.empty()) {
    if (!finish_rule(branch, 0, 0, goal)) end_ = 1;
    return;
  }
  branch.level = levels.size() - 1;
  branch.at = levels.back();
  follow(branch, goal);
}

template <class Goal>
void Future::follow(Branch branch, const Goal& goal) {
  while (finish_repetitions(branch, goal)) {
    const std::uint32_t rule = reference_->rule_of(branch.at.position);
    if (finish_rule(branch, rule, branch.at.position + 1, goal)) return;
    if (branch.level == 0) {
      if (rule == 0) end_ += branch.probability;
      else branch_around(branch, rule);
      return;
    }
    branch.at = branch.sequence->levels()[--branch.level];
  }
}

/// Goes behind the last repetition. False: nothing is left to be followed here.
template <class Goal>
bool Future::finish_repetitions(Branch& branch, const Goal& goal) {
  const std::uint32_t position = branch.at.position;
  const Use& use = reference_->use(position);
  const auto [exactly, more] = repetitions_left(*reference_, branch.at);
  if (more == 0) return true;
  const std::uint64_t offset = goal.repeated(position, branch.distance);
  const std::uint64_t length = reference_->grammar().length(use.symbol);
  const std::uint64_t whole = offset == kNever ? more : std::min(offset / length, more);
  if (exactly) {
    if (whole < more) arrive(branch, context(branch, position, true), offset, goal);
    else repeat(branch, more);
    return whole == more;
  }
  // It is as probable for any number of repetitions up to `more` to come: from the one on that has the goal, it is
  // arrived at; with fewer the use is left before.
  const double each = branch.probability / (static_cast<double>(more) + 1);
  branch.at = {position, true, use.times - 1};
  if (whole < more) {
    Branch inside = branch;
    inside.probability = each * static_cast<double>(more - whole);
    arrive(inside, context(branch, position, true), offset, goal);
  }
  const std::uint64_t parts = std::min<std::uint64_t>(whole + 1, limits_.spread);
  std::uint64_t least = 0;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const std::uint64_t size = (whole + 1) / parts + (part < (whole + 1) % parts ? 1 : 0);
    Branch left = branch;
    left.probability = each * static_cast<double>(size);
    repeat(left, least + (size - 1) / 2);
    least += size;
    push(left);
  }
  return false;
}

/// Goes behind what a rule has from a position on. True: the goal is there.
template <class Goal>
bool Future::finish_rule(Branch& branch, std::uint32_t rule, std::uint32_t from, const Goal& goal) {
  const std::uint64_t begin = before(*reference_, rule, from);
  const std::uint64_t rest = reference_->grammar().length(rule) - begin;
  if (rest == 0) return false;
  const std::uint64_t offset = goal.rest(rule, from, branch.distance);
  if (offset >= rest) {
    branch.distance += rest;
    pass(branch, context(branch, from), rule, end(*reference_, rule));
    return false;
  }
  const std::uint32_t position = reference_->holding(rule, begin + offset);
  const std::uint64_t skipped = reference_->before(position) - begin;
  branch.distance += skipped;
  pass(branch, context(branch, from), rule, position);
  arrive(branch, context(branch, position), offset - skipped, goal);
  return true;
}

/// The goal comes after `offset` events of the repetitions of the context's position.
template <class Goal>
void Future::arrive(Branch branch, Delays::Context at, std::uint64_t offset, const Goal& goal) {
  const std::uint64_t distance = branch.distance + offset + 1;
  for (;;) {
    const Symbol symbol = reference_->use(at.position).symbol;
    if (!symbol.is_rule()) {
      branch.delay += expected(at, offset + 1);
      count(goal.key(distance, symbol.number()), branch);
      return;
    }
    const std::uint32_t rule = symbol.number();
    const std::uint64_t length = reference_->grammar().length(rule), whole = offset / length;
    branch.delay += expected(at, whole);
    offset %= length;
    const std::uint32_t inner = reference_->holding(rule, offset);
    offset -= reference_->before(inner);
    const auto first = static_cast<std::uint32_t>(reference_->grammar().begin(rule));
    const bool again = at.again || whole > 0;
    pass(branch, {first, at.position, at.around, again}, rule, inner);
    at = {inner, at.position, at.around, again && inner == first};
  }
}

/// So many more repetitions go by.
void Future::repeat(Branch& branch, std::uint64_t times) const {
  const std::uint32_t position = branch.at.position;
  branch.distance += times * reference_->grammar().length(reference_->use(position).symbol);
  branch.delay += expected(context(branch, position, true), times);
}

/// For so many repetitions of a position.
double Future::expected(Delays::Context at, std::uint64_t times) const {
  if (delays_ == nullptr || times == 0) return 0;
  const auto once = [&] {
    return reference_->use(at.position).symbol.is_rule()
               ? delays_->repetition(at.position, at.again)
               : delays_->mean(at);
  };
  const double first = once();
  if (times == 1) return first;
  at.again = true;
  return first + static_cast<double>(times - 1) * once();
}

/// What a rule has from a position on, of which the context is known, to before another goes by.
void Future::pass(Branch& branch, Delays::Context at, std::uint32_t rule, std::uint32_t to) const {
  if (delays_ == nullptr) return;
  for (; at.position < to && branch.looked_up < kLookedUp; ++at.position, ++branch.looked_up) {
    branch.delay += expected(at, reference_->use(at.position).times);
    at.again = false;
  }
  if (at.position == to) return;
  const double all = to == end(*reference_, rule) ? delays_->rule(rule) : delays_->before(to);
  branch.delay += all - delays_->before(at.position);
}

/// An outermost rule has ended.
void Future::branch_around(const Branch& branch, std::uint32_t rule) {
  const auto positions = reference_->positions(Symbol::rule(rule));
  for (const std::uint32_t position :
       positions.first(std::min(positions.size(), limits_.branches))) {
    const double share = reference_->comes(position) / reference_->occurrences(rule);
    push({branch.probability * share,
          branch.distance,
          branch.delay,
          nullptr,
          0,
          {position, false, 0}});
  }
}

void Future::push(const Branch& branch) {
  branches_.push_back(branch);
  std::ranges::push_heap(branches_, std::less(), &Branch::probability);
}

void Future::count(std::uint64_t key, const Branch& branch) {
  auto found = std::ranges::find(outcomes_, key, &Outcome::key);
  if (found == outcomes_.end()) found = outcomes_.insert(found, {key, 0, 0});
  found->probability += branch.probability;
  found->delay += branch.probability * branch.delay;
}

/// What is around a position of the rule that the branch is in.
Delays::Context Future::context(const Branch& branch, std::uint32_t position, bool again) const {
  Delays::Context context{.position = position, .again = again};
  if (branch.level > 0) context.around = branch.sequence->levels()[branch.level - 1].position;
  if (branch.level > 1) context.outermost = branch.sequence->levels()[branch.level - 2].position;
  return context;
}

const Future::Outcome* Future::most_probable() const {
  const Outcome* best = nullptr;
  for (const Outcome& outcome : outcomes_) {
    if (best == nullptr || outcome.probability > best->probability ||
        (outcome.probability == best->probability && outcome.key < best->key))
      best = &outcome;
  }
  return best;
}

const Containing& Future::containing(std::uint32_t event) {
  if (const auto known = containing_.find(event); known != containing_.end()) return known->second;
  Containing made(*reference_, event);
  if (kept_ + made.size() > 2 * reference_->grammar().uses().size()) {
    containing_.clear();
    kept_ = 0;
  }
  kept_ += made.size();
  return containing_.emplace(event, std::move(made)).first->second;
}

}  // namespace refrain::oracle
