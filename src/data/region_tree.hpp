#pragma once
// Region trees: a root region (an index space times fields), its partitions, their subregions, their
// partitions, to any depth. A tree sits in a numbered slot of its context's forest.
//
// Names repeat. destroy() makes a tree (or partition) *dormant*: a new one of the same shape (equal index
// space and fields; a partition: equal pieces of the same region) takes over the slot that became
// dormant last, with all that is remembered about it, under a new generation. So a loop that creates and
// destroys its temporaries names the same slots in every iteration. The number of dormant trees and
// partitions is bounded; dropping one changes `uid`, which everything memoised about the tree carries.
//
// Owner: the thread of the context whose forest it is changes trees; other threads (running tasks that
// hold handles) only read nodes and partitions that existed when their task was launched: storage is
// stable (base/stable_vector.hpp), so reading needs no lock.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/stable_vector.hpp"
#include "data/index_space.hpp"
#include "refrain/field.hpp"
#include "refrain/region.hpp"

namespace refrain::data {

class Forest;
class RegionTree;

/// A column of a tree's field space.
struct FieldColumn {
  std::string name;
  std::uint64_t key = 0;
  ValueType type;
  friend bool operator==(const FieldColumn&, const FieldColumn&) = default;
};

/// A region: the root, or one piece of a partition.
struct RegionNode {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  IndexSpaceRef space;
  std::uint32_t partition = none;  ///< the partition that it is a piece of
  std::uint32_t rank = 0;          ///< position of its colour in the order of the colour space
};

/// A partition of the region `parent`; its pieces are the nodes first_child .. first_child + colours - 1.
struct PartitionNode {
  std::uint32_t parent = 0;
  std::uint32_t first_child = 0;
  std::uint32_t generation = 0;
  std::uint32_t uses = 0;        ///< handles' creations minus destructions; 0: dormant
  std::uint64_t content = 0;     ///< hash of parent, colours and pieces
  IndexSpaceRef colours;
  std::string kind;              ///< "blocks", "halo", ... for messages
  mutable std::optional<bool> disjoint, complete;  ///< computed when first asked (owner thread)
};

class RegionTree {
 public:
  RegionTree(Forest& forest, std::uint32_t slot, IndexSpaceRef space, std::vector<FieldColumn> fields);

  [[nodiscard]] Forest& forest() const { return forest_; }
  [[nodiscard]] std::uint32_t slot() const { return slot_; }
  [[nodiscard]] std::uint32_t generation() const { return generation_; }
  [[nodiscard]] std::uint64_t uid() const { return uid_; }
  [[nodiscard]] const std::vector<FieldColumn>& fields() const { return fields_; }
  [[nodiscard]] const RegionNode& node(std::uint32_t i) const { return nodes_[i]; }
  [[nodiscard]] std::uint32_t node_count() const { return node_count_; }
  [[nodiscard]] const PartitionNode& partition(std::uint32_t i) const { return partitions_[i]; }
  [[nodiscard]] const IndexSpaceRef& space() const { return nodes_[0].space; }
  [[nodiscard]] int dim() const { return space()->dim(); }

  /// Index of the field, or nothing: compares key, name and type.
  [[nodiscard]] std::optional<std::uint32_t> find_field(const AnyField& field) const;

  /// The partition of `parent` into `pieces` (one per colour, in the order of `colours`): an existing equal one (its
  /// uses go up), a dormant equal one revived, or a new one. Each piece must lie within the parent (the
  /// caller checks with a message of its own).
  AnyPartition make_partition(std::uint32_t parent, IndexSpaceRef colours,
                              std::vector<IndexSpaceRef> pieces, std::string kind);
  /// Lowers uses; at 0 the partition and all partitions below its pieces become dormant.
  void destroy_partition(std::uint32_t index);

  [[nodiscard]] bool is_disjoint(std::uint32_t partition) const;
  [[nodiscard]] bool is_complete(std::uint32_t partition) const;

  /// The tree and node as a handle.
  [[nodiscard]] AnyRegion handle(std::uint32_t node) const;

  /// "region 3" or "region 3[blocks (1, 2)]" (slot, partition kind, colour, from the root down).
  [[nodiscard]] std::string name_of(std::uint32_t node) const;
  [[nodiscard]] std::string name_of_partition(std::uint32_t partition) const;

  /// True when the region `inner` is `outer` or below it.
  [[nodiscard]] bool is_within(std::uint32_t inner, std::uint32_t outer) const;

  /// The analysis state that the owning context keeps for this tree (analysis/tree_state.hpp).
  std::shared_ptr<void> state;

 private:
  friend class Forest;
  Forest& forest_;
  std::uint32_t slot_;
  std::uint32_t generation_ = 0;   ///< odd while alive, even while dormant
  std::uint64_t uid_;              ///< never repeats in the process
  std::vector<FieldColumn> fields_;
  StableVector<RegionNode> nodes_;
  std::uint32_t node_count_ = 0;
  StableVector<PartitionNode> partitions_;
  std::uint32_t partition_count_ = 0;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_content_;
};

/// The region trees of one context.
class Forest {
 public:
  explicit Forest(int depth) : depth_(depth) {}
  ~Forest();
  Forest(const Forest&) = delete;

  /// How many contexts enclose this one: 0 for the program's.
  [[nodiscard]] int depth() const { return depth_; }

  /// A tree for this shape: the one that became dormant last, or a new one in the lowest free slot.
  RegionTree& create(IndexSpaceRef space, std::vector<FieldColumn> fields);
  /// The tree becomes dormant with all its partitions. Returns the dormant trees dropped to keep the bound: the
  /// caller releases what it keeps for them, then they are freed.
  std::vector<std::unique_ptr<RegionTree>> destroy(RegionTree& tree);

  [[nodiscard]] std::size_t alive() const { return alive_; }
  /// All trees alive, by slot.
  [[nodiscard]] std::vector<RegionTree*> trees() const;

 private:
  int depth_;
  std::size_t alive_ = 0;
  std::vector<std::unique_ptr<RegionTree>> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<RegionTree*> dormant_;  ///< oldest first
};

/// Throws UsageError ("... was destroyed ...") unless the handle's generation is the present one.
void check_alive(const AnyRegion& region, const char* what);
void check_alive(const AnyPartition& partition, const char* what);

}  // namespace refrain::data
