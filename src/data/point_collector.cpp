#include "data/point_collector.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace refrain::data {

namespace {
constexpr std::size_t first_compaction = std::size_t{1} << 14;
constexpr std::size_t worth_sorting = std::size_t{1} << 20;  // 16 MiB of runs
}  // namespace

PointCollector::PointCollector(int dim, const Box& bounds)
    : dim_(dim), bounds_(bounds), compact_at_(first_compaction) {
  if (bounds.empty()) return;
  bool overflow = false;
  for (int d = 0; d < dim; ++d) {
    extent_[d] = static_cast<std::uint64_t>(bounds.hi[d] - bounds.lo[d] + 1);
    overflow |= __builtin_mul_overflow(volume_, extent_[d], &volume_);
  }
  numbered_ = !overflow && volume_ >> 63 == 0;
  row_ = extent_[dim - 1];
}

void PointCollector::start_run(std::uint64_t number, const BoxPoint& p) {
  if (runs_.size() >= compact_at_) {
    compact();
    if (!bits_.empty()) return add(p);
  }
  if (!runs_.empty() && number <= runs_.back().last) {
    if (number >= runs_.back().first) return;  // a repetition
    sorted_ = false;
  }
  runs_.push_back({number, number});
  extend(number, p);
}

void PointCollector::compact() {
  next_ = nothing;
  // A bit per point is smaller than the runs: 16 bytes per run against volume / 8 bytes.
  if (volume_ / 128 <= runs_.size()) return to_bits();
  if (runs_.size() >= worth_sorting) sort_runs();
  compact_at_ = std::max(first_compaction, 2 * runs_.size());
}

void PointCollector::sort_runs() {
  if (!sorted_)
    std::sort(runs_.begin(), runs_.end(),
              [](const Run& a, const Run& b) { return a.first < b.first; });
  sorted_ = true;
  std::size_t kept = 0;
  for (const Run& run : runs_) {
    if (kept > 0 && run.first <= runs_[kept - 1].last + 1 &&
        (run.first % row_ != 0 || run.first <= runs_[kept - 1].last))
      runs_[kept - 1].last = std::max(runs_[kept - 1].last, run.last);
    else runs_[kept++] = run;
  }
  runs_.resize(kept);
}

void PointCollector::to_bits() {
  bits_.assign((volume_ + 63) / 64, 0);
  for (const Run& run : runs_)
    for (std::uint64_t i = run.first; i <= run.last; ++i)
      bits_[i >> 6] |= std::uint64_t{1} << (i & 63);
  runs_ = {};
  sorted_ = true;
}

void PointCollector::bits_to_runs() {
  for (std::size_t word = 0; word < bits_.size(); ++word)
    for (std::uint64_t rest = bits_[word]; rest != 0;) {
      const int low = std::countr_zero(rest);
      const int length = std::countr_one(rest >> low);
      rest = low + length == 64 ? 0 : rest >> (low + length) << (low + length);
      std::uint64_t first = word * 64 + static_cast<std::uint64_t>(low);
      const std::uint64_t last = first + static_cast<std::uint64_t>(length) - 1;
      while (first <= last) {  // rows end inside words
        const std::uint64_t end = std::min(last, first - first % row_ + row_ - 1);
        if (!runs_.empty() && runs_.back().last + 1 == first && first % row_ != 0)
          runs_.back().last = end;
        else runs_.push_back({first, end});
        first = end + 1;
      }
    }
  bits_ = {};
}

BoxList PointCollector::take() {
  if (!numbered_) return canonical_list(dim_, std::exchange(unnumbered_, {}));
  if (bits_.empty()) sort_runs();
  else bits_to_runs();
  BoxList boxes;
  boxes.reserve(runs_.size());
  for (const Run& run : runs_) {
    std::uint64_t rest = run.first;
    Box box{BoxPoint{}, BoxPoint{}};
    for (int d = dim_; d-- > 0; rest /= extent_[d])
      box.lo[d] = box.hi[d] = bounds_.lo[d] + static_cast<Coord>(rest % extent_[d]);
    box.hi[dim_ - 1] += static_cast<Coord>(run.last - run.first);
    boxes.push_back(box);
  }
  runs_ = {};
  next_ = nothing;
  sorted_ = true;
  compact_at_ = first_compaction;
  return canonical_list(dim_, std::move(boxes));
}

}  // namespace refrain::data
