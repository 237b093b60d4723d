#include "data/region_tree.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "data/partition_ops.hpp"
#include "refrain/error.hpp"

namespace refrain::data {

namespace {

std::uint64_t next_uid() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// Where `count` elements in a row have their place: where it is free, or after all that were ever used.
template <class T>
std::uint32_t take_places(std::uint32_t count, std::vector<std::uint32_t>& free,
                          StableVector<T>& elements, std::atomic<std::uint32_t>& used) {
  const std::uint32_t first = free.empty() ? used.load(std::memory_order_relaxed) : free.back();
  if (!free.empty()) {
    free.pop_back();
  } else {
    elements.ensure(first + count);
    used.store(first + count, std::memory_order_relaxed);
  }
  return first;
}

template <class Compute>
bool is_known(std::atomic<Known>& property, const Compute& compute) {
  if (property.load(std::memory_order_relaxed) == Known::not_yet)
    property.store(compute() ? Known::yes : Known::no, std::memory_order_relaxed);
  return property.load(std::memory_order_relaxed) == Known::yes;
}

template <class Handle>
void check(const Handle& handle, const char* what, const char* kind) {
  if (handle.tree == nullptr)
    throw UsageError(std::string(what) + ": an empty " + kind + " handle");
  if (!handle.tree->names_living(handle))
    throw UsageError(std::string(what) + ": " + handle.tree->name_of(handle) + " was destroyed");
}

}  // namespace

std::optional<std::uint32_t> RegionTree::find_field(const AnyField& field) const {
  const auto found = std::ranges::find_if(fields_, [&](const FieldColumn& column) {
    return column.key == field.key && column.name == field.name && column.type == *field.type;
  });
  if (found == fields_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - fields_.begin());
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
  nodes_.ensure(1);
  nodes_[0].space = std::move(space);
  node_count_.store(1, std::memory_order_relaxed);
  revive();
  born_.store(generation(), std::memory_order_relaxed);
}

bool RegionTree::sleep() {
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
  earlier_.clear();
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
      partition_id(nodes_[parent].space, colours, pieces) ^ name_word(parent);
  auto [known, end] = by_content_.equal_range(content);
  known = std::find_if(known, end, [&](const auto& entry) {
    const PartitionNode& p = partitions_[entry.second];
    return p.parent == parent && p.colours == colours && pieces_of(p) == pieces;
  });
  std::uint32_t index;
  if (known == end) {
    index = add_partition(parent, std::move(colours), std::move(pieces), std::move(kind));
    partitions_[index].content = content;
    by_content_.emplace(content, index);
  } else {
    index = known->second;
    if (partitions_[index].uses == 0) take_off_dormant(index);
  }
  PartitionNode& p = partitions_[index];
  if (p.uses++ == 0) p.generation.store(tick(), std::memory_order_relaxed);
  return partition_handle(index);
}

std::uint32_t RegionTree::add_partition(std::uint32_t parent, IndexSpaceRef colours,
                                        std::vector<IndexSpaceRef> pieces, std::string kind) {
  const auto count = static_cast<std::uint32_t>(pieces.size());
  const std::uint32_t index = take_places(1, free_partitions_, partitions_, partition_count_);
  PartitionNode& p = partitions_[index];
  p.parent = parent;
  p.first_child = take_places(count, free_nodes_[count], nodes_, node_count_);
  p.colours = std::move(colours);
  p.kind = std::move(kind);
  p.disjoint.store(Known::not_yet, std::memory_order_relaxed);
  p.complete.store(Known::not_yet, std::memory_order_relaxed);
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

// --- ending partitions -----------------------------------------------------------------------------

bool RegionTree::destroy_partition(std::uint32_t index) {
  REFRAIN_ASSERT(partitions_[index].uses > 0, "only a living partition is destroyed");
  if (--partitions_[index].uses > 0) return false;
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

void RegionTree::take_off_dormant(std::uint32_t index) {
  dormant_.erase(std::ranges::find(dormant_, index));
  dormant_pieces_ -= partitions_[index].pieces();
}

bool RegionTree::trim() {
  std::vector<std::uint32_t> dropped;
  while (dormant_.size() > max_dormant_partitions || dormant_pieces_ > max_dormant_pieces)
    drop(dormant_.front(), dropped);
  if (dropped.empty()) return false;
  set_aside(std::move(dropped));
  return true;
}

// Tasks in flight may look at what the partition is, so that stays as it is.
void RegionTree::drop(std::uint32_t index, std::vector<std::uint32_t>& dropped) {
  PartitionNode& p = partitions_[index];
  while (!p.below.empty()) drop(p.below.back(), dropped);
  if (const std::uint32_t above = nodes_[p.parent].partition; above != RegionNode::none)
    std::erase(partitions_[above].below, index);
  auto entry = by_content_.equal_range(p.content).first;
  while (entry->second != index) ++entry;
  by_content_.erase(entry);
  take_off_dormant(index);
  dropped.push_back(index);
}

// --- storage of what was dropped -------------------------------------------------------------------

void RegionTree::set_aside(std::vector<std::uint32_t> dropped) {
  std::uint32_t now = pins();
  for (const Earlier& earlier : earlier_) now -= earlier.pins;
  earlier_.push_back({uid(), now, std::move(dropped)});
  uid_ = next_uid();
  free_unpinned();
}

void RegionTree::unpin_earlier(std::uint64_t uid) {
  const auto earlier = std::ranges::find(earlier_, uid, &Earlier::uid);
  REFRAIN_ASSERT(earlier != earlier_.end() && earlier->pins > 0, "what is unpinned was pinned");
  --earlier->pins;
  free_unpinned();
}

void RegionTree::free_unpinned() {
  for (; !earlier_.empty() && earlier_.front().pins == 0; earlier_.pop_front())
    for (const std::uint32_t index : earlier_.front().partitions) {
      PartitionNode& p = partitions_[index];
      for (std::uint32_t i = 0; i < p.pieces(); ++i) nodes_[p.first_child + i].space = {};
      free_nodes_[p.pieces()].push_back(p.first_child);
      free_partitions_.push_back(index);
      p.colours = {};
      p.boxes.reset();
    }
}

// --- questions -------------------------------------------------------------------------------------

std::vector<IndexSpaceRef> RegionTree::pieces_of(const PartitionNode& p) const {
  std::vector<IndexSpaceRef> pieces(p.pieces());
  for (std::uint32_t i = 0; i < p.pieces(); ++i) pieces[i] = nodes_[p.first_child + i].space;
  return pieces;
}

void RegionTree::erase_own(std::unordered_set<const IndexSpace*>& spaces) const {
  spaces.erase(space().get());
  for (const auto& [content, index] : by_content_) {
    const PartitionNode& p = partitions_[index];
    for (std::uint32_t i = 0; i < p.pieces(); ++i)
      spaces.erase(nodes_[p.first_child + i].space.get());
  }
}

std::uint64_t RegionTree::name_word(std::uint32_t node) const {
  const RegionNode& region = nodes_[node];
  if (region.partition == RegionNode::none) return 0;
  const std::uint64_t words[] = {partitions_[region.partition].content, region.rank};
  return hash_bytes(words, sizeof words);
}

bool RegionTree::is_disjoint(std::uint32_t index) const {
  const PartitionNode& p = partitions_[index];
  return is_known(p.disjoint, [&] { return data::is_disjoint(pieces_of(p)); });
}

bool RegionTree::is_complete(std::uint32_t index) const {
  const PartitionNode& p = partitions_[index];
  return is_known(p.complete,
                  [&] { return data::is_complete(pieces_of(p), nodes_[p.parent].space); });
}

std::vector<NumberedBox> RegionTree::owners_of(std::uint32_t index, const Box& box) const {
  const PartitionNode& p = partitions_[index];
  if (box.empty()) return {};
  const PieceBoxes& of_pieces =
      p.boxes.get([&] { return std::make_unique<PieceBoxes>(pieces_of(p)); });
  std::vector<const NumberedBox*> found;
  of_pieces.index.find(box, [&](const NumberedBox& each) { found.push_back(&each); });
  std::ranges::sort(found);  // as they stand: nothing may depend on the order of a search
  std::vector<NumberedBox> owners;
  owners.reserve(found.size());
  for (const NumberedBox* each : found)
    owners.push_back({intersection(each->box, box), each->number});
  return owners;
}

bool RegionTree::is_within(std::uint32_t inner, std::uint32_t outer) const {
  while (inner != outer) {
    const std::uint32_t above = nodes_[inner].partition;
    if (above == RegionNode::none) return false;
    inner = partitions_[above].parent;
  }
  return true;
}

// Handles of region trees: which are alive, and what they are called in messages.

AnyRegion RegionTree::handle(std::uint32_t node) const {
  return {const_cast<RegionTree*>(this), node, generation_of_node(node)};
}

AnyPartition RegionTree::partition_handle(std::uint32_t partition) const {
  return {const_cast<RegionTree*>(this), partition, generation_of(partition)};
}

std::string RegionTree::name_of(std::uint32_t node) const {
  // Of what is cut again and again the middle is not told.
  constexpr std::size_t most_outer = 4, most_inner = 4;
  std::vector<std::uint32_t> pieces;
  while (nodes_[node].partition != RegionNode::none) {
    pieces.push_back(node);
    node = partitions_[nodes_[node].partition].parent;
  }
  std::ranges::reverse(pieces);
  const std::size_t left_out =
      pieces.size() > most_outer + most_inner + 1 ? pieces.size() - most_outer - most_inner : 0;
  std::string name = "region " + std::to_string(slot());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i == most_outer && left_out > 0) {
      name += "[" + std::to_string(left_out) + " more]";
      i += left_out;
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

void check_alive(const AnyRegion& region, const char* what) { check(region, what, "region"); }
void check_alive(const AnyPartition& partition, const char* what) {
  check(partition, what, "partition");
}

Forest::~Forest() {
  for (auto& tree : dropped_) bury(std::move(tree));
  for (auto& tree : slots_)
    if (tree) bury(std::move(tree));
}

RegionTree& Forest::create(IndexSpaceRef space, std::vector<FieldColumn> fields) {
  if (RegionTree* tree = find_dormant(space, fields)) {
    tree->revive();
    return *tree;
  }
  const std::uint32_t slot = take_slot();
  slots_[slot] = unbury();
  slots_[slot]->start(*this, slot, std::move(space), std::move(fields));
  return *slots_[slot];
}

bool Forest::destroy(RegionTree& tree) {
  REFRAIN_ASSERT(&tree.forest() == this && tree.alive(),
                 "only a living tree of this forest is destroyed");
  const bool dropped = tree.sleep();
  dormant_.push_back(&tree);
  if (dormant_.size() > max_dormant) drop_oldest();
  return dropped;
}

std::vector<RegionTree*> Forest::trees() const {
  std::vector<RegionTree*> trees;
  for (const auto& tree : slots_)
    if (tree && tree->alive()) trees.push_back(tree.get());
  return trees;
}

RegionTree* Forest::find_dormant(const IndexSpaceRef& space,
                                 const std::vector<FieldColumn>& fields) {
  const auto found = std::find_if(dormant_.rbegin(), dormant_.rend(), [&](const RegionTree* tree) {
    return tree->space() == space && tree->fields() == fields;
  });
  if (found == dormant_.rend()) return nullptr;
  RegionTree* tree = *found;
  dormant_.erase(std::next(found).base());
  return tree;
}

std::uint32_t Forest::take_slot() {
  if (free_slots_.empty()) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  return free_slots_.extract(free_slots_.begin()).value();
}

void Forest::drop_oldest() {
  RegionTree& oldest = *dormant_.front();
  dormant_.erase(dormant_.begin());
  oldest.set_aside({});
  free_slots_.insert(oldest.slot());
  std::unique_ptr<RegionTree> dropped = std::move(slots_[oldest.slot()]);
  if (oldest.pins() == 0) return bury(std::move(dropped));
  dropped_.push_back(std::move(dropped));
  if (dropped_.size() < look_again_at_) return;
  std::erase_if(dropped_, [this](auto& tree) {
    if (tree->pins() > 0) return false;
    bury(std::move(tree));
    return true;
  });
  look_again_at_ = 2 * dropped_.size() + kFewDropped;
}

void Forest::bury(std::unique_ptr<RegionTree> tree) {
  tree->empty();
  const std::lock_guard lock(graveyard_->mutex);
  graveyard_->trees.push_back(std::move(tree));
}

std::unique_ptr<RegionTree> Forest::unbury() {
  const std::lock_guard lock(graveyard_->mutex);
  if (graveyard_->trees.empty()) return std::make_unique<RegionTree>();
  auto tree = std::move(graveyard_->trees.back());
  graveyard_->trees.pop_back();
  return tree;
}

}  // namespace refrain::data
