// What programs ask of the handles that they hold: index spaces, regions and partitions.

#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/assert.hpp"
#include "data/region_tree.hpp"
#include "refrain/domain.hpp"
#include "refrain/error.hpp"
#include "refrain/region.hpp"

namespace refrain {

namespace {

std::shared_ptr<const detail::SharedIndexSpace> share(data::IndexSpaceRef space) {
  return std::make_shared<const detail::SharedIndexSpace>(
      detail::SharedIndexSpace{std::move(space)});
}

int checked(int dim) {
  if (dim < 1 || dim > 3)
    throw UsageError("an index space of " + std::to_string(dim) +
                     " dimensions: there are 1, 2 and 3");
  return dim;
}

template <class Items>
auto erase_all(const Items& items) {
  std::vector<decltype(detail::erase_dimension(items[0]))> erased;
  erased.reserve(items.size());
  for (const auto& item : items) erased.push_back(detail::erase_dimension(item));
  return erased;
}

const data::PartitionNode& node_of(const AnyPartition& partition, const char* what) {
  data::check_readable(partition, what);
  return partition.tree->partition(partition.index);
}

}  // namespace

std::string_view detail::kept_name(const std::string& name) {
  static std::mutex mutex;
  // Never destroyed: fields may be static objects of the program.
  static auto& names = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  return *names.insert(name).first;
}

AnyIndexSpace::AnyIndexSpace(int dim, const Rect<3>& dense)
    : shared_(share(data::IndexSpace::dense(checked(dim), dense))) {}

AnyIndexSpace::AnyIndexSpace(int dim, std::span<const Rect<3>> rects)
    : shared_(share(data::IndexSpace::from_boxes(checked(dim), {rects.begin(), rects.end()}))) {}

AnyIndexSpace::AnyIndexSpace(int dim, std::span<const Point<3>> points)
    : shared_(share(data::IndexSpace::from_points(checked(dim), points))) {}

int AnyIndexSpace::dim() const { return shared_->space->dim(); }
std::size_t AnyIndexSpace::volume() const { return shared_->space->volume(); }
Rect<3> AnyIndexSpace::bounds() const { return shared_->space->bounds(); }
std::span<const Rect<3>> AnyIndexSpace::rects() const { return shared_->space->boxes(); }
bool AnyIndexSpace::equals(const AnyIndexSpace& other) const {
  return shared_->space == other.shared_->space;
}

template <int N>
IndexSpace<N>::IndexSpace(AnyIndexSpace points)
    : AnyIndexSpace(std::move(points)), domain_(detail::domain_of<N>(shared().space)) {}

template <int N>
IndexSpace<N>::IndexSpace(const Rect<N>& dense)
    : IndexSpace(AnyIndexSpace(N, detail::erase_dimension(dense))) {}

template <int N>
IndexSpace<N>::IndexSpace(std::span<const Rect<N>> rects)
    : IndexSpace(AnyIndexSpace(N, erase_all(rects))) {}

template <int N>
IndexSpace<N>::IndexSpace(const std::vector<Point<N>>& points)
    : IndexSpace(AnyIndexSpace(N, erase_all(points))) {}

template class IndexSpace<1>;
template class IndexSpace<2>;
template class IndexSpace<3>;

// The questions that programs ask of their handles.

int AnyRegion::dim() const {
  data::check_readable(*this, "number of dimensions");
  return tree->dim();
}

AnyIndexSpace AnyRegion::points() const {
  data::check_readable(*this, "points");
  return AnyIndexSpace(share(tree->node(node).space));
}

std::string AnyRegion::name() const { return tree == nullptr ? "no region" : tree->name_of(*this); }

template <int N>
Domain<N> Region<N>::domain() const {
  data::check_readable(*this, "domain");
  REFRAIN_ASSERT(tree->dim() == N, "a typed handle has the dimensions of its region");
  return detail::domain_of<N>(tree->node(node).space);
}
template Domain<1> Region<1>::domain() const;
template Domain<2> Region<2>::domain() const;
template Domain<3> Region<3>::domain() const;

int AnyPartition::dim() const {
  data::check_readable(*this, "number of dimensions");
  return tree->dim();
}

int AnyPartition::colour_dim() const { return node_of(*this, "colours").colours->dim(); }

AnyIndexSpace AnyPartition::colours() const {
  return AnyIndexSpace(share(node_of(*this, "colours").colours));
}

std::size_t AnyPartition::pieces() const { return node_of(*this, "pieces").colours->volume(); }

bool AnyPartition::is_disjoint() const {
  data::check_readable(*this, "is_disjoint");
  return tree->is_disjoint(index);
}

bool AnyPartition::is_complete() const {
  data::check_readable(*this, "is_complete");
  return tree->is_complete(index);
}

AnyRegion AnyPartition::piece(const Point<3>& colour, const Where& where) const {
  const data::PartitionNode& p = node_of(*this, "piece");
  const auto rank = p.colours->rank(colour);
  if (!rank)
    throw UsageError("piece at " + to_string(where) + ": " + name() + " has no piece of colour " +
                     data::to_string(colour, p.colours->dim()) + "; its colours are " +
                     data::to_string(*p.colours));
  return tree->handle(p.first_child + static_cast<std::uint32_t>(*rank));
}

std::vector<Owner<3, 3>> AnyPartition::owners_of(const Rect<3>& rect, int colour_dim) const {
  const data::PartitionNode& p = node_of(*this, "owners_of");
  if (colour_dim != 0 && colour_dim != p.colours->dim())
    throw UsageError("owners_of: colours of " + name() + " have " +
                     std::to_string(p.colours->dim()) + " dimensions, not " +
                     std::to_string(colour_dim) + ": owners_of<" +
                     std::to_string(p.colours->dim()) + ">(rect)");
  std::vector<Owner<3, 3>> owners;
  for (const auto& [part, rank] : tree->owners_of(index, rect))
    owners.push_back({p.colours->nth(rank), part});
  return owners;
}

AnyRegion AnyPartition::parent() const {
  const data::PartitionNode& p = node_of(*this, "parent");  // checks the tree
  return tree->handle(p.parent);
}

std::string AnyPartition::name() const {
  return tree == nullptr ? "no partition" : tree->name_of(*this);
}

}  // namespace refrain
