#pragma once
// A relation, as a table of bits: row i holds what comes before i.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace refrain::test {

class Order {
 public:
  Order() = default;
  Order(std::size_t rows, std::size_t columns)
      : words_((columns + 63) / 64), bits_(rows * words_) {}
  void add(int before, int after) {
    bits_[row(after) + word(before)] |= std::uint64_t{1} << (before % 64);
  }
  [[nodiscard]] bool has(int before, int after) const {
    return (bits_[row(after) + word(before)] >> (before % 64) & 1) != 0;
  }
  /// Adds everything that comes before `before`.
  void inherit(int before, int after) {
    for (std::size_t w = 0; w < words_; ++w) bits_[row(after) + w] |= bits_[row(before) + w];
  }

 private:
  [[nodiscard]] std::size_t row(int i) const { return static_cast<std::size_t>(i) * words_; }
  static std::size_t word(int i) { return static_cast<std::size_t>(i) / 64; }
  std::size_t words_ = 0;
  std::vector<std::uint64_t> bits_;
};

}  // namespace refrain::test
