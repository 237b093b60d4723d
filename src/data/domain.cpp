// The public index spaces: sets of points that programs make.

#include "refrain/domain.hpp"

#include <utility>

#include "data/shared_index_space.hpp"

namespace refrain {

namespace {

std::shared_ptr<const detail::SharedIndexSpace> share(data::IndexSpaceRef space) {
  return std::make_shared<const detail::SharedIndexSpace>(
      detail::SharedIndexSpace{std::move(space)});
}

}  // namespace

template <int N>
IndexSpace<N>::IndexSpace(const Rect<N>& dense) : shared_(share(data::IndexSpace::dense(dense))) {}

template <int N>
IndexSpace<N>::IndexSpace(std::span<const Rect<N>> rects) {
  data::BoxList boxes;
  boxes.reserve(rects.size());
  for (const Rect<N>& rect : rects)
    if (!rect.empty()) boxes.push_back(data::erase_dimension(rect));
  shared_ = share(data::IndexSpace::from_boxes(N, std::move(boxes)));
}

template <int N>
IndexSpace<N>::IndexSpace(const std::vector<Point<N>>& points) {
  std::vector<data::BoxPoint> erased;
  erased.reserve(points.size());
  for (const Point<N>& p : points) erased.push_back(data::erase_dimension(p));
  shared_ = share(data::IndexSpace::from_points(N, erased));
}

template <int N>
Domain<N> IndexSpace<N>::domain() const {
  return detail::domain_of<N>(shared_->space);
}

template <int N>
std::size_t IndexSpace<N>::volume() const {
  return shared_->space->volume();
}

template <int N>
bool IndexSpace<N>::equals(const IndexSpace& other) const {
  return shared_->space == other.shared_->space;
}

template class IndexSpace<1>;
template class IndexSpace<2>;
template class IndexSpace<3>;

}  // namespace refrain
