#pragma once
// The letters of a text of tokens: numbers from 0 in the order in which tokens are first met.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "autotrace/repeats.hpp"

namespace refrain::autotrace {

/// For a text of at most that many tokens. Expected O(1) for each.
class Alphabet {
 public:
  explicit Alphabet(std::size_t most) : slots_(std::bit_ceil(2 * most + 1)) {}

  std::uint32_t letter(Token token) {
    // Fibonacci hashing: tokens may be small numbers.
    std::size_t at = (token * 0x9e3779b97f4a7c15u) >> (64 - std::countr_zero(slots_.size()));
    while (slots_[at].letter_and_one != 0 && slots_[at].token != token)
      at = (at + 1) % slots_.size();
    if (slots_[at].letter_and_one == 0) slots_[at] = {token, ++size_};
    return slots_[at].letter_and_one - 1;
  }
  [[nodiscard]] std::uint32_t size() const { return size_; }

 private:
  struct Slot {
    Token token = 0;
    std::uint32_t letter_and_one = 0;
  };
  std::vector<Slot> slots_;
  std::uint32_t size_ = 0;
};

}  // namespace refrain::autotrace
