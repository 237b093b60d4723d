#pragma once
// Finds the pieces whose bounding boxes meet a box: an R-tree (Boost.Geometry) over the pieces' bounds.
// Queries cost O(log n + hits). Owner: the field state's.

#include <vector>
#include <memory>

#include "data/box.hpp"

namespace refrain::analysis {

struct Piece;

class PieceIndex {
 public:
  PieceIndex();
  ~PieceIndex();
  void insert(Piece& piece, const data::Box& bounds);
  /// `bounds` must be what insert was given.
  void erase(Piece& piece, const data::Box& bounds);
  /// The pieces whose bounds meet `box`.
  [[nodiscard]] std::vector<Piece*> query(const data::Box& box) const;
  void clear();

 private:
  struct Tree;
  std::unique_ptr<Tree> tree_;
};

}  // namespace refrain::analysis
