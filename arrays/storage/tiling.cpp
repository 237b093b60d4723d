#include "storage/tiling.hpp"

#include <algorithm>

namespace refrain::arrays::detail {

namespace {

// An array with fewer elements stays in one piece: what a core does to it takes about as long as a few launches.
constexpr Coord kFewest = 32768;
// Tiles per core: a few, so that cores that are late can be helped out.
constexpr Coord kPerCore = 4;
// Tiles that are forced to be small are not more than these.
constexpr Coord kMostForced = 64;
// Cuts between cache lines (and vectors) where rows are long.
constexpr Coord kLines = 64;
// A row that is longer than this part of a tile is cut.
constexpr Coord kRowsPerTile = 4;

}  // namespace

int Tiling::tile_of(Coord element) const {
  return static_cast<int>(std::upper_bound(begin.begin(), begin.end() - 1, element) -
                          begin.begin()) -
         1;
}

Coord Tilings::tile_count(Coord elements) const {
  if (forced_ > 0) return std::clamp<Coord>((elements + forced_ - 1) / forced_, 1, kMostForced);
  if (elements < kFewest) return 1;
  return std::clamp<Coord>(elements / (kFewest / 2), 1, kPerCore * cores_);
}

Coord Tilings::most_tiles() const { return forced_ > 0 ? kMostForced : kPerCore * cores_; }

std::shared_ptr<const Tiling> Tilings::of(const Shape& shape) {
  const Coord elements = shape.size();
  const Coord wanted = tile_count(elements);
  Coord row = shape.dims() == 0 ? 1 : shape[shape.dims() - 1];
  if (wanted == 1) {
    row = elements;
  } else if (row * kRowsPerTile * wanted > elements) {
    row = std::min(kLines, std::max<Coord>(elements / wanted / kRowsPerTile, 1));
  }
  return known_.get(
      static_cast<std::uint64_t>(elements),
      [&](const Tiling& known) { return known.elements == elements && known.granule == row; },
      [&] {
        return Tiling{elements, row, cut(elements, row, wanted), next_number_++};
      });
}

std::vector<Coord> Tilings::cut(Coord elements, Coord granule, Coord tiles) {
  const Coord rows = (elements + granule - 1) / granule;
  std::vector<Coord> begin;
  for (Coord tile = 0; tile < tiles; ++tile) {
    const Coord at = tile * rows / tiles * granule;
    if (begin.empty() || at > begin.back()) begin.push_back(at);
  }
  begin.push_back(elements);
  return begin;
}

}  // namespace refrain::arrays::detail
