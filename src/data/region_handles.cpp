// The questions that programs ask of their handles.

#include "base/assert.hpp"
#include "data/region_tree.hpp"
#include "data/shared_index_space.hpp"
#include "refrain/error.hpp"
#include "refrain/region.hpp"

namespace refrain {

namespace {

AnyIndexSpace public_space(const data::IndexSpaceRef& space) {
  return AnyIndexSpace(std::make_shared<const detail::SharedIndexSpace>(space));
}

}  // namespace

int AnyRegion::dim() const {
  data::check_readable(*this, "number of dimensions");
  return tree->dim();
}

AnyIndexSpace AnyRegion::points() const {
  data::check_readable(*this, "points");
  return public_space(tree->node(node).space);
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

namespace {

const data::PartitionNode& node_of(const AnyPartition& partition, const char* what) {
  data::check_readable(partition, what);
  return partition.tree->partition(partition.index);
}

}  // namespace

int AnyPartition::dim() const {
  data::check_readable(*this, "number of dimensions");
  return tree->dim();
}

int AnyPartition::colour_dim() const { return node_of(*this, "colours").colours->dim(); }

AnyIndexSpace AnyPartition::colours() const {
  return public_space(node_of(*this, "colours").colours);
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

AnyRegion AnyPartition::piece(const Point<3>& colour, const std::source_location& where) const {
  const data::PartitionNode& p = node_of(*this, "piece");
  const auto rank = p.colours->rank(colour);
  if (!rank)
    throw UsageError("piece at " + to_string(where) + ": " + name() + " has no piece of colour " +
                     data::to_string(colour, p.colours->dim()) + "; its colours are " +
                     data::to_string(*p.colours));
  return tree->handle(p.first_child + static_cast<std::uint32_t>(*rank));
}

AnyRegion AnyPartition::parent() const {
  const data::PartitionNode& p = node_of(*this, "parent");  // checks the tree
  return tree->handle(p.parent);
}

std::string AnyPartition::name() const {
  return tree == nullptr ? "no partition" : tree->name_of(*this);
}

}  // namespace refrain
