// Handles of region trees: which are alive, and what they are called in messages.

#include <string>
#include <vector>

#include "data/region_tree.hpp"
#include "refrain/error.hpp"

namespace refrain::data {

AnyRegion RegionTree::handle(std::uint32_t node) const {
  const std::uint32_t partition = nodes_[node].partition;
  return {const_cast<RegionTree*>(this), node,
          partition == RegionNode::none ? generation() : generation_of(partition)};
}

AnyPartition RegionTree::partition_handle(std::uint32_t partition) const {
  return {const_cast<RegionTree*>(this), partition, generation_of(partition)};
}

std::string RegionTree::name_of(std::uint32_t node) const {
  // From the innermost outwards. Of what is cut again and again the middle is not told.
  constexpr std::size_t most_outer = 4, most_inner = 4;
  std::vector<std::uint32_t> pieces;
  while (nodes_[node].partition != RegionNode::none) {
    pieces.push_back(node);
    node = partitions_[nodes_[node].partition].parent;
  }
  std::string name = "region " + std::to_string(slot());
  for (std::size_t i = pieces.size(); i-- > 0;) {
    if (pieces.size() > most_outer + most_inner + 1 && i + most_outer < pieces.size() &&
        i >= most_inner) {
      name += "[" + std::to_string(pieces.size() - most_outer - most_inner) + " more]";
      i = most_inner;
      continue;
    }
    const RegionNode& region = nodes_[pieces[i]];
    const PartitionNode& p = partitions_[region.partition];
    name += "[" + p.kind + " " + to_string(p.colours->nth(region.rank), p.colours->dim()) + "]";
  }
  return name;
}

std::string RegionTree::name_of_partition(std::uint32_t partition) const {
  const PartitionNode& p = partitions_[partition];
  return name_of(p.parent) + "[" + p.kind + "]";
}

// Its slot is that of the tree, unless the object has been used for another tree since.
std::string RegionTree::name_of_dead(std::uint32_t generation) const {
  return generation >= born_.load(std::memory_order_relaxed) ? "region " + std::to_string(slot())
                                                             : "a region of an earlier tree";
}

std::string RegionTree::name_of(const AnyRegion& region) const {
  if (names_living(region)) return name_of(region.node);
  const std::string tree = name_of_dead(region.generation);
  return region.node == 0 ? tree : "a piece of " + tree;
}

std::string RegionTree::name_of(const AnyPartition& partition) const {
  if (names_living(partition)) return name_of_partition(partition.index);
  return "a partition of " + name_of_dead(partition.generation);
}

void check_alive(const AnyRegion& region, const char* what) {
  if (region.tree == nullptr) throw UsageError(std::string(what) + ": an empty region handle");
  if (!region.tree->names_living(region))
    throw UsageError(std::string(what) + ": " + region.tree->name_of(region) + " was destroyed");
}

void check_alive(const AnyPartition& partition, const char* what) {
  if (partition.tree == nullptr)
    throw UsageError(std::string(what) + ": an empty partition handle");
  if (!partition.tree->names_living(partition))
    throw UsageError(std::string(what) + ": " + partition.tree->name_of(partition) +
                     " was destroyed");
}

void check_readable(const AnyRegion& region, const char* what) {
  if (region.tree == nullptr || region.tree->pins() == 0 || !region.tree->knows(region))
    check_alive(region, what);
}

void check_readable(const AnyPartition& partition, const char* what) {
  if (partition.tree == nullptr || partition.tree->pins() == 0 || !partition.tree->knows(partition))
    check_alive(partition, what);
}

}  // namespace refrain::data
