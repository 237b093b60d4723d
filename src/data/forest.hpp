#pragma once
// The region trees of one context, by slot. See data/region_tree.hpp for what becomes of destroyed ones.
//
// Owner: the context's thread. Objects of dropped trees go to a graveyard, from which the next new trees
// take them; all forests of a runtime share one, so that a handle stays recognisable as dead also after
// the context that made it has ended. It holds as many objects as there ever were trees at one time.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "data/region_tree.hpp"

namespace refrain::data {

/// Emptied trees waiting to be used again. Any thread.
class TreeGraveyard;
std::shared_ptr<TreeGraveyard> make_graveyard();

class Forest {
 public:
  static constexpr std::size_t max_dormant = 64;

  /// A program's forest.
  explicit Forest(std::shared_ptr<TreeGraveyard> graveyard = make_graveyard());
  /// The forest of a context nested in the one of `enclosing`.
  [[nodiscard]] static Forest nested_in(const Forest& enclosing);
  ~Forest();
  Forest(const Forest&) = delete;
  Forest& operator=(const Forest&) = delete;

  /// How many contexts enclose this one: 0 for the program's.
  [[nodiscard]] int depth() const { return depth_; }

  /// A tree for this shape: the one that became dormant last, or a new one in the lowest free slot.
  RegionTree& create(IndexSpaceRef space, std::vector<FieldColumn> fields);
  /// The tree becomes dormant with all its partitions. The oldest dormant tree is dropped to keep the bound: it releases
  /// its `state` here, or later if it is pinned. Returns whether partitions of *this* tree were dropped.
  bool destroy(RegionTree& tree);

  /// Of trees and partitions. While this stays as it is, a handle that named something alive does so.
  [[nodiscard]] std::uint64_t deaths() const { return deaths_; }
  void note_death() { ++deaths_; }

  [[nodiscard]] std::size_t alive() const { return alive_; }
  [[nodiscard]] std::size_t dormant() const { return dormant_.size(); }
  /// All trees alive, by slot.
  [[nodiscard]] std::vector<RegionTree*> trees() const;

 private:
  static constexpr std::size_t kFew = 16;

  Forest(std::shared_ptr<TreeGraveyard> graveyard, int depth);
  RegionTree* find_dormant(const IndexSpaceRef& space, const std::vector<FieldColumn>& fields);
  std::uint32_t take_slot();
  void drop_oldest();
  void bury(std::unique_ptr<RegionTree> tree);

  int depth_;
  std::shared_ptr<TreeGraveyard> graveyard_;
  std::size_t alive_ = 0;
  std::uint64_t deaths_ = 0;
  std::vector<std::unique_ptr<RegionTree>> slots_;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_slots_;
  std::vector<RegionTree*> dormant_;                  ///< oldest first
  std::vector<std::unique_ptr<RegionTree>> dropped_;  ///< pinned when they were
  std::size_t look_again_at_ = kFew;                  ///< size of dropped_
};

}  // namespace refrain::data
