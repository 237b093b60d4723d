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
  if (const auto known = by_size_.find(elements); known != by_size_.end())
    for (const auto& tiling : known->second)
      if (tiling->granule == row) return tiling;

  const Coord rows = (elements + row - 1) / row;
  std::vector<Coord> begin;
  for (Coord tile = 0; tile < wanted; ++tile) {
    const Coord at = tile * rows / wanted * row;
    if (begin.empty() || at > begin.back()) begin.push_back(at);
  }
  begin.push_back(elements);
  forget_unused();
  ++count_;
  return by_size_[elements].emplace_back(
      std::make_shared<Tiling>(Tiling{elements, row, std::move(begin), next_number_++}));
}

// Programs may make arrays of ever other sizes: each time that there are twice as many as were in use, those that
// are not any more go.
void Tilings::forget_unused() {
  if (count_ < sweep_at_) return;
  count_ = 0;
  for (auto at = by_size_.begin(); at != by_size_.end();) {
    std::erase_if(at->second, [](const auto& tiling) { return tiling.use_count() == 1; });
    count_ += at->second.size();
    at = at->second.empty() ? by_size_.erase(at) : std::next(at);
  }
  sweep_at_ = std::max<std::size_t>(1024, 2 * count_);
}

}  // namespace refrain::arrays::detail
