#pragma once
// The analysis state of one field of one region tree, in one context: the pieces, the footprints of the
// regions used so far, and the instances.
//
// Splitting. When a region is used for the first time, the pieces that it covers in part are split, so
// that every region used is a union of whole pieces. Later launches on the same regions touch no set
// algebra: they walk the footprint. The first use of a piece of a disjoint partition splits for all its
// siblings at once, which keeps first uses linear in the number of pieces.
//
// Owner: the context's thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "analysis/piece.hpp"
#include "analysis/piece_index.hpp"
#include "data/region_tree.hpp"

namespace refrain::analysis {

class FieldState {
 public:
  /// All points of `space` start with a pending fill of zero bytes.
  /// `tree`: whose field it is, for messages.
  FieldState(data::IndexSpaceRef space, const ValueType& type, std::string field_name,
             const data::RegionTree* tree = nullptr);
  ~FieldState();
  FieldState(const FieldState&) = delete;

  /// The footprint of a set of points, made when missing. When the points are a region of a tree, saying
  /// so makes the first use of a partition cheap.
  Footprint& footprint(const data::IndexSpaceRef& points, const data::RegionTree* tree = nullptr,
                       std::uint32_t node = 0);
  /// Forgets the footprints that `in_use` does not ask to keep, and puts pieces together that nothing
  /// tells apart any more. Whoever remembers footprints must have forgotten those before.
  void forget_footprints(const std::function<bool(const data::IndexSpaceRef&)>& in_use);

  [[nodiscard]] const data::IndexSpaceRef& space() const { return space_; }
  [[nodiscard]] const ValueType& type() const { return type_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// "field 'voltage' of region 3".
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] const std::vector<std::unique_ptr<Piece>>& pieces() const { return pieces_; }

  /// The instances alive, in order of creation.
  [[nodiscard]] const std::vector<std::unique_ptr<Instance>>& instances() const {
    return instances_;
  }
  /// Changes whenever an instance appears or goes: choices of instances remembered elsewhere carry it.
  [[nodiscard]] std::uint32_t instance_epoch() const { return instance_epoch_; }
  Instance& add_instance(std::unique_ptr<Instance> instance);
  /// Takes the instance out of all pieces; the operations that may still be using it are appended to
  /// `users`. The storage is the caller's to release once they are complete.
  std::unique_ptr<Instance> remove_instance(Instance& instance, std::vector<exec::NodeRef>& users);

  /// As new: a pending fill of zeros everywhere, nobody has written or read. Pieces and footprints stay.
  void reset();

  /// Breaks when an invariant does: pieces disjoint and complete, footprints exact. Slow; for tests.
  void check_invariants() const;

 private:
  Piece& add_piece(data::IndexSpaceRef points);
  void split(Piece& piece, const data::IndexSpaceRef& inside);
  void split_by_siblings(Piece& piece, const data::RegionTree& tree,
                         const data::PartitionNode& partition);
  void refine(const data::IndexSpaceRef& points, const data::RegionTree* tree, std::uint32_t node);
  void coalesce();

  data::IndexSpaceRef space_;
  ValueType type_;
  std::string name_;
  const data::RegionTree* tree_;
  std::shared_ptr<const FillValue> zeros_;
  std::vector<std::unique_ptr<Piece>> pieces_;
  PieceIndex index_;
  std::unordered_map<const data::IndexSpace*, std::unique_ptr<Footprint>>
      footprints_;  ///< by points
  std::vector<std::unique_ptr<Instance>> instances_;
  std::uint32_t next_instance_ = 0;
  std::uint32_t instance_epoch_ = 0;
};

}  // namespace refrain::analysis
