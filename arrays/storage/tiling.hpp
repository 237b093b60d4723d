#pragma once
// How an array's elements are cut into tiles. Storage is one-dimensional, in C order, and tiles are runs of it, so
// that reshaping moves nothing; they are cut between rows where rows are short, so that the parts of a neighbouring
// tile that a stencil reads are whole rows.
//
// The number of tiles depends on the number of elements and the machine, and is the same for arrays of about the same
// size: arrays that are used together are cut alike (tile c of k holds the elements from c/k to (c+1)/k). Under control
// replication all shards have to come to the same cuts: the machine is then the whole one, not the shard's own.

#include <cstdint>
#include <memory>
#include <vector>

#include "refrain/arrays/shape.hpp"
#include "storage/interned.hpp"

namespace refrain::arrays::detail {

/// The cut of arrays of one size. Interned: equal ones are one object while anybody has it.
struct Tiling {
  Coord elements;
  Coord granule;             ///< cuts are at multiples of this: a row, or a few cache lines
  std::vector<Coord> begin;  ///< of each tile, and the end of the last
  std::uint32_t number;      ///< in the order they were made: its name in keys

  [[nodiscard]] int tiles() const { return static_cast<int>(begin.size()) - 1; }
  /// The tile that has an element.
  [[nodiscard]] int tile_of(Coord element) const;
};

/// The tilings of a session.
class Tilings {
 public:
  /// For a machine with so many cores; `forced` elements per tile unless 0.
  Tilings(int cores, Coord forced) : cores_(cores), forced_(forced) {}
  /// That of new arrays of this shape, which has elements.
  std::shared_ptr<const Tiling> of(const Shape& shape);
  /// More points than these are no use for a launch.
  [[nodiscard]] Coord most_tiles() const;

 private:
  [[nodiscard]] Coord tile_count(Coord elements) const;
  static std::vector<Coord> cut(Coord elements, Coord granule, Coord tiles);

  int cores_;
  Coord forced_;
  Interned<Tiling> known_;
  std::uint32_t next_number_ = 0;
};

}  // namespace refrain::arrays::detail
