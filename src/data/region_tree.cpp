#include "data/region_tree.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "data/forest.hpp"
#include "data/partition_ops.hpp"

namespace refrain::data {

namespace {

std::uint64_t next_uid() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

std::optional<std::uint32_t> RegionTree::find_field(const AnyField& field) const {
  for (std::uint32_t i = 0; i < fields_.size(); ++i) {
    const FieldColumn& column = fields_[i];
    if (column.key == field.key && column.name == field.name && column.type == *field.type)
      return i;
  }
  return std::nullopt;
}

// --- the tree's own life ---------------------------------------------------------------------------

std::uint32_t RegionTree::tick() {
  if (++clock_ == 0) ++clock_;  // 0 means dead
  return clock_;
}

void RegionTree::start(Forest& forest, std::uint32_t slot, IndexSpaceRef space,
                       std::vector<FieldColumn> fields) {
  forest_ = &forest;
  slot_.store(slot, std::memory_order_relaxed);
  uid_ = next_uid();
  fields_ = std::move(fields);
  nodes_.emplace(0).space = std::move(space);
  node_count_.store(1, std::memory_order_relaxed);
  revive();
  born_.store(generation(), std::memory_order_relaxed);
}

void RegionTree::revive() { generation_.store(tick(), std::memory_order_relaxed); }

std::vector<NodeRange> RegionTree::sleep() {
  forest_->note_death();
  generation_.store(0, std::memory_order_relaxed);
  for (std::uint32_t p = 0; p < partition_count(); ++p)
    if (partitions_[p].uses > 0) put_to_sleep(p);
  return trim();
}

void RegionTree::empty() {
  generation_.store(0, std::memory_order_relaxed);
  node_count_.store(0, std::memory_order_relaxed);
  partition_count_.store(0, std::memory_order_relaxed);
  forest_ = nullptr;
  pins_.store(0, std::memory_order_relaxed);
  state.reset();
  viewed_ = nullptr;
  fields_.clear();
  nodes_.clear();
  partitions_.clear();
  by_content_.clear();
  dormant_.clear();
  dormant_pieces_ = 0;
  free_partitions_.clear();
  free_nodes_.clear();
}

// --- making partitions -----------------------------------------------------------------------------

AnyPartition RegionTree::make_partition(std::uint32_t parent, IndexSpaceRef colours,
                                        std::vector<IndexSpaceRef> pieces, std::string kind) {
  REFRAIN_ASSERT(pieces.size() == colours->volume(), "a partition has one piece per colour");
  const std::uint64_t content =
      partition_id(nodes_[parent].space, colours, pieces) ^ (parent * 0x9e3779b97f4a7c15ull);
  std::uint32_t index;
  if (auto found = find_partition(content, parent, colours, pieces)) {
    index = *found;
    if (partitions_[index].uses == 0) wake(index);
  } else {
    index = add_partition(parent, std::move(colours), std::move(pieces), std::move(kind));
    partitions_[index].content = content;
    by_content_.emplace(content, index);
  }
  ++partitions_[index].uses;
  return partition_handle(index);
}

std::optional<std::uint32_t> RegionTree::find_partition(
    std::uint64_t content, std::uint32_t parent, const IndexSpaceRef& colours,
    const std::vector<IndexSpaceRef>& pieces) const {
  auto [candidate, end] = by_content_.equal_range(content);
  for (; candidate != end; ++candidate) {
    const PartitionNode& p = partitions_[candidate->second];
    bool equal = p.parent == parent && p.colours == colours;
    for (std::uint32_t i = 0; equal && i < pieces.size(); ++i)
      equal = nodes_[p.first_child + i].space == pieces[i];
    if (equal) return candidate->second;
  }
  return std::nullopt;
}

std::uint32_t RegionTree::add_partition(std::uint32_t parent, IndexSpaceRef colours,
                                        std::vector<IndexSpaceRef> pieces, std::string kind) {
  std::uint32_t index = partition_count();
  if (free_partitions_.empty()) {
    partitions_.ensure(index + 1);
    partition_count_.store(index + 1, std::memory_order_relaxed);
  } else {
    index = free_partitions_.back();
    free_partitions_.pop_back();
  }
  const auto count = static_cast<std::uint32_t>(pieces.size());
  PartitionNode& p = partitions_[index];
  p.parent = parent;
  p.first_child = take_nodes(count);
  p.colours = std::move(colours);
  p.kind = std::move(kind);
  p.disjoint.store(Known::not_yet, std::memory_order_relaxed);
  p.complete.store(Known::not_yet, std::memory_order_relaxed);
  p.generation.store(tick(), std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    RegionNode& piece = nodes_[p.first_child + i];
    piece.space = std::move(pieces[i]);
    piece.partition = index;
    piece.rank = i;
  }
  if (const std::uint32_t above = nodes_[parent].partition; above != RegionNode::none)
    partitions_[above].below.push_back(index);
  return index;
}

std::uint32_t RegionTree::take_nodes(std::uint32_t count) {
  if (auto free = free_nodes_.find(count); free != free_nodes_.end() && !free->second.empty()) {
    const std::uint32_t first = free->second.back();
    free->second.pop_back();
    return first;
  }
  const std::uint32_t first = node_count();
  nodes_.ensure(first + count);
  node_count_.store(first + count, std::memory_order_relaxed);
  return first;
}

// --- ending partitions -----------------------------------------------------------------------------

std::vector<NodeRange> RegionTree::destroy_partition(std::uint32_t index) {
  REFRAIN_ASSERT(partitions_[index].uses > 0, "only a living partition is destroyed");
  if (--partitions_[index].uses > 0) return {};
  put_to_sleep(index);
  return trim();
}

// Those below go first: they are older among the dormant, and dropped before what they stand on.
void RegionTree::put_to_sleep(std::uint32_t index) {
  PartitionNode& p = partitions_[index];
  for (const std::uint32_t below : p.below)
    if (partitions_[below].uses > 0) put_to_sleep(below);
  p.uses = 0;
  forest_->note_death();
  p.generation.store(0, std::memory_order_relaxed);
  dormant_.push_back(index);
  dormant_pieces_ += p.pieces();
}

void RegionTree::wake(std::uint32_t index) {
  take_off_dormant(index);
  partitions_[index].generation.store(tick(), std::memory_order_relaxed);
}

void RegionTree::take_off_dormant(std::uint32_t index) {
  dormant_.erase(std::ranges::find(dormant_, index));
  dormant_pieces_ -= partitions_[index].pieces();
}

std::vector<NodeRange> RegionTree::trim() {
  std::vector<NodeRange> dropped;
  while (pins() == 0 &&
         (dormant_.size() > max_dormant_partitions || dormant_pieces_ > max_dormant_pieces))
    drop(dormant_.front(), dropped);
  if (!dropped.empty()) uid_ = next_uid();
  return dropped;
}

void RegionTree::drop(std::uint32_t index, std::vector<NodeRange>& dropped) {
  PartitionNode& p = partitions_[index];
  while (!p.below.empty()) drop(p.below.back(), dropped);
  if (const std::uint32_t above = nodes_[p.parent].partition; above != RegionNode::none)
    std::erase(partitions_[above].below, index);
  auto entry = by_content_.equal_range(p.content).first;
  while (entry->second != index) ++entry;
  by_content_.erase(entry);
  take_off_dormant(index);
  const std::uint32_t count = p.pieces();
  for (std::uint32_t i = 0; i < count; ++i) nodes_[p.first_child + i].space = {};
  free_nodes_[count].push_back(p.first_child);
  free_partitions_.push_back(index);
  dropped.push_back({p.first_child, count});
  p.colours = {};
}

// --- questions -------------------------------------------------------------------------------------

std::vector<IndexSpaceRef> RegionTree::pieces_of(const PartitionNode& p) const {
  std::vector<IndexSpaceRef> pieces;
  pieces.reserve(p.pieces());
  for (std::uint32_t i = 0; i < p.pieces(); ++i) pieces.push_back(nodes_[p.first_child + i].space);
  return pieces;
}

bool RegionTree::is_disjoint(std::uint32_t index) const {
  const PartitionNode& p = partitions_[index];
  Known known = p.disjoint.load(std::memory_order_relaxed);
  if (known == Known::not_yet) {
    known = data::is_disjoint(pieces_of(p)) ? Known::yes : Known::no;
    p.disjoint.store(known, std::memory_order_relaxed);
  }
  return known == Known::yes;
}

bool RegionTree::is_complete(std::uint32_t index) const {
  const PartitionNode& p = partitions_[index];
  Known known = p.complete.load(std::memory_order_relaxed);
  if (known == Known::not_yet) {
    known = data::is_complete(pieces_of(p), nodes_[p.parent].space) ? Known::yes : Known::no;
    p.complete.store(known, std::memory_order_relaxed);
  }
  return known == Known::yes;
}

bool RegionTree::is_within(std::uint32_t inner, std::uint32_t outer) const {
  while (inner != outer) {
    const std::uint32_t above = nodes_[inner].partition;
    if (above == RegionNode::none) return false;
    inner = partitions_[above].parent;
  }
  return true;
}

}  // namespace refrain::data
