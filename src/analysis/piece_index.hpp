#pragma once
// Finds the pieces whose bounding boxes meet a box: an R-tree (Boost.Geometry) over the pieces' bounds.
// Queries cost O(log n + hits). Owner: the field state's.

#include <memory>
#include <vector>

#include "data/index_space.hpp"

namespace refrain::analysis {

struct Piece;

class PieceIndex {
 public:
  PieceIndex();
  ~PieceIndex();
  void insert(Piece& piece, const data::Box& bounds);
  /// `bounds` must be what insert was given.
  void erase(Piece& piece, const data::Box& bounds);
  /// The pieces whose bounds meet a box of the set, each once (all that share a point with it are among
  /// them). A scattered set is looked up box by box: its bounding box may meet nearly everything.
  [[nodiscard]] std::vector<Piece*> query(const data::IndexSpace& points) const;

 private:
  struct Tree;
  std::unique_ptr<Tree> tree_;
};

}  // namespace refrain::analysis
