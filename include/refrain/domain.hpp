#pragma once
// Domains: what accessors iterate over. A domain is a view of an index space: its bounding rectangle
// and, when it is not dense, its sorted list of disjoint rectangles.
//
// The order of a domain is row-major over all its points (by the first coordinate, then the second, then the
// third), whatever rectangles it consists of: p comes before q in one set when it does in every set that has
// both. Iterating, the points of a launch, their values and their folds all follow it.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "refrain/geometry.hpp"

namespace refrain {

namespace detail {
struct SharedIndexSpace;
}

/// A view of a set of points; valid as long as what it came from (a task's argument: the task's body).
template <int N>
class Domain {
 public:
  Domain() = default;
  Domain(const Rect<N>& dense) : bounds_(dense), dense_(true) {}
  Domain(const Rect<N>& bounds, const Rect<3>* rects, std::size_t count)
      : bounds_(bounds), rects_(rects), count_(count), dense_(count <= 1) {}

  [[nodiscard]] Rect<N> bounds() const { return bounds_; }
  [[nodiscard]] bool dense() const { return dense_; }  ///< every point of bounds() belongs to it
  [[nodiscard]] std::size_t rect_count() const {
    return dense_ ? (bounds_.empty() ? 0 : 1) : count_;
  }
  /// The i-th of the disjoint rectangles, which stand in the order of their low corners. Rectangle by rectangle
  /// is another order of the points than the domain's, but for one rectangle and in one dimension.
  [[nodiscard]] Rect<N> rect(std::size_t i) const {
    return dense_ ? bounds_ : detail::restore_dimension<N>(rects_[i]);
  }
  [[nodiscard]] std::size_t volume() const {
    std::size_t points = 0;
    for (std::size_t i = 0; i < rect_count(); ++i) points += rect(i).volume();
    return points;
  }
  [[nodiscard]] bool contains(const Point<N>& p) const {
    if (!bounds_.contains(p)) return false;
    if (dense_) return true;
    for (std::size_t i = 0; i < count_; ++i)
      if (rect(i).contains(p)) return true;
    return false;
  }

  /// Visits the points in the order of the domain.
  class iterator {
   public:
    using value_type = Point<N>;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    iterator(const Domain* domain, std::size_t index) : domain_(domain), index_(index) { enter(0); }
    const Point<N>& operator*() const { return point_; }
    iterator& operator++() {
      for (int d = N - 1; d >= 0; --d) {
        if (++point_[d] <= run_.hi[d]) return *this;
        point_[d] = run_.lo[d];
      }
      leave();
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const iterator& a, const iterator& b) {
      return a.index_ == b.index_ && a.point_ == b.point_;
    }

   private:
    /// Begins with a rectangle, at the present coordinates in the dimensions before `from`.
    void enter(int from) {
      if (index_ >= domain_->rect_count()) {
        point_ = {};
        return;
      }
      const Rect<N> rect = domain_->rect(index_);
      for (int d = from; d < N; ++d) run_.lo[d] = rect.lo[d], run_.hi[d] = rect.hi[d];
      // Others take turns with it: one cross-section of them all at a time.
      for (int d = from; d + 1 < N && domain_->same_slab(index_, index_ + 1, d); ++d)
        run_.hi[d] = run_.lo[d];
      point_ = run_.lo;
    }
    /// The run has been visited: its slab's next rectangle, or its first one again, a coordinate further on.
    void leave() {
      for (int d = N - 2; d >= 0; --d) {
        const bool last = !domain_->same_slab(index_, index_ + 1, d);
        if (last && run_.hi[d] >= domain_->rect(index_).hi[d]) continue;
        if (last) {
          run_.lo[d] = ++run_.hi[d];
          const std::size_t before = index_;
          while (index_ > 0 && domain_->same_slab(index_ - 1, before, d)) --index_;
        } else {
          ++index_;
        }
        return enter(d + 1);
      }
      ++index_;
      enter(0);
    }

    const Domain* domain_ = nullptr;
    std::size_t index_ = 0;  ///< of a rectangle
    Rect<N> run_{};          ///< the part of it whose points follow one another
    Point<N> point_{};
  };
  [[nodiscard]] iterator begin() const { return {this, 0}; }
  [[nodiscard]] iterator end() const { return {this, rect_count()}; }

 private:
  /// Whether two rectangles, neighbours or of one slab, have the same coordinates in the dimensions up to d.
  /// Those that do are one after the other and have equal intervals there (a *slab*).
  [[nodiscard]] bool same_slab(std::size_t i, std::size_t j, int d) const {
    if (dense_ || j >= count_) return false;
    for (int k = 0; k <= d; ++k)
      if (rects_[i].lo[k] != rects_[j].lo[k]) return false;
    return true;
  }

  Rect<N> bounds_{};
  const Rect<3>* rects_ = nullptr;
  std::size_t count_ = 0;
  bool dense_ = true;
};

/// An owned set of points with its dimensions forgotten: coordinates beyond `dim` are not looked at, and
/// are 0 in answers. Immutable and interned: equal sets share one representation.
class AnyIndexSpace {
 public:
  AnyIndexSpace(int dim, const Rect<3>& dense);
  /// The union of the rectangles, which may overlap.
  AnyIndexSpace(int dim, std::span<const Rect<3>> rects);
  /// The set of the points.
  AnyIndexSpace(int dim, std::span<const Point<3>> points);

  [[nodiscard]] int dim() const;
  [[nodiscard]] std::size_t volume() const;
  [[nodiscard]] Rect<3> bounds() const;
  /// The disjoint rectangles that it consists of, in the order of their low corners; valid as long as this
  /// object.
  [[nodiscard]] std::span<const Rect<3>> rects() const;
  friend bool operator==(const AnyIndexSpace& a, const AnyIndexSpace& b) { return a.equals(b); }

  /// For the runtime: the interned set.
  explicit AnyIndexSpace(std::shared_ptr<const detail::SharedIndexSpace> shared)
      : shared_(std::move(shared)) {}
  [[nodiscard]] const detail::SharedIndexSpace& shared() const { return *shared_; }

 private:
  [[nodiscard]] bool equals(const AnyIndexSpace& other) const;
  std::shared_ptr<const detail::SharedIndexSpace> shared_;
};

/// A set of N-dimensional points for making sparse regions, launch domains and explicit partitions.
template <int N>
class IndexSpace : public AnyIndexSpace {
 public:
  IndexSpace() : IndexSpace(Rect<N>{}) {}
  IndexSpace(const Rect<N>& dense);
  /// The union of the rectangles, which may overlap.
  explicit IndexSpace(std::span<const Rect<N>> rects);
  explicit IndexSpace(const std::vector<Rect<N>>& rects)
      : IndexSpace(std::span<const Rect<N>>(rects)) {}
  /// The set of the points.
  explicit IndexSpace(const std::vector<Point<N>>& points);

  /// Its points, in the order in which a launch over it has them; valid as long as this object.
  [[nodiscard]] Domain<N> domain() const { return domain_; }
  /// The same: `for (auto p : space)`.
  [[nodiscard]] typename Domain<N>::iterator begin() const { return domain_.begin(); }
  [[nodiscard]] typename Domain<N>::iterator end() const { return domain_.end(); }

 private:
  explicit IndexSpace(AnyIndexSpace points);

  Domain<N> domain_;  ///< of what is shared
};

}  // namespace refrain
