#include "autotrace/history.hpp"

namespace refrain::autotrace {

void History::forget() {
  const std::size_t surplus = tokens_.size() - std::min(tokens_.size(), capacity_);
  tokens_.erase(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(surplus));
  forgotten_ += surplus;
  std::erase_if(replayed_, [this](const Stretch& each) { return each.end <= forgotten_; });
}

Sample History::last(std::size_t length) const {
  length = std::min({length, tokens_.size(), capacity_});
  const std::uint64_t first = count() - length;
  Sample sample;
  sample.tokens.assign(tokens_.end() - static_cast<std::ptrdiff_t>(length), tokens_.end());
  sample.replayed.resize(length);
  for (const Stretch& each : replayed_)
    for (std::uint64_t i = std::max(each.begin, first); i < each.end; ++i)
      sample.replayed[i - first] = true;
  return sample;
}

}  // namespace refrain::autotrace
