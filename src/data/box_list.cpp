#include "data/box_list.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace refrain::data {

namespace {

/// The first index from `first` on whose box is not `before`. All that are `before` come first. Cost: the logarithm; a
/// constant if it is within 8.
template <class Before>
std::size_t search(BoxSpan list, std::size_t first, Before&& before) {
  const std::size_t near = std::min(list.size(), first + 8);
  while (first < near && before(list[first])) ++first;
  if (first < near) return first;
  const BoxSpan rest = list.subspan(first);
  return first +
         static_cast<std::size_t>(std::ranges::partition_point(rest, before) - rest.begin());
}

/// Walks the slabs of one dimension; the current one may be used up from its low end.
class SlabCursor {
 public:
  SlabCursor(BoxSpan list, int d) : list_(list), d_(d) { load(0); }
  bool done() const { return first_ == list_.size(); }
  Coord lo() const { return lo_; }
  Coord hi() const { return list_[first_].hi[d_]; }
  BoxSpan slab() const { return list_.subspan(first_, last_ - first_); }
  /// Goes on behind x.
  void use_up_to(Coord x) {
    if (x < hi()) lo_ = x + 1;
    else load(last_);
  }
  /// Goes on to x or, if x is in no slab, to the next slab after it.
  void skip_to(Coord x) {
    if (hi() < x) load(skip_slabs(list_, last_, d_, x));
    if (!done() && lo_ < x) lo_ = x;
  }

 private:
  void load(std::size_t first) {
    first_ = first;
    if (done()) return;
    last_ = slab_end(list_, first, d_);
    lo_ = list_[first].lo[d_];
  }
  BoxSpan list_;
  int d_;
  std::size_t first_ = 0, last_ = 0;
  Coord lo_ = 0;
};

/// Appends the slabs of one dimension to a box list in increasing order and keeps the list canonical: a slab that
/// continues the previous one with an equal cross-section is merged into it. Writers are nested: while the writer of
/// dimension d is in write(), one of dimension d + 1 appends the cross-section. The coordinates of lower dimensions
/// are filled in by the writers further out, and never read here.
class SlabWriter {
 public:
  SlabWriter(BoxList& out, int d, int dim)
      : out_(out), d_(d), dim_(dim), previous_(out.size()), start_(out.size()) {}

  /// Appends the slab [lo, hi] whose boxes `append()` adds to the list; one that adds none is no slab.
  template <class Append>
  void write(Coord lo, Coord hi, Append&& append) {
    start_ = out_.size();
    append();
    if (out_.size() == start_) return;
    if (continues_previous(lo)) {
      out_.resize(start_);
      for (std::size_t i = previous_; i < start_; ++i) out_[i].hi[d_] = hi;
      return;
    }
    for (std::size_t i = start_; i < out_.size(); ++i) {
      out_[i].lo[d_] = lo;
      out_[i].hi[d_] = hi;
    }
    previous_ = start_;
  }

  /// Appends an interval of the last dimension; it may touch or overlap the one before.
  void interval(Coord lo, Coord hi) {
    if (out_.size() > previous_ && out_.back().hi[d_] >= lo - 1) {
      if (out_.back().hi[d_] < hi) out_.back().hi[d_] = hi;
      return;
    }
    Box box{BoxPoint{}, BoxPoint{}};
    box.lo[d_] = lo;
    box.hi[d_] = hi;
    out_.push_back(box);
  }

 private:
  bool continues_previous(Coord lo) const {
    const std::size_t count = start_ - previous_;
    if (count == 0 || out_.size() - start_ != count || out_[previous_].hi[d_] + 1 != lo)
      return false;
    for (std::size_t i = 0; i < count; ++i)
      for (int d = d_ + 1; d < dim_; ++d) {
        const Box &a = out_[previous_ + i], &b = out_[start_ + i];
        if (a.lo[d] != b.lo[d] || a.hi[d] != b.hi[d]) return false;
      }
    return true;
  }

  BoxList& out_;
  const int d_, dim_;
  std::size_t previous_;  // where the last slab written begins
  std::size_t start_;     // where the slab being written begins
};

/// The operations: which points belong to the result, those of one list alone or of both. `any`: it matters only whether
/// there is a point.
struct Keep {
  bool only_a, only_b, both, any = false;
};

/// The one merge. Goes from slab to slab of both lists, and passes over what does not matter.
template <Keep keep>
void combine_from(int d, int dim, BoxSpan a_list, BoxSpan b_list, BoxList& out) {
  SlabCursor a(a_list, d), b(b_list, d);
  SlabWriter writer(out, d, dim);
  const bool last = d == dim - 1;
  const auto one_only = [&](SlabCursor& one, const SlabCursor& other, bool kept) {
    if (!kept) return one.skip_to(other.lo());
    const Coord lo = one.lo(), hi = other.done() ? one.hi() : std::min(one.hi(), other.lo() - 1);
    if (last) writer.interval(lo, hi);
    else
      writer.write(lo, hi,
                   [&, slab = one.slab()] { out.insert(out.end(), slab.begin(), slab.end()); });
    one.use_up_to(hi);
  };
  while ((!a.done() || (keep.only_b && !b.done())) && (keep.only_a || !b.done()) &&
         !(keep.any && !out.empty())) {
    if (b.done() || (!a.done() && a.lo() < b.lo())) {
      one_only(a, b, keep.only_a);
    } else if (a.done() || b.lo() < a.lo()) {
      one_only(b, a, keep.only_b);
    } else {
      const Coord lo = a.lo(), hi = std::min(a.hi(), b.hi());
      if (!last)
        writer.write(lo, hi, [&] { combine_from<keep>(d + 1, dim, a.slab(), b.slab(), out); });
      else if (keep.both) writer.interval(lo, hi);
      a.use_up_to(hi);
      b.use_up_to(hi);
    }
  }
}

template <Keep keep>
BoxList combine(int dim, BoxSpan a, BoxSpan b) {
  BoxList out;
  combine_from<keep>(0, dim, a, b, out);
  return out;
}

/// Order by `lo` in the dimensions from `d` on.
struct ByLow {
  int d, dim;
  bool operator()(const Box& a, const Box& b) const {
    for (int i = d; i < dim; ++i)
      if (a.lo[i] != b.lo[i]) return a.lo[i] < b.lo[i];
    return false;
  }
};

/// Sweeps boxes sorted by ByLow{d, dim} along dimension d and appends the canonical list of their
/// union. `active` holds the boxes cut by the sweep line, sorted for the next dimension.
void sweep(int d, int dim, BoxSpan in, BoxList& out) {
  SlabWriter writer(out, d, dim);
  if (d == dim - 1) {
    for (const Box& box : in) writer.interval(box.lo[d], box.hi[d]);
    return;
  }
  BoxList active;
  std::size_t next = 0;
  Coord x = 0;
  while (next < in.size() || !active.empty()) {
    if (active.empty()) x = in[next].lo[d];
    const std::size_t first = next;
    bool even = true;  // all boxes that begin at x end together
    while (next < in.size() && in[next].lo[d] == x) even &= in[next++].hi[d] == in[first].hi[d];
    // Rows of blocks and single points: nothing else reaches into this slab, so nothing is copied.
    if (active.empty() && even && (next == in.size() || in[next].lo[d] > in[first].hi[d])) {
      const BoxSpan slab = in.subspan(first, next - first);
      writer.write(x, in[first].hi[d], [&] { sweep(d + 1, dim, slab, out); });
      continue;
    }
    const auto middle = static_cast<std::ptrdiff_t>(active.size());
    for (std::size_t i = first; i < next; ++i) active.push_back(in[i]);
    std::inplace_merge(active.begin(), active.begin() + middle, active.end(), ByLow{d + 1, dim});
    Coord end = next < in.size() ? in[next].lo[d] - 1 : std::numeric_limits<Coord>::max();
    for (const Box& box : active) end = std::min(end, box.hi[d]);
    writer.write(x, end, [&] { sweep(d + 1, dim, active, out); });
    std::erase_if(active, [&](const Box& box) { return box.hi[d] <= end; });
    x = end + 1;
  }
}

}  // namespace

std::string to_string(const BoxPoint& point, int dim) {
  if (dim == 1) return refrain::to_string(refrain::detail::restore_dimension<1>(point));
  if (dim == 2) return refrain::to_string(refrain::detail::restore_dimension<2>(point));
  return refrain::to_string(point);
}

std::string to_string(const Box& box, int dim) {
  return "[" + to_string(box.lo, dim) + ".." + to_string(box.hi, dim) + "]";
}

std::size_t slab_end(BoxSpan list, std::size_t first, int d) {
  const Coord lo = list[first].lo[d];
  return search(list, first + 1, [&](const Box& box) { return box.lo[d] == lo; });
}

std::size_t skip_slabs(BoxSpan list, std::size_t first, int d, Coord x) {
  return search(list, first, [&](const Box& box) { return box.hi[d] < x; });
}

BoxList canonical_list(int dim, BoxList boxes) {
  for (Box& box : boxes)
    for (int d = dim; d < 3; ++d) box.lo[d] = box.hi[d] = 0;
  std::erase_if(boxes, [](const Box& box) { return box.empty(); });
  if (!std::is_sorted(boxes.begin(), boxes.end(), ByLow{0, dim}))
    std::sort(boxes.begin(), boxes.end(), ByLow{0, dim});
  if (boxes.size() < 2) return boxes;
  BoxList out;
  out.reserve(boxes.size());
  sweep(0, dim, boxes, out);
  return out;
}

BoxList intersect_lists(int dim, BoxSpan a, BoxSpan b) {
  return combine<Keep{false, false, true}>(dim, a, b);
}
BoxList unite_lists(int dim, BoxSpan a, BoxSpan b) {
  return combine<Keep{true, true, true}>(dim, a, b);
}
BoxList subtract_lists(int dim, BoxSpan a, BoxSpan b) {
  return combine<Keep{true, false, false}>(dim, a, b);
}

bool lists_overlap(int dim, BoxSpan a, BoxSpan b) {
  return !combine<Keep{false, false, true, true}>(dim, a, b).empty();
}
bool list_covers(int dim, BoxSpan whole, BoxSpan part) {
  return combine<Keep{true, false, false, true}>(dim, part, whole).empty();
}

PointCollector::PointCollector(int dim, const Box& bounds)
    : dim_(dim), bounds_(bounds), compact_at_(few_runs) {
  if (bounds.empty()) return;
  bool overflow = false;
  for (int d = 0; d < dim; ++d) {
    extent_[d] = static_cast<std::uint64_t>(bounds.hi[d] - bounds.lo[d] + 1);
    overflow |= __builtin_mul_overflow(volume_, extent_[d], &volume_);
  }
  numbered_ = !overflow && volume_ >> 63 == 0;
}

void PointCollector::start_run(std::uint64_t number) {
  if (runs_.size() >= compact_at_) compact();
  if (!bits_.empty()) return set_bit(number);
  if (!runs_.empty() && runs_.back().first <= number && number <= runs_.back().last) return;
  runs_.push_back({number, number});
  next_ = number + 1;
}

void PointCollector::compact() {
  next_ = nothing;
  // A bit per point is smaller than the runs: 16 bytes per run against volume / 8 bytes.
  if (volume_ / 128 <= runs_.size()) {
    bits_.assign((volume_ + 63) / 64, 0);
    for (const Run& run : runs_)
      for (std::uint64_t i = run.first; i <= run.last; ++i) set_bit(i);
    runs_ = {};
    return;
  }
  if (runs_.size() >= worth_sorting) sort_runs();
  compact_at_ = std::max(few_runs, 2 * runs_.size());
}

void PointCollector::sort_runs() {
  if (!std::ranges::is_sorted(runs_, {}, &Run::first)) std::ranges::sort(runs_, {}, &Run::first);
  std::size_t kept = 0;
  for (const Run& run : runs_) {
    if (kept > 0 && run.first <= runs_[kept - 1].last + 1)
      runs_[kept - 1].last = std::max(runs_[kept - 1].last, run.last);
    else runs_[kept++] = run;
  }
  runs_.resize(kept);
}

void PointCollector::bits_to_runs() {
  for (std::size_t word = 0; word < bits_.size(); ++word)
    for (std::uint64_t rest = bits_[word]; rest != 0;) {
      const int low = std::countr_zero(rest);
      const int length = std::countr_one(rest >> low);
      rest = low + length == 64 ? 0 : rest >> (low + length) << (low + length);
      const std::uint64_t first = word * 64 + static_cast<std::uint64_t>(low);
      if (runs_.empty() || runs_.back().last + 1 != first) runs_.push_back({first, first});
      runs_.back().last = first + static_cast<std::uint64_t>(length) - 1;
    }
  bits_ = {};
}

BoxList PointCollector::take() {
  if (!numbered_) return canonical_list(dim_, std::exchange(unnumbered_, {}));
  if (bits_.empty()) sort_runs();
  else bits_to_runs();
  BoxList boxes;
  boxes.reserve(runs_.size());
  for (const Run& run : runs_)
    for (std::uint64_t first = run.first; first <= run.last;) {  // a box in each row
      std::uint64_t rest = first;
      Box box{BoxPoint{}, BoxPoint{}};
      for (int d = dim_; d-- > 0; rest /= extent_[d])
        box.lo[d] = box.hi[d] = bounds_.lo[d] + static_cast<Coord>(rest % extent_[d]);
      Coord& end = box.hi[dim_ - 1];
      end = std::min(end + static_cast<Coord>(run.last - first), bounds_.hi[dim_ - 1]);
      first += static_cast<std::uint64_t>(end - box.lo[dim_ - 1]) + 1;
      boxes.push_back(box);
    }
  runs_ = {};
  next_ = nothing;
  compact_at_ = few_runs;
  return canonical_list(dim_, std::move(boxes));
}

}  // namespace refrain::data
