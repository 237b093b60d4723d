#pragma once
// Appends the slabs of one dimension to a box list in increasing order and keeps the list canonical:
// a slab that continues the previous one with an equal cross-section is merged into it.
//
// Writers of different dimensions are nested: while the writer of dimension d waits in write(), one of
// dimension d + 1 appends the cross-section. Coordinates of dimensions below d are filled in by the
// writers further out, so they hold anything until then and are never looked at here.

#include "data/box_list.hpp"

namespace refrain::data {

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

  /// Appends the slab [lo, hi] with the cross-section of existing boxes.
  void copy(Coord lo, Coord hi, BoxSpan slab) {
    write(lo, hi, [&] { out_.insert(out_.end(), slab.begin(), slab.end()); });
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

}  // namespace refrain::data
