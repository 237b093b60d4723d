#pragma once
// Random numbers by counter: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11).
// Number i of a stream is a pure function of the seed, the stream and i: the same in every process and task, whoever asks
// and however often. A number costs twenty multiplications; the two numbers of a pair together cost no more.
//
// Anybody may call it, the program and task bodies: there is nothing that threads share.

#include <array>
#include <cstdint>
#include <limits>

#include "refrain/geometry.hpp"

namespace refrain {

/// Four words for each counter and key: the block of Philox 4x32 with ten rounds.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                              std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57} * counter[2];
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    counter = {high(second) ^ counter[1] ^ key[0], low(second), high(first) ^ counter[3] ^ key[1],
               low(first)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

/// The numbers of a seed and a stream. Streams of one seed are independent of each other: one per step of a program, for
/// example, with the elements' indices as i.
class RandomStream {
 public:
  constexpr explicit RandomStream(std::uint64_t seed, std::uint64_t stream = 0) noexcept
      : seed_(seed), stream_(stream) {}

  /// Number i, as 64 random bits. Any i, below zero, too.
  [[nodiscard]] constexpr std::uint64_t bits(Coord i) const noexcept {
    const auto index = static_cast<std::uint64_t>(i);
    return pair(index / 2)[index % 2];
  }
  /// Number i in [0, 1): a multiple of 2^-53.
  [[nodiscard]] constexpr double uniform(Coord i) const noexcept { return unit(bits(i)); }
  /// Number i in [low, high). Rounding may give `high`.
  [[nodiscard]] constexpr double uniform(Coord i, double low, double high) const noexcept {
    return low + (high - low) * unit(bits(i));
  }
  /// Number i in 0 .. count - 1, each as likely as another to one part in 2^64 / count. `count`: at least 1.
  [[nodiscard]] constexpr std::uint64_t below(Coord i, std::uint64_t count) const noexcept {
    return scaled(bits(i), count);
  }

  /// The bits of numbers 2 block and 2 block + 1, which cost as much as one of them.
  [[nodiscard]] constexpr std::array<std::uint64_t, 2> pair(std::uint64_t block) const noexcept {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
    const auto words =
        philox({low(block), high(block), low(stream_), high(stream_)}, {low(seed_), high(seed_)});
    return {words[0] | std::uint64_t{words[1]} << 32, words[2] | std::uint64_t{words[3]} << 32};
  }
  /// What uniform() and below() make of 64 random bits.
  static constexpr double unit(std::uint64_t bits) noexcept {
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }
  static constexpr std::uint64_t scaled(std::uint64_t bits, std::uint64_t count) noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(static_cast<Wide>(bits) * count >> 64);
  }

  // As a generator of the standard library, for its distributions and std::shuffle: numbers 0, 1, 2 and so on. Copies go
  // on by themselves.
  using result_type = std::uint64_t;
  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }
  constexpr result_type operator()() noexcept { return bits(next_++); }

 private:
  std::uint64_t seed_, stream_;
  Coord next_ = 0;  ///< of operator()
};

template <>
inline constexpr bool has_equal_bytes<RandomStream> = true;

}  // namespace refrain
