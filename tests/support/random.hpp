#pragma once
// Random numbers for making test programs: small, seeded, the same everywhere (splitmix64). Only makers
// of plans draw from it; execution never does, so that a failure can be bisected.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace refrain::test {

/// A good mixing of 64 bits.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
/// A hash of a pair.
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return mix(a * 0x9e3779b97f4a7c15ull + b + 0x632be59bd9b4e019ull);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed + 0x9e3779b97f4a7c15ull)) {}

  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15ull); }
  /// 0 .. n - 1; n is positive.
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  /// lo .. hi, both included.
  int between(int lo, int hi) { return lo + below(hi - lo + 1); }
  bool percent(int chance) { return below(100) < chance; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace refrain::test
