#pragma once
// Where arrays get their regions from: vectors of n points, reused at once. The array library of Figure 1
// does the same. A region whose array has died goes on top of a stack, and the next array takes it from there,
// although the tasks that use it may not even have begun: the runtime keeps them in order. So a loop that
// makes arrays makes no regions after its first iterations.
//
// It is also what hides the repetition. In x = (b - dot(R, x)) / d the new x takes the region that the
// x before the last one had, so x alternates between two regions: the calls of an iteration are not those of
// the one before it, and are those of the one before that.

#include <vector>

#include "refrain/refrain.hpp"

namespace jacobi {

struct Element {
  static constexpr refrain::Field<double> value{"value"};
};

/// A region and its rows in blocks.
struct Storage {
  refrain::Region<1> region;
  refrain::Partition<1> rows;
};

class Pool {
 public:
  Pool(refrain::Context& ctx, refrain::Coord n, refrain::Coord blocks)
      : ctx_(ctx), n_(n), blocks_(blocks) {}

  /// The one that was given back last, with the values that it had; else a new one.
  Storage take() {
    if (free_.empty()) return make();
    Storage storage = free_.back();
    free_.pop_back();
    return storage;
  }
  void give_back(const Storage& storage) noexcept { free_.push_back(storage); }

 private:
  Storage make() {
    free_.reserve(++made_);  // so that there is always room to give one back
    const auto region = ctx_.region(refrain::Rect1{0, n_ - 1}, Element::value);
    return {region, ctx_.blocks(region, blocks_)};
  }

  refrain::Context& ctx_;
  refrain::Coord n_;
  refrain::Coord blocks_;
  std::size_t made_ = 0;
  std::vector<Storage> free_;
};

}  // namespace jacobi
