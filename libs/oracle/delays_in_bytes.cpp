#include "oracle/delays_in_bytes.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "oracle/brief_time.hpp"

namespace refrain::oracle {

namespace {

/// Which use of a rule a position is: from 1 on, 0 being kUnknown.
class UsesOfRules {
 public:
  explicit UsesOfRules(const Grammar& grammar) : grammar_(grammar), begin_(grammar.rules() + 1) {
    rule_of_.reserve(grammar.uses().size());
    number_.reserve(grammar.uses().size());
    for (std::uint32_t rule = 0; rule < grammar.rules(); ++rule) {
      for (const Use& use : grammar.rule(rule)) {
        rule_of_.push_back(rule);
        number_.push_back(use.symbol.is_rule() ? ++begin_[use.symbol.number() + 1] : 0);
      }
    }
    for (std::size_t rule = 0; rule < grammar.rules(); ++rule) begin_[rule + 1] += begin_[rule];
    position_.resize(begin_.back());
    for (std::uint32_t position = 0; position < number_.size(); ++position)
      if (const Symbol symbol = grammar.uses()[position].symbol; symbol.is_rule())
        position_[begin_[symbol.number()] + number_[position] - 1] = position;
  }

  [[nodiscard]] std::uint32_t number(std::uint32_t position) const {
    return position == Delays::kUnknown ? 0 : number_[position];
  }
  /// The one of that number around a position.
  [[nodiscard]] std::uint32_t take_around(Taking& from, std::uint32_t position) const {
    if (position == Delays::kUnknown) return Delays::kUnknown;
    const std::uint32_t begin = begin_[rule_of_[position]], end = begin_[rule_of_[position] + 1];
    const std::uint64_t number = from.number_below(end - begin + std::uint64_t{1});
    return number == 0 ? Delays::kUnknown : position_[begin + number - 1];
  }
  [[nodiscard]] std::uint32_t take_event(Taking& from, std::uint64_t before, bool& again) const {
    const std::uint64_t word = from.number_below(2 * (number_.size() - before));
    again = word % 2 != 0;
    const auto position = static_cast<std::uint32_t>(before + word / 2);
    if (grammar_.uses()[position].symbol.is_rule())
      throw InvalidRecord("there are delays of a rule, and not of an event");
    return position;
  }

 private:
  const Grammar& grammar_;
  std::vector<std::uint32_t> rule_of_, number_;  // by position
  std::vector<std::uint32_t> begin_;             // by rule: in position_
  std::vector<std::uint32_t> position_;
};

/// By context. There are a few for each position, so that it takes O(n) for n uses and delays.
std::vector<Delays::Recorded> sorted_by_context(const Grammar& grammar,
                                                std::span<const Delays::Recorded> delays) {
  std::vector<std::uint32_t> end(grammar.uses().size() + 1);  // of the delays of a position
  for (const Delays::Recorded& some : delays) ++end[some.context.position + 1];
  for (std::size_t position = 1; position < end.size(); ++position)
    end[position] += end[position - 1];
  std::vector<Delays::Recorded> sorted(delays.size());
  for (const Delays::Recorded& some : delays) sorted[end[some.context.position]++] = some;
  for (auto begin = sorted.begin(); begin != sorted.end();) {
    const auto behind = sorted.begin() + end[begin->context.position];
    if (behind - begin > 1)
      std::sort(begin, behind,
                [](const auto& one, const auto& other) { return one.context < other.context; });
    begin = behind;
  }
  return sorted;
}

/// A position, what is around it, how many events, and a time.
constexpr std::size_t kSmallest = 1 + 1 + 1 + sizeof(BriefTime);

}  // namespace

void put_delays(std::string& bytes, const Grammar& grammar,
                std::span<const Delays::Recorded> delays) {
  const std::vector<Delays::Recorded> sorted = sorted_by_context(grammar, delays);
  put(bytes, sorted.size());
  if (sorted.empty()) return;
  const UsesOfRules uses(grammar);
  std::uint32_t before = 0;
  for (const auto& [context, sum, count] : sorted) {
    put(bytes, 2ull * (context.position - before) + (context.again ? 1 : 0));
    before = context.position;
  }
  for (const auto& [context, sum, count] : sorted) put(bytes, uses.number(context.around));
  for (const auto& [context, sum, count] : sorted)
    if (context.around != Delays::kUnknown) put(bytes, uses.number(context.outermost));
  for (const auto& [context, sum, count] : sorted) put(bytes, count);
  std::string low;
  low.reserve(sorted.size());
  for (const auto& [context, sum, count] : sorted) {
    const BriefTime time = count == 0 ? 0 : brief(sum / static_cast<double>(count));
    bytes += static_cast<char>(time >> 8);
    low += static_cast<char>(time);
  }
  bytes += low;
}

std::vector<Delays::Recorded> take_delays(Taking& from, const Grammar& grammar) {
  std::vector<Delays::Recorded> delays(from.count(kSmallest));
  if (delays.empty()) return delays;
  const UsesOfRules uses(grammar);
  std::uint32_t before = 0;
  for (auto& [context, sum, count] : delays)
    before = context.position = uses.take_event(from, before, context.again);
  for (auto& [context, sum, count] : delays)
    context.around = uses.take_around(from, context.position);
  for (auto& [context, sum, count] : delays)
    context.outermost = uses.take_around(from, context.around);
  if (!std::ranges::is_sorted(delays, std::less(), &Delays::Recorded::context))
    throw InvalidRecord("delays are not in order");
  std::uint64_t events = 0;
  for (auto& [context, sum, count] : delays) {
    count = from.number();
    if (__builtin_add_overflow(events, count, &events))
      throw InvalidRecord("more events have times than there can be");
  }
  const std::string_view high = from.bytes(delays.size()), low = from.bytes(delays.size());
  for (std::size_t i = 0; i < delays.size(); ++i) {
    const auto time = static_cast<BriefTime>(static_cast<unsigned char>(high[i]) << 8 |
                                             static_cast<unsigned char>(low[i]));
    delays[i].sum = mean_of(time) * static_cast<double>(delays[i].count);
  }
  return delays;
}

}  // namespace refrain::oracle
