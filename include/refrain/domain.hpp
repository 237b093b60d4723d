#pragma once
// Domains: what accessors iterate over. A domain is a view of an index space: its bounding rectangle
// and, when it is not dense, its sorted list of disjoint rectangles.

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
  /// The i-th of the disjoint rectangles, in the order of the domain.
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

  /// Visits the points rectangle by rectangle, each in row-major order (last dimension fastest).
  class iterator {
   public:
    using value_type = Point<N>;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    iterator(const Domain* domain, std::size_t index) : domain_(domain), index_(index) { enter(); }
    const Point<N>& operator*() const { return point_; }
    iterator& operator++() {
      for (int d = N - 1; d >= 0; --d) {
        if (++point_[d] <= rect_.hi[d]) return *this;
        point_[d] = rect_.lo[d];
      }
      ++index_;
      enter();
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
    void enter() {
      if (index_ < domain_->rect_count()) {
        rect_ = domain_->rect(index_);
        point_ = rect_.lo;
      } else {
        point_ = {};
      }
    }
    const Domain* domain_ = nullptr;
    std::size_t index_ = 0;
    Rect<N> rect_{};
    Point<N> point_{};
  };
  [[nodiscard]] iterator begin() const { return {this, 0}; }
  [[nodiscard]] iterator end() const { return {this, rect_count()}; }

 private:
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
  /// The disjoint rectangles that it consists of, in order; valid as long as this object.
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

  [[nodiscard]] Domain<N> domain() const;
};

}  // namespace refrain
