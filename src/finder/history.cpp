#include "finder/history.hpp"

namespace refrain::autotrace {

std::uint64_t context_of(std::span<const Token> before) {
  std::uint64_t hash = 0;
  for (const Token token : before.last(std::min(kContext, before.size())))
    hash = (hash ^ (is_unique(token) ? 0 : token)) * 0x9E3779B97F4A7C15ULL + 1;
  return hash;
}

void History::forget() {
  const std::size_t surplus = tokens_.size() - std::min(tokens_.size(), kept_);
  tokens_.erase(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(surplus));
  forgotten_ += surplus;
  std::erase_if(replays_, [this](const Replay& each) { return each.end <= forgotten_; });
}

Sample History::last(std::size_t length) const {
  length = std::min({length, tokens_.size(), capacity_});
  const std::uint64_t first = count() - length;
  Sample sample;
  sample.tokens.assign(tokens_.end() - static_cast<std::ptrdiff_t>(length), tokens_.end());
  sample.kinds.resize(length);
  const auto from = std::ranges::upper_bound(replays_, first, {}, &Replay::end);
  for (const Replay& each : std::span(from, replays_.end())) {
    for (std::uint64_t i = std::max(each.begin, first); i < each.end; ++i)
      sample.kinds[i - first] = Sample::replayed;
    sample.kinds[each.end - 1 - first] = Sample::end_of_replay;
  }
  return sample;
}

}  // namespace refrain::autotrace
