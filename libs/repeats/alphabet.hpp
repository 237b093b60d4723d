#pragma once
// The letters of a text of tokens: numbers from 0 in the order in which tokens are first met.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "repeats/repeats.hpp"

namespace refrain::autotrace {

/// Expected O(1) for each token; memory for the different ones.
class Alphabet {
 public:
  std::uint32_t letter(Token token) {
    Slot* slot = &slot_of(token);
    if (slot->letter_and_one == 0) {
      if (2 * (size_ + std::size_t{1}) > slots_.size()) {
        grow();
        slot = &slot_of(token);
      }
      *slot = {token, ++size_};
    }
    return slot->letter_and_one - 1;
  }
  [[nodiscard]] std::uint32_t size() const { return size_; }

 private:
  struct Slot {
    Token token = 0;
    std::uint32_t letter_and_one = 0;
  };

  /// The slot of the token, or the empty one where it belongs.
  Slot& slot_of(Token token) {
    // Fibonacci hashing: tokens may be small numbers.
    std::size_t at = (token * 0x9e3779b97f4a7c15u) >> (64 - std::countr_zero(slots_.size()));
    while (slots_[at].letter_and_one != 0 && slots_[at].token != token)
      at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> fewer(2 * slots_.size());
    fewer.swap(slots_);
    for (const Slot& slot : fewer)
      if (slot.letter_and_one != 0) slot_of(slot.token) = slot;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);  ///< a power of two, at most half of them taken
  std::uint32_t size_ = 0;
};

}  // namespace refrain::autotrace
