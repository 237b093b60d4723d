#include "autotrace/sampling.hpp"

#include <algorithm>
#include <span>

namespace refrain::autotrace {

Sampling::Sampling(std::size_t multiple, std::size_t history)
    : multiple_(std::max<std::size_t>(1, std::min(multiple, history))) {
  for (std::size_t tokens = multiple_;; tokens *= 2) {
    sizes_.push_back({std::min(tokens, std::max<std::size_t>(1, history)), 0, 0, 0});
    if (tokens >= history) break;
  }
  restart(0);
}

void Sampling::restart(std::uint64_t now) {
  for (Size& size : sizes_) {
    size.wait = size.tokens;
    size.due = now + size.wait;
    size.tries = 0;
  }
  next_at_ = now + multiple_;
}

std::size_t Sampling::next(std::uint64_t now) {
  std::size_t largest = sizes_.size();
  while (largest > 0 && sizes_[largest - 1].due > now) --largest;
  // The smaller pieces are parts of it.
  for (Size& size : std::span(sizes_).first(largest)) {
    if (++size.tries % kTries == 0)
      size.wait = std::min<std::uint64_t>(2 * size.wait, kMostWait * size.tokens);
    size.due = now + size.wait;
  }
  next_at_ = std::ranges::min(sizes_, {}, &Size::due).due;
  return largest == 0 ? 0 : sizes_[largest - 1].tokens;
}

}  // namespace refrain::autotrace
