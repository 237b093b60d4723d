#include "finder/history.hpp"

namespace refrain::autotrace {

std::uint64_t context_of(std::span<const Token> before) {
  std::uint64_t hash = 0;
  for (const Token token : before.last(std::min(kContext, before.size())))
    hash = (hash ^ (is_unique(token) ? 0 : token)) * 0x9E3779B97F4A7C15ULL + 1;
  return hash;
}

void History::forget() {
  const std::size_t surplus = tokens_.size() - std::min(tokens_.size(), kept());
  tokens_.erase(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(surplus));
  work_.erase(work_.begin(), work_.begin() + static_cast<std::ptrdiff_t>(surplus));
  forgotten_ += surplus;
  std::erase_if(replays_, [this](const Replay& each) { return each.end <= forgotten_; });
}

Sample History::last(std::size_t length) const {
  length = std::min(length, size());
  const std::uint64_t first = count() - length;
  Sample sample;
  sample.tokens.assign(tokens_.end() - static_cast<std::ptrdiff_t>(length), tokens_.end());
  sample.work.assign(work_.end() - static_cast<std::ptrdiff_t>(length), work_.end());
  sample.kinds.resize(length);
  const auto from = std::ranges::upper_bound(replays_, first, {}, &Replay::end);
  for (const Replay& each : std::span(from, replays_.end())) {
    for (std::uint64_t i = std::max(each.begin, first); i < each.end; ++i)
      sample.kinds[i - first] = Sample::replayed;
    sample.kinds[each.end - 1 - first] = Sample::end_of_replay;
  }
  return sample;
}

Sampling::Sampling(std::size_t multiple, std::size_t history) {
  history = std::max<std::size_t>(1, history);
  for (std::size_t tokens = std::clamp<std::size_t>(multiple, 1, history);; tokens *= 2) {
    sizes_.push_back({std::min(tokens, history), ~std::uint64_t{0}, Ledger()});
    if (tokens >= history) break;
  }
  for_large_ = most_credit();
  restart(0);
}

void Sampling::restart(std::uint64_t now) {
  for (Size& size : sizes_) {
    size.mining = Ledger(1, kTries, kLongestWait);
    // Called often, it comes to the large ones all the same.
    size.due = std::min(size.due, now + size.tokens);
  }
  next_at_ = std::min(next_at_, now + sizes_.front().tokens);
}

std::size_t Sampling::next(std::uint64_t now, std::size_t most, std::size_t there_are) {
  for (std::uint64_t* credit : {&for_small_, &for_large_})
    *credit = std::min(most_credit(), *credit + (now - paid_at_));
  paid_at_ = now;
  const auto price = [&](const Size& size) {
    return kWorkPerToken * std::min(size.tokens, there_are);
  };
  const auto largest = std::ranges::find_if(sizes_.rbegin(), sizes_.rend(), [&](const Size& size) {
    return size.tokens <= most && size.due <= now && price(size) <= credit(size);
  });
  // The smaller pieces are parts of it.
  for (Size& size : std::ranges::subrange(sizes_.begin(), largest.base())) {
    size.mining.enter(-1);
    size.due = now + (1 + size.mining.left()) * size.tokens;
  }
  next_at_ = std::max(now + sizes_.front().tokens, std::ranges::min(sizes_, {}, &Size::due).due);
  if (largest == sizes_.rend()) return 0;
  credit(*largest) -= price(*largest);
  return largest->tokens;
}

}  // namespace refrain::autotrace
