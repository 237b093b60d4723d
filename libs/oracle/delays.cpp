#include "oracle/delays.hpp"

#include <algorithm>
#include <numeric>

#include "oracle/error.hpp"

namespace refrain::oracle {

namespace {

void require_in(const Reference& reference, const Delays::Context& context) {
  const std::size_t uses = reference.grammar().uses().size();
  const auto is_around = [&](std::uint32_t outer, std::uint32_t inner) {
    return outer < uses && reference.use(outer).symbol == Symbol::rule(reference.rule_of(inner));
  };
  const bool fits =
      context.position < uses && !reference.use(context.position).symbol.is_rule() &&
      (context.around == Delays::kUnknown ? context.outermost == Delays::kUnknown
                                          : is_around(context.around, context.position) &&
                                                (context.outermost == Delays::kUnknown ||
                                                 is_around(context.outermost, context.around)));
  if (!fits) throw InvalidGrammar("there are delays of a position that is not in the grammar");
}

}  // namespace

Delays::Delays(const Reference& reference, std::span<const Recorded> recorded) {
  for (const Recorded& some : recorded) {
    require_in(reference, some.context);
    const auto [position, around, outermost, again] = some.context;
    recorded_.push_back({{position, kUnknown, kUnknown, again}, some.sum, some.count});
    if (around != kUnknown)
      recorded_.push_back({{position, around, kUnknown, again}, some.sum, some.count});
    if (outermost != kUnknown) recorded_.push_back(some);
  }
  std::ranges::sort(recorded_, std::less(), &Recorded::context);
  std::size_t kept = 0;
  for (const Recorded& some : recorded_) {
    if (kept > 0 && recorded_[kept - 1].context == some.context) {
      recorded_[kept - 1].sum += some.sum;
      recorded_[kept - 1].count += some.count;
    } else {
      recorded_[kept++] = some;
    }
  }
  recorded_.resize(kept);
  find_means_of_events(reference);
  add_up(reference);
}

Delays::Delays(const Reference& reference, const Delays& delays)
    : recorded_(delays.recorded_), of_event_(delays.of_event_) {
  add_up(reference);
}

void Delays::find_means_of_events(const Reference& reference) {
  std::vector<Recorded> of_event(reference.grammar().events());
  const auto all_of = [&](std::uint32_t position) -> Recorded& {
    return of_event[reference.use(position).symbol.number()];
  };
  for (const Recorded& some : recorded_) {
    if (some.context.around != kUnknown) continue;  // it counts for the position, too
    all_of(some.context.position).sum += some.sum;
    all_of(some.context.position).count += some.count;
  }
  of_event_.resize(reference.grammar().uses().size());
  for (std::uint32_t position = 0; position < of_event_.size(); ++position) {
    if (reference.use(position).symbol.is_rule()) continue;
    const Recorded& all = all_of(position);
    if (all.count > 0) of_event_[position] = all.sum / static_cast<double>(all.count);
  }
}

void Delays::add_up(const Reference& reference) {
  const Grammar& grammar = reference.grammar();
  repetition_.resize(grammar.uses().size());
  before_.resize(grammar.uses().size());
  rule_.resize(grammar.rules());
  std::vector<std::uint32_t> rules(grammar.rules());
  std::iota(rules.begin(), rules.end(), 0);
  std::ranges::sort(rules, std::greater(), [&](std::uint32_t r) { return reference.rank(r); });
  for (const std::uint32_t r : rules) {
    for (std::size_t i = 0; i < grammar.rule(r).size(); ++i) {
      const auto position = static_cast<std::uint32_t>(grammar.begin(r) + i);
      const Symbol symbol = reference.use(position).symbol;
      Repetition& repetition = repetition_[position];
      if (symbol.is_rule()) repetition = whole_rule(reference, position);
      else repetition = {mean({.position = position}), mean({.position = position, .again = true})};
      before_[position] = rule_[r];
      rule_[r] += repetition.all(reference.use(position).times);
    }
  }
}

/// Of a rule at a position. What it uses is known.
Delays::Repetition Delays::whole_rule(const Reference& reference, std::uint32_t position) const {
  const Grammar& grammar = reference.grammar();
  const std::uint32_t rule = reference.use(position).symbol.number();
  const auto begin = static_cast<std::uint32_t>(grammar.begin(rule));
  const auto once = [&](std::uint32_t inner, bool again) {
    if (reference.use(inner).symbol.is_rule()) return repetition(inner, again);
    return mean({.position = inner, .around = position, .again = again});
  };
  Repetition all{once(begin, false), once(begin, true)};
  double rest = static_cast<double>(reference.use(begin).times - 1) * all.again;
  for (std::uint32_t inner = begin + 1; inner < begin + grammar.rule(rule).size(); ++inner)
    rest += Repetition{once(inner, false), once(inner, true)}.all(reference.use(inner).times);
  all.first += rest;
  all.again += rest;
  return all;
}

const Delays::Recorded* Delays::find(const Context& context) const {
  const auto found = std::ranges::lower_bound(recorded_, context, std::less(), &Recorded::context);
  return found != recorded_.end() && found->context == context ? &*found : nullptr;
}

double Delays::mean(const Context& context) const {
  for (const bool again : {context.again, !context.again}) {
    for (const Context& part : {Context{context.position, context.around, context.outermost, again},
                                Context{context.position, context.around, kUnknown, again},
                                Context{context.position, kUnknown, kUnknown, again}}) {
      const Recorded* const found = find(part);
      if (found != nullptr && found->count > 0)
        return found->sum / static_cast<double>(found->count);
    }
  }
  return of_event_[context.position];
}

std::uint64_t Delays::count(const Context& context) const {
  const Recorded* const found = find(context);
  return found == nullptr ? 0 : found->count;
}

}  // namespace refrain::oracle
