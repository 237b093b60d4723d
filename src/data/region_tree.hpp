#pragma once
// Region trees: a root region (an index space times fields), its partitions, their subregions, their
// partitions, to any depth. A tree sits in a numbered slot of its context's forest.
//
// **Dormant trees.** A program that makes and destroys its temporaries in a loop names the same slots in every
// iteration. A destroyed tree or partition becomes *dormant*: the next one of the same shape (equal index space and
// fields; for a partition, equal pieces of the same region) takes over the slot that became dormant last, and all that
// is remembered about it, under a new generation. The number of dormant trees and partitions is bounded: the oldest are
// *dropped*. So names follow from the calls that make and destroy, and from nothing else. Dropping changes `uid`, which
// everything memoised about the tree carries.
//
// **Storage** is another matter: launches in flight pin what they name. The nodes of a dropped partition, and the object
// of a dropped tree, stay as they are until whoever pinned the tree before has unpinned it. The numbers of nodes and
// partitions are places in this storage, and follow what is in flight; names (`name_word`) hold none of them.
//
// **Generations** tell living handles from dead ones. Each tree object has a clock that only rises. Making or reviving
// the tree or one of its partitions takes the clock's next tick; a dead one has generation 0. The handle of a root
// carries the tree's generation, the handle of a piece its partition's. One comparison is enough, since a partition
// dies with everything above it. The object of a dropped tree is emptied and kept for reuse, and its clock goes on: an
// old handle never points to nothing.
//
// Threads: the thread of the context owns its forest and changes the trees. Tasks that hold handles read nodes and
// partitions that existed at their launch; storage is stable (base/stable_vector.hpp), so they take no lock.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/made_once.hpp"
#include "base/stable_vector.hpp"
#include "base/sure_memory.hpp"
#include "data/box_index.hpp"
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

/// What is known of a property that is computed when first asked for.
enum class Known : std::uint8_t { not_yet, no, yes };

/// The boxes of a partition's pieces, by their rank, and an index of them.
struct PieceBoxes {
  explicit PieceBoxes(const std::vector<IndexSpaceRef>& pieces)
      : boxes(numbered_boxes(pieces)), index(index_of(boxes)) {}
  const std::vector<NumberedBox> boxes;
  const BoxIndex<const NumberedBox> index;
};

/// A partition of the region `parent`; its pieces are the nodes first_child .. first_child + colours - 1.
struct PartitionNode {
  std::uint32_t parent = 0;
  std::uint32_t first_child = 0;
  std::uint32_t uses = 0;  ///< handles' creations minus destructions; 0: dormant (owner)
  /// Hash of the parent's name, colours and pieces: the name in its tree.
  std::uint64_t content = 0;
  IndexSpaceRef colours;
  std::string kind;                  ///< "blocks", "halo", ... for messages
  std::vector<std::uint32_t> below;  ///< partitions of its pieces, dormant ones included (owner)
  // Relaxed suffices: whoever may use a handle learned of the partition after it was made, and whoever
  // uses it while it is being destroyed has no promise about which answer it gets.
  std::atomic<std::uint32_t> generation{0};  ///< 0: not alive
  // Any thread may compute these; all get the same answer.
  mutable std::atomic<Known> disjoint{Known::not_yet}, complete{Known::not_yet};
  MadeOnce<PieceBoxes> boxes;

  [[nodiscard]] std::uint32_t pieces() const {
    return static_cast<std::uint32_t>(colours->volume());
  }
};

class alignas(64) RegionTree {
 public:
  static constexpr std::size_t max_dormant_partitions = 64;
  static constexpr std::size_t max_dormant_pieces = std::size_t{1} << 18;

  RegionTree() = default;
  RegionTree(const RegionTree&) = delete;

  /// Not of an emptied tree.
  [[nodiscard]] Forest& forest() const { return *forest_; }
  [[nodiscard]] bool in(const Forest& forest) const { return forest_ == &forest; }
  [[nodiscard]] std::uint32_t slot() const { return slot_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint32_t generation() const {
    return generation_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool alive() const { return generation() != 0; }
  /// Never repeats in the process; changes when something of the tree, or all of it, is dropped.
  [[nodiscard]] std::uint64_t uid() const { return uid_.load(std::memory_order_relaxed); }
  /// What a context with this forest knows the tree by. A tree of an enclosing context stays itself while a task uses
  /// it, whatever is dropped of it meanwhile.
  [[nodiscard]] std::uint64_t key_in(const Forest& forest) const {
    return in(forest) ? uid() : reinterpret_cast<std::uintptr_t>(this);
  }
  [[nodiscard]] const std::vector<FieldColumn>& fields() const { return fields_; }
  [[nodiscard]] const RegionNode& node(std::uint32_t i) const { return nodes_[i]; }
  /// One more than the highest node number ever used.
  [[nodiscard]] std::uint32_t node_count() const {
    return node_count_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const PartitionNode& partition(std::uint32_t i) const { return partitions_[i]; }
  [[nodiscard]] std::vector<IndexSpaceRef> pieces_of(const PartitionNode& partition) const;
  [[nodiscard]] std::uint32_t partition_count() const {
    return partition_count_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const IndexSpaceRef& space() const { return nodes_[0].space; }
  [[nodiscard]] int dim() const { return space()->dim(); }

  /// Index of the field, or nothing: compares key, name and type.
  [[nodiscard]] std::optional<std::uint32_t> find_field(const AnyField& field) const;

  /// Owner. The partition of `parent` into `pieces` (one per colour, in the order of `colours`): an existing
  /// equal one (its uses go up), a dormant equal one revived, or a new one. Each piece must lie within the
  /// parent (the caller checks with a message of its own).
  AnyPartition make_partition(std::uint32_t parent, IndexSpaceRef colours,
                              std::vector<IndexSpaceRef> pieces, std::string kind);
  /// Owner. Lowers uses; at 0 the partition and all partitions below its pieces become dormant. Returns whether
  /// partitions were dropped to keep the bounds.
  bool destroy_partition(std::uint32_t index);

  /// Owner. The storage of all that the tree has now stays until it is unpinned with the `uid` that it has now. Pins
  /// count.
  void pin() { pins_.store(pins() + 1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint32_t pins() const { return pins_.load(std::memory_order_relaxed); }
  void unpin(std::uint64_t uid) {
    pins_.store(pins() - 1, std::memory_order_relaxed);
    if (uid != uid_.load(std::memory_order_relaxed)) unpin_earlier(uid);
  }
  /// Owner. Takes out of `spaces` those that the region or one of its pieces has, dormant pieces included. Cost: a
  /// look-up for each piece of the tree.
  void erase_own(std::unordered_set<const IndexSpace*>& spaces) const;

  /// A view has no data of its own: it names data of a tree of an enclosing context, so that a nested one
  /// can make partitions of it.
  [[nodiscard]] bool is_view() const { return viewed_ != nullptr; }
  /// The tree that has the data: this one, or what it is a view of.
  [[nodiscard]] RegionTree& data_tree() { return is_view() ? *viewed_ : *this; }
  /// Owner, when the tree has just been created; null: no view. Written only when it changes: a task in
  /// flight may be looking at a tree that is taken up again.
  void make_view_of(RegionTree* tree) {
    if (viewed_ != tree) viewed_ = tree;
  }

  // Any thread; computed when first asked for.
  [[nodiscard]] bool is_disjoint(std::uint32_t partition) const;
  [[nodiscard]] bool is_complete(std::uint32_t partition) const;
  /// What pieces have of a box: by their rank, then in the order of their boxes.
  [[nodiscard]] std::vector<NumberedBox> owners_of(std::uint32_t partition, const Box& box) const;

  /// The tree and node as a handle; of something dormant, a handle that is dead.
  [[nodiscard]] AnyRegion handle(std::uint32_t node) const;
  [[nodiscard]] AnyPartition partition_handle(std::uint32_t partition) const;
  /// Whether the handle, which is one of this tree, names something alive.
  [[nodiscard]] bool names_living(const AnyRegion& region) const {
    if (region.node == 0) return region.generation != 0 && region.generation == generation();
    return region.generation != 0 && region.node < node_count() &&
           region.generation == generation_of_node(region.node);
  }
  [[nodiscard]] bool names_living(const AnyPartition& partition) const {
    return partition.generation != 0 && partition.index < partition_count() &&
           partition.generation == generation_of(partition.index);
  }

  /// Whether the handle names something that can still be looked at: perhaps destroyed, but kept for the
  /// tasks that were launched before.
  [[nodiscard]] bool knows(const AnyRegion& region) const {
    return region.node < node_count() && nodes_[region.node].space;
  }
  [[nodiscard]] bool knows(const AnyPartition& partition) const {
    return partition.index < partition_count() && partitions_[partition.index].colours;
  }

  /// The name of a region or partition within its tree, for signatures: a hash of contents, the same in every run.
  [[nodiscard]] std::uint64_t name_word(const AnyRegion& region) const {
    return name_word(region.node);
  }
  [[nodiscard]] std::uint64_t name_word(const AnyPartition& partition) const {
    return partitions_[partition.index].content;
  }

  /// "region 3" or "region 3[blocks (1, 2)]" (slot, partition kind, colour, from the root down).
  [[nodiscard]] std::string name_of(std::uint32_t node) const;
  /// "region 3[blocks]".
  [[nodiscard]] std::string name_of_partition(std::uint32_t partition) const;
  /// The name, also of the dead, as far as it can still be told.
  [[nodiscard]] std::string name_of(const AnyRegion& region) const;
  [[nodiscard]] std::string name_of(const AnyPartition& partition) const;

  /// True when the region `inner` is `outer` or below it.
  [[nodiscard]] bool is_within(std::uint32_t inner, std::uint32_t outer) const;

  /// The analysis state that the owning context keeps for this tree (analysis/field_state.hpp). Kept while
  /// the tree is dormant, released when it is dropped.
  std::shared_ptr<void> state;

 private:
  friend class Forest;

  void start(Forest& forest, std::uint32_t slot, IndexSpaceRef space,
             std::vector<FieldColumn> fields);
  void revive() { generation_.store(tick(), std::memory_order_relaxed); }
  bool sleep();  ///< becomes dormant with all its partitions; as destroy_partition
  void empty();  ///< only the clock goes on

  [[nodiscard]] std::uint32_t generation_of(std::uint32_t partition) const {
    return partitions_[partition].generation.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t generation_of_node(std::uint32_t node) const {
    const std::uint32_t partition = nodes_[node].partition;
    return partition == RegionNode::none ? generation() : generation_of(partition);
  }
  [[nodiscard]] std::uint32_t tick();
  std::uint32_t add_partition(std::uint32_t parent, IndexSpaceRef colours,
                              std::vector<IndexSpaceRef> pieces, std::string kind);
  void put_to_sleep(std::uint32_t partition);
  bool trim();
  void drop(std::uint32_t partition, std::vector<std::uint32_t>& dropped);
  void set_aside(std::vector<std::uint32_t> dropped);
  void unpin_earlier(std::uint64_t uid);
  void free_unpinned();
  [[nodiscard]] std::uint64_t name_word(std::uint32_t node) const;
  void take_off_dormant(std::uint32_t partition);
  [[nodiscard]] std::string name_of_dead(std::uint32_t generation) const;

  Forest* forest_ = nullptr;  ///< null: emptied
  // Read by other threads through old handles.
  std::atomic<std::uint32_t> slot_{0};
  std::atomic<std::uint32_t> generation_{0};
  std::atomic<std::uint32_t> born_{0};  ///< the clock when this object last became a new tree
  std::atomic<std::uint32_t> node_count_{0}, partition_count_{0};
  std::uint32_t clock_ = 0;
  /// All pins. Written by the owner. Relaxed: a task asks about a tree that its own launch has pinned; of another tree any
  /// answer will do.
  std::atomic<std::uint32_t> pins_{0};
  std::atomic<std::uint64_t> uid_{0};  ///< written by the owner
  /// What was dropped when the tree had this uid, and how often it was pinned then and is still.
  struct Earlier {
    std::uint64_t uid;
    std::uint32_t pins;
    std::vector<std::uint32_t> partitions;
  };
  std::list<Earlier> earlier_;    ///< oldest first, which is pinned; mostly empty: no memory then
  RegionTree* viewed_ = nullptr;  ///< null for a tree with data of its own
  std::vector<FieldColumn> fields_;
  StableVector<RegionNode> nodes_;
  StableVector<PartitionNode> partitions_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_content_;
  std::vector<std::uint32_t> dormant_;  ///< partitions, oldest first
  std::size_t dormant_pieces_ = 0;
  std::vector<std::uint32_t> free_partitions_;
  /// First nodes, by size of block.
  std::unordered_map<std::size_t, std::vector<std::uint32_t>> free_nodes_;
};

/// Emptied trees waiting to be used again. All forests of a runtime share them, so that a handle stays recognisable as
/// dead also after the context that made it has ended. As many as there ever were at one time. Any thread.
struct TreeGraveyard {
  using Trees =
      std::vector<std::unique_ptr<RegionTree>, SureAllocator<std::unique_ptr<RegionTree>>>;

  std::mutex mutex;
  Trees trees;
};

/// A tree, and its uid when a plan or a recording named it. Once the uid has changed, the plan or recording is stale.
struct UsedTree {
  RegionTree* tree;
  std::uint64_t uid;
  friend bool operator==(const UsedTree&, const UsedTree&) = default;

  [[nodiscard]] bool is_stale() const { return tree->uid() != uid; }
  void pin() const { tree->pin(); }
  void unpin() const { tree->unpin(uid); }
};

/// The region trees of one context, by slot. Owner: the context's thread.
class Forest {
 public:
  static constexpr std::size_t max_dormant = 128;

  /// `depth`: how many contexts enclose this one.
  explicit Forest(std::shared_ptr<TreeGraveyard> graveyard = std::make_shared<TreeGraveyard>(),
                  int depth = 0)
      : depth_(depth), graveyard_(std::move(graveyard)) {}
  /// The forest of a context nested in the one of `enclosing`.
  [[nodiscard]] static Forest nested_in(const Forest& enclosing) {
    return Forest(enclosing.graveyard_, enclosing.depth_ + 1);
  }
  ~Forest();
  Forest(const Forest&) = delete;

  /// 0 for the program's.
  [[nodiscard]] int depth() const { return depth_; }

  /// A tree for this shape: the one that became dormant last, or a new one in the lowest free slot.
  RegionTree& create(IndexSpaceRef space, std::vector<FieldColumn> fields);
  /// The tree becomes dormant with all its partitions. The oldest dormant tree is dropped to keep the bound: it releases
  /// its `state` here, or later if it is pinned. Returns whether partitions of *this* tree were dropped.
  bool destroy(RegionTree& tree);

  /// Of trees and partitions. While this stays as it is, a handle that named something alive does so.
  [[nodiscard]] std::uint64_t deaths() const { return deaths_; }
  void note_death() { ++deaths_; }

  [[nodiscard]] std::size_t alive() const {
    return slots_.size() - free_slots_.size() - dormant_.size();
  }
  [[nodiscard]] std::size_t dormant() const { return dormant_.size(); }
  /// All trees alive, by slot.
  [[nodiscard]] std::vector<RegionTree*> trees() const;

 private:
  RegionTree* find_dormant(const IndexSpaceRef& space, const std::vector<FieldColumn>& fields);
  std::uint32_t take_slot();
  std::unique_ptr<RegionTree> unbury();
  void drop_oldest();
  void bury(std::unique_ptr<RegionTree> tree);

  int depth_;
  std::shared_ptr<TreeGraveyard> graveyard_;
  std::uint64_t deaths_ = 0;
  std::vector<std::unique_ptr<RegionTree>> slots_;
  std::set<std::uint32_t> free_slots_;
  std::vector<RegionTree*> dormant_;  ///< oldest first
  TreeGraveyard::Trees dropped_;      ///< pinned when they were
  static constexpr std::size_t kFewDropped = 16;
  std::size_t look_again_at_ = kFewDropped;  ///< size of dropped_
};

/// Throws UsageError ("WHAT: region 3 was destroyed") unless the handle names something alive. Any thread.
void check_alive(const AnyRegion& region, const char* what);
void check_alive(const AnyPartition& partition, const char* what);
/// The same for questions, which tasks in flight may go on asking about what was destroyed since they were
/// launched.
template <class Handle>
void check_readable(const Handle& handle, const char* what) {
  if (handle.tree == nullptr || handle.tree->pins() == 0 || !handle.tree->knows(handle))
    check_alive(handle, what);
}

}  // namespace refrain::data
