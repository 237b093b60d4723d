#include "net/dry.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace refrain::net {

void Dry::expect(const Header& header) {
  const std::lock_guard lock(mutex_);
  expected_.push_back(header);
}

std::optional<Message> Dry::poll() {
  const std::lock_guard lock(mutex_);
  if (expected_.empty()) return std::nullopt;
  Message message(expected_.back());
  expected_.pop_back();
  std::ranges::fill(message.bytes(), std::byte{0});
  return message;
}

bool Dry::may_come() const {
  const std::lock_guard lock(mutex_);
  return !expected_.empty();
}

void Dry::abort(const std::string& text) noexcept {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::_Exit(EXIT_FAILURE);  // threads may run
}

}  // namespace refrain::net
