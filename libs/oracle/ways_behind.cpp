#include "oracle/ways_behind.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

namespace refrain::oracle {

std::span<const Level> WaysBehind::find(const Reference& reference, std::uint32_t rule,
                                        std::uint32_t event, std::size_t most) {
  const std::uint64_t key = std::uint64_t{rule} << 32 | event;
  auto known = found_.find(key);
  if (known == found_.end()) {
    if (kept_.size() + found_.size() > kSmall + 2 * reference.grammar().uses().size()) clear();
    known = found_.emplace(key, look_for(reference, rule, event, most)).first;
  }
  return std::span(kept_).subspan(known->second.begin, known->second.size);
}

void WaysBehind::clear() {
  found_.clear();
  kept_.clear();
}

WaysBehind::Found WaysBehind::look_for(const Reference& reference, std::uint32_t rule,
                                       std::uint32_t event, std::size_t most) {
  const std::size_t begin = kept_.size();
  all(reference, rule, [&](const Level& at) {
    if (event == kAnyEvent || reference.first(reference.use(at.position).symbol) == event)
      kept_.push_back(at);
  });
  const auto found = std::span(kept_).subspan(begin);
  if (found.size() > most) {
    const auto comes = [&](const Level& at) {
      const double around = reference.occurrences(reference.rule_of(at.position));
      return at.exact ? around
                      : around * static_cast<double>(reference.use(at.position).times - at.time);
    };
    std::ranges::nth_element(
        found, found.begin() + static_cast<std::ptrdiff_t>(most), std::less(),
        [&](const Level& at) { return std::tuple(-comes(at), at.position, at.exact); });
    kept_.resize(begin + most);
  }
  return {begin, kept_.size() - begin};
}

}  // namespace refrain::oracle
