#pragma once
// Random numbers of the search: seeded, the same everywhere (splitmix64), so that a search can be repeated and, from its
// database, taken up again.

#include <cstddef>
#include <cstdint>

namespace refrain::map_search {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// 0 .. bound - 1; `bound` is positive. Its bias is below 2^-32 for bounds below 2^32.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
  /// From 0 up to and without 1.
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  template <class List>
  const auto& pick(const List& list) {
    return list[below(list.size())];
  }

 private:
  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }

  std::uint64_t state_;
};

}  // namespace refrain::map_search
