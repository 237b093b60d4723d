#include "oracle/prediction.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "oracle/sorted_search.hpp"

namespace refrain::oracle {

namespace {

constexpr std::uint64_t kNever = UINT64_MAX;
/// Of Branch::looked_up: nothing is.
constexpr std::uint32_t kSummedUp = UINT32_MAX;

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
  // The number of the goal in the run, from that of an event on; and if the last loop went on for ever.
  [[nodiscard]] std::uint64_t in_run(std::uint64_t next, std::uint64_t gone) const {
    return next + (distance - gone - 1);
  }
  [[nodiscard]] std::uint64_t in_loop(const LastLoop&, std::uint64_t next,
                                      std::uint64_t gone) const {
    return in_run(next, gone);
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
  [[nodiscard]] std::uint64_t in_run(std::uint64_t next, std::uint64_t) const {
    return containing.first_from(reference, next).value_or(kNever);
  }
  [[nodiscard]] std::uint64_t in_loop(const LastLoop& loop, std::uint64_t next,
                                      std::uint64_t gone) const {
    if (const std::uint64_t number = in_run(next, gone); number < loop.end) return number;
    const std::uint64_t number = in_run(loop.end - loop.period, gone);
    return number < loop.end ? number + loop.period : kNever;
  }
  static std::uint64_t key(std::uint64_t distance, std::uint32_t) { return distance; }
};

}  // namespace

void Future::turn_to(const Reference& reference, const Delays* delays) {
  reference_ = &reference;
  delays_ = delays;
  last_loop_ = limits_.goes_on ? last_loop(reference.grammar()) : std::nullopt;
  containing_.clear();
  kept_ = 0;
}

Prediction Future::predict(std::span<const Progress> sequences, std::uint64_t distance) {
  assert(distance > 0 && "what comes later is asked for");
  explore(sequences, AtDistance{distance});
  const auto [key, probability, end, delay] = most_probable();
  if (probability == 0) return {std::nullopt, 0, end, 0};
  return {static_cast<std::uint32_t>(key), probability, end, delay};
}

Occurrence Future::next(std::span<const Progress> sequences, std::uint32_t event) {
  if (sequences.empty()) return {};
  if (!reference_->has(event)) return {0, 0, 1, 0};
  explore(sequences, NextOf{*reference_, containing(event)});
  return most_probable();
}

template <class Goal>
void Future::explore(std::span<const Progress> sequences, const Goal& goal) {
  branches_.clear();
  outcomes_.clear();
  end_ = 0;
  chance_ = 0.5;
  if (sequences.size() == 1) {
    begin(sequences[0], goal);
  } else {
    weights_.clear();
    double all = 0;
    for (const Progress& sequence : sequences)
      all += weights_.emplace_back(sequence.weight(*reference_));
    double passed_over = chance() * least_;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const double probability = probability_of(weights_[i] / all, passed_over);
      if (probability == 0) continue;
      const std::span<const Level> levels = sequences[i].levels();
      branches_.push_back({probability, 0, 0, &sequences[i], levels.size() - 1, levels.back(),
                           probability > least_ ? 0 : kSummedUp});
    }
  }
  while (!branches_.empty()) {
    Branch branch = branches_.back();
    branches_.pop_back();
    follow(branch, goal);
  }
}

template <class Goal>
void Future::begin(const Progress& sequence, const Goal& goal) {
  const std::span<const Level> levels = sequence.levels();
  Branch branch{1, 0, 0, &sequence, 0, {}};
  if (levels.empty()) {
    if (!finish_rule(branch, 0, 0, goal)) end_ = branch.probability;
    return;
  }
  branch.level = levels.size() - 1;
  branch.at = levels.back();
  follow(branch, goal);
}

template <class Goal>
void Future::follow(Branch& branch, const Goal& goal) {
  while (finish_repetitions(branch, goal)) {
    const std::uint32_t rule = reference_->rule_of(branch.at.position);
    const bool has_ended = rule != 0 && reference_->is_last(branch.at.position);
    if (!has_ended && finish_rule(branch, rule, branch.at.position + 1, goal)) return;
    if (branch.level == 0) {
      if (rule == 0) end_ += branch.probability;
      else branch_around(branch, rule, goal);
      return;
    }
    branch.at = branch.sequence->levels()[--branch.level];
  }
}

/// Goes behind the last repetition. False: nothing is left to be followed here.
template <class Goal>
bool Future::finish_repetitions(Branch& branch, const Goal& goal) {
  const std::uint32_t position = branch.at.position;
  const auto [exactly, more] = repetitions_left(*reference_, branch.at);
  if (more == 0) return true;
  const std::uint64_t offset = goal.repeated(position, branch.distance);
  const std::uint64_t length = reference_->grammar().length(reference_->use(position).symbol);
  const std::uint64_t whole = offset < length ? 0 : std::min(offset / length, more);  // never: more
  if (!exactly) return finish_some_repetitions(branch, more, whole, offset, goal);
  if (whole < more) arrive(branch, context(branch, position, true), offset, goal);
  else repeat(branch, more);
  return whole == more;
}

/// It is as probable for any number of repetitions up to `more` to come: from the one on that has the goal, it is
/// arrived at; with fewer the use is left before. `whole`: so many come before the one with the goal, if it is there.
/// True: the branch is behind the last repetition; false: nothing is left to be followed here.
template <class Goal>
bool Future::finish_some_repetitions(Branch& branch, std::uint64_t more, std::uint64_t whole,
                                     std::uint64_t offset, const Goal& goal) {
  const std::uint32_t position = branch.at.position;
  branch.at = {position, true, reference_->use(position).times - 1};
  const double numbers = static_cast<double>(more) + 1;
  if (branch.probability <= least_) {
    const auto repetitions = std::min(static_cast<std::uint64_t>(chance() * numbers), more);
    if (repetitions <= whole) repeat(branch, repetitions);
    else arrive(branch, context(branch, position, true), offset, goal);
    return repetitions <= whole;
  }
  const double each = branch.probability / numbers;
  if (whole < more) {
    Branch inside = branch;
    inside.probability = each * static_cast<double>(more - whole);
    arrive(inside, context(branch, position, true), offset, goal);
  }
  const auto followed = static_cast<std::uint64_t>(branch.probability / least_);
  const std::uint64_t parts =
      std::min({whole + 1, limits_.spread, std::max(followed, std::uint64_t{1})});
  double passed_over = chance() * least_;
  std::uint64_t least = 0;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const std::uint64_t size = (whole + 1) / parts + (part < (whole + 1) % parts ? 1 : 0);
    const double probability = probability_of(each * static_cast<double>(size), passed_over);
    if (probability > 0) {
      Branch left = branch;
      left.probability = probability;
      if (probability <= least_) left.looked_up = kSummedUp;
      repeat(left, least + (size - 1) / 2);
      branches_.push_back(left);
    }
    least += size;
  }
  return false;
}

/// Goes behind what a rule has from a position on. True: the goal is there.
template <class Goal>
bool Future::finish_rule(Branch& branch, std::uint32_t rule, std::uint32_t from, const Goal& goal) {
  const std::uint64_t begin = before(*reference_, rule, from);
  if (rule == 0) go_on(branch, begin, goal);
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

/// The branch is before the run's event `next`. Where the goal is behind the last loop, and the branch began before its
/// end, the run may go on in the loop: this part of the branch has the goal there.
template <class Goal>
void Future::go_on(Branch& branch, std::uint64_t next, const Goal& goal) {
  if (!last_loop_) return;
  const auto [loop_end, period] = *last_loop_;
  if (next > loop_end && next - loop_end > branch.distance) return;
  const std::uint64_t number = goal.in_loop(*last_loop_, next, branch.distance);
  if (number == kNever || number < loop_end) return;
  const std::uint64_t rounds = 1 + (number - loop_end) / period;
  const std::uint64_t same = number - rounds * period;
  Branch inside = branch;
  inside.probability = branch.probability * kGoesOn;
  branch.probability -= inside.probability;
  const std::uint64_t distance = branch.distance + number + 1 - next;
  if (delays_ != nullptr) {
    const double round = delay_before(loop_end) - delay_before(loop_end - period);
    inside.delay +=
        delay_before(same + 1) - delay_before(next) + static_cast<double>(rounds) * round;
    inside.delay = std::max(inside.delay, 0.0);
  }
  count(goal.key(distance, reference_->event(same)), inside);
}

/// The branch is before the run's event `next`.
template <class Goal>
void Future::finish_run(Branch& branch, std::uint64_t next, const Goal& goal) {
  go_on(branch, next, goal);
  const std::uint64_t number = goal.in_run(next, branch.distance);
  if (number >= reference_->grammar().length(0)) {
    end_ += branch.probability;
    return;
  }
  if (delays_ != nullptr) branch.delay += delay_before(number + 1) - delay_before(next);
  count(goal.key(branch.distance + number + 1 - next, reference_->event(number)), branch);
}

/// The goal comes after `offset` events of the repetitions of the context's position.
template <class Goal>
void Future::arrive(Branch branch, Delays::Context at, std::uint64_t offset, const Goal& goal) {
  const std::uint64_t distance = branch.distance + offset + 1;
  if (delays_ == nullptr) {
    const Symbol symbol = reference_->use(at.position).symbol;
    return count(goal.key(distance, reference_->event(symbol, offset)), branch);
  }
  for (;;) {
    const Symbol symbol = reference_->use(at.position).symbol;
    if (!symbol.is_rule()) {
      if (delays_ != nullptr) branch.delay += expected(branch, at, offset + 1);
      count(goal.key(distance, symbol.number()), branch);
      return;
    }
    const std::uint32_t rule = symbol.number();
    const std::uint64_t length = reference_->grammar().length(rule);
    const std::uint64_t whole = offset < length ? 0 : offset / length;
    if (delays_ != nullptr) branch.delay += expected(branch, at, whole);
    offset -= whole * length;
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
  if (delays_ != nullptr) branch.delay += expected(branch, context(branch, position, true), times);
}

/// For so many repetitions of a position.
double Future::expected(const Branch& branch, Delays::Context at, std::uint64_t times) const {
  if (times == 0) return 0;
  const auto once = [&] {
    return branch.looked_up == kSummedUp || reference_->use(at.position).symbol.is_rule()
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
    branch.delay += expected(branch, at, reference_->use(at.position).times);
    at.again = false;
  }
  if (at.position == to) return;
  const double all = to == end(*reference_, rule) ? delays_->rule(rule) : delays_->before(to);
  branch.delay += all - delays_->before(at.position);
}

/// An outermost rule has ended.
template <class Goal>
void Future::branch_around(Branch& branch, std::uint32_t rule, const Goal& goal) {
  if (branch.probability <= least_) {
    const std::uint64_t place = reference_->place(rule, chance());
    return finish_run(branch, place + reference_->grammar().length(rule), goal);
  }
  const auto positions = reference_->positions(Symbol::rule(rule));
  const auto added_up = reference_->added_up(positions);
  const double all = added_up.back();
  const auto branch_at = [&](std::size_t use, double probability) {
    branches_.push_back({probability,
                         branch.distance,
                         branch.delay,
                         nullptr,
                         0,
                         {positions[use], false, 0},
                         probability > least_ ? branch.looked_up : kSummedUp});
  };
  std::size_t use = 0;
  double gone = 0;
  for (; use < positions.size(); gone = added_up[use++]) {
    const double probability = branch.probability * (added_up[use] - gone) / all;
    if (probability < least_) break;  // as are those that follow
    branch_at(use, probability);
  }
  if (use == positions.size()) return;
  const double step = all * least_ / branch.probability;
  for (double at = gone + chance() * step; at < added_up.back(); at += step) {
    if (added_up[use] <= at) use += last_not_above(added_up.subspan(use), at) + 1;
    branch_at(use, least_);
  }
}

/// The probability that a branch is followed with: its own, or that of one of the sample. 0: it is not followed.
/// `passed_over`: the probability of those that were not, of the ones it stands beside.
double Future::probability_of(double probability, double& passed_over) const {
  if (probability >= least_) return probability;
  passed_over += probability;
  if (passed_over < least_) return 0;
  passed_over -= least_;
  return least_;
}

/// Numbers between 0 and 1 that are spread evenly, however many are taken.
double Future::chance() {
  constexpr double golden = 0.6180339887498949;
  chance_ += golden;
  if (chance_ >= 1) chance_ -= 1;
  return chance_;
}

void Future::count(std::uint64_t key, const Branch& branch) {
  auto found = std::ranges::find(outcomes_, key, &Outcome::key);
  if (found == outcomes_.end()) found = outcomes_.insert(found, {key, 0, 0});
  found->probability += branch.probability;
  found->delay += branch.probability * branch.delay;
}

/// Of the first so many events of the run.
double Future::delay_before(std::uint64_t event) const {
  double delay = 0;
  bool again = false;
  const Grammar& grammar = reference_->grammar();
  for (std::uint32_t rule = 0; event > 0;) {
    if (event == grammar.length(rule)) return delay + delays_->rule(rule);
    const std::uint32_t position = reference_->holding(rule, event);
    const Symbol symbol = reference_->use(position).symbol;
    event -= reference_->before(position);
    delay += delays_->before(position);
    const std::uint64_t whole = event / grammar.length(symbol);
    event %= grammar.length(symbol);
    if (whole > 0) {
      delay += delays_->repetition(position, again) +
               static_cast<double>(whole - 1) * delays_->repetition(position, true);
    }
    again = whole > 0;
    if (!symbol.is_rule()) break;
    rule = symbol.number();
  }
  return delay;
}

/// What is around a position of the rule that the branch is in.
Delays::Context Future::context(const Branch& branch, std::uint32_t position, bool again) const {
  Delays::Context context{.position = position, .again = again};
  if (branch.level > 0) context.around = branch.sequence->levels()[branch.level - 1].position;
  if (branch.level > 1) context.outermost = branch.sequence->levels()[branch.level - 2].position;
  return context;
}

/// A sample of many branches may have a little more, or less, than all of the probability.
Occurrence Future::most_probable() const {
  const Outcome* best = nullptr;
  double all = end_;
  for (const Outcome& outcome : outcomes_) {
    all += outcome.probability;
    if (best == nullptr || outcome.probability > best->probability ||
        (outcome.probability == best->probability && outcome.key < best->key))
      best = &outcome;
  }
  if (best == nullptr) return {0, 0, end_ > 0 ? 1.0 : 0.0, 0};
  return {best->key, best->probability / all, end_ / all, best->delay / best->probability};
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
