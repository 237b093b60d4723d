#include "oracle/own_counts.hpp"

#include "oracle/error.hpp"

namespace refrain::oracle {

void OwnCounts::watch(const Reference& reference) {
  if (watches()) return;
  for (const Use& use : reference.grammar().uses())
    ended_with_.push_back(use.times > 1 ? kExpected : kNoLoop);
}

void OwnCounts::go_on(const Reference& reference, std::span<const Level> from, std::size_t level,
                      const Level& at) {
  ++events_;
  if (at.position == from[level].position) ++level;  // it is repeated: what is within has ended
  for (; level < from.size(); ++level) {
    const auto [position, exact, time] = from[level];
    std::uint64_t& last = ended_with_[position];
    if (!exact || last == kNoLoop) continue;
    const std::uint64_t count = time + 1;
    if (count == reference.use(position).times) {
      last = kExpected;
    } else if (count == last) {
      taken_over_.emplace_back(position, count);
      last = kExpected;
    } else {
      last = count;
    }
  }
}

std::optional<Grammar> OwnCounts::adapt(const Grammar& grammar) {
  std::vector<Use> uses(grammar.uses().begin(), grammar.uses().end());
  std::vector<std::size_t> begin;
  for (std::uint32_t rule = 0; rule < grammar.rules(); ++rule) begin.push_back(grammar.begin(rule));
  begin.push_back(uses.size());
  for (const auto& [position, count] : taken_over_) uses[position].times = count;
  taken_over_.clear();
  events_ = 0;
  try {
    return Grammar::flat(std::move(uses), std::move(begin));
  } catch (const InvalidGrammar&) { return std::nullopt; }
}

}  // namespace refrain::oracle
