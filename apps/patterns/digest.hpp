#pragma once
// A digest of a task's output tells on which outputs it was computed, and so on which tasks before them.

#include <cstdint>

namespace patterns {

/// A bijection of 64 bits whose outputs look random (the finaliser of SplitMix64, Steele et al., OOPSLA 2014).
constexpr std::uint64_t scramble(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

}  // namespace patterns
