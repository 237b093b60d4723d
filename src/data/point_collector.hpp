#pragma once
// Collects points one at a time into a canonical box list.
//
// Points are numbered row-major within given bounds; a point that follows the last one in its row
// lengthens the last run, so data that is walked in order stays small. Out of order runs are sorted
// and merged when there are very many, or become bits as soon as those are smaller (bounds with few
// points for the runs there are). Memory: a constant factor of what the distinct points need, plus at
// most 16 MiB. Bounds with more than 2^63 points cannot be numbered: then a plain list of points is
// kept. One thread at a time.

#include <cstdint>
#include <vector>

#include "data/box_list.hpp"

namespace refrain::data {

class PointCollector {
 public:
  PointCollector(int dim, const Box& bounds);

  [[nodiscard]] const Box& bounds() const { return bounds_; }

  /// Adds a point, which must lie in the bounds.
  void add(const BoxPoint& p) {
    if (!numbered_) return unnumbered_.push_back({p, p});
    std::uint64_t number = static_cast<std::uint64_t>(p[0] - bounds_.lo[0]);
    for (int d = 1; d < dim_; ++d)
      number = number * extent_[d] + static_cast<std::uint64_t>(p[d] - bounds_.lo[d]);
    if (!bits_.empty()) {
      bits_[number >> 6] |= std::uint64_t{1} << (number & 63);
    } else if (number != next_) {
      start_run(number, p);
    } else {
      runs_.back().last = number;
      extend(number, p);
    }
  }

  /// The set of all points added; the collector is empty again.
  [[nodiscard]] BoxList take();

 private:
  // Numbers of the first and last point; within one row.
  struct Run {
    std::uint64_t first, last;
  };
  static constexpr std::uint64_t nothing = ~std::uint64_t{0};

  void start_run(std::uint64_t number, const BoxPoint& p);
  // The number that would lengthen the run: none at the end of a row, where numbers go on but rows end.
  void extend(std::uint64_t number, const BoxPoint& p) {
    next_ = p[dim_ - 1] == bounds_.hi[dim_ - 1] ? nothing : number + 1;
  }
  void compact();
  void sort_runs();
  void to_bits();
  void bits_to_runs();

  const int dim_;
  const Box bounds_;
  std::uint64_t extent_[3] = {1, 1, 1};
  std::uint64_t row_ = 1, volume_ = 1;
  std::uint64_t next_ = nothing;
  std::size_t compact_at_;
  bool numbered_ = true, sorted_ = true;
  std::vector<Run> runs_;
  std::vector<std::uint64_t> bits_;  // not empty once bits have taken over
  BoxList unnumbered_;
};

}  // namespace refrain::data
