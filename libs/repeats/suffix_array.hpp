#pragma once
// Suffix arrays: the suffixes of a text in alphabetical order, and the common beginnings of neighbours in that order.

#include <cstdint>
#include <span>
#include <vector>

namespace refrain::autotrace {

struct SuffixArray {
  std::vector<std::uint32_t> begins;  ///< where the suffixes begin, in alphabetical order
  /// Between each suffix and the next in that order: how many letters they begin with in common (the
  /// longest common prefixes). One shorter than `begins`.
  std::vector<std::uint32_t> common;
};

/// `text`: fewer than 2^31 letters below `alphabet`. Linear in both (induced sorting: G. Nong, S. Zhang, W. H. Chan,
/// "Two efficient algorithms for linear time suffix array construction", IEEE Trans. Computers 60, 2011).
SuffixArray suffix_array(std::span<const std::uint32_t> text, std::uint32_t alphabet);

}  // namespace refrain::autotrace
