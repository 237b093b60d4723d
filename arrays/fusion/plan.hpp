#pragma once
// How a window is launched: its program, how its elements are shared among the points of a launch, and which part of
// each array a point touches. Worked out once for windows that are alike in everything but the storage and the plain
// numbers, and looked up by all of what it depends on.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fusion/program.hpp"
#include "kernels/reduce.hpp"
#include "refrain/arrays/layout.hpp"
#include "refrain/dynamic.hpp"
#include "storage/ranges.hpp"
#include "storage/tiling.hpp"

namespace refrain::arrays::detail {

/// A reduction of what a window computes, in the task that computes it.
struct ReductionText {
  kernels::Reduce op{};
  DType type{};       ///< of the terms
  Source terms;       ///< a step or a load
  unsigned axes = 0;  ///< of the window's shape, a bit each; not none
};

/// A window without what nobody needs, with arrays by their places (slots).
struct WindowText {
  /// An array.
  struct Slot {
    DType type;
    std::shared_ptr<const Tiling> tiling;
  };
  struct Access {
    std::uint16_t slot;
    std::uint16_t step;  ///< of a store
    Layout layout;       ///< of the window's shape
  };
  Shape shape;
  std::vector<Step> steps;
  std::vector<Slot> slots;
  std::vector<Access> loads, stores;  ///< at least one store, unless there is a reduction
  std::optional<ReductionText> reduction;

  void clear();
  /// All of it in words: two are equal when these are.
  void write_key(std::vector<std::uint64_t>& key) const;
};

/// What a launch asks for of an array.
struct SlotUse {
  Privilege privilege = Privilege::read;
  std::shared_ptr<const Ranges> ranges;  ///< per point; null: all of it
};

/// How a reduction is shared among points. It has `outputs` results, each of `terms` terms; the nest's loops are either
/// those of the outputs and then those of the terms (terms of an output come one after the other), or the other way
/// round (by columns: terms of all outputs side by side). A point has a range of units: outputs, or chunks of terms
/// whose results are terms of a second launch.
struct Reduction {
  kernels::Reduce op{};
  DType type{};
  Coord outputs = 1, terms = 1;
  bool columns = false;
  bool by_chunks = false;
  std::vector<Coord> units;  ///< where those of each point begin, and the end of the last

  [[nodiscard]] Coord chunks() const {
    return static_cast<Coord>(kernels::chunks_of(static_cast<std::size_t>(terms)));
  }
  /// How many values the launch leaves.
  [[nodiscard]] Coord results() const { return by_chunks ? outputs * chunks() : outputs; }
};

struct Plan {
  Program program;
  std::vector<Coord> split;  ///< where the elements of each point begin, and the end of the last
  std::vector<SlotUse> slots;
  std::optional<Reduction> reduction;
  std::shared_ptr<const Ranges> results;  ///< of a reduction: what each point writes of its results
  const DynamicTask* task = nullptr;
  bool small = false;  ///< so little work that the launching thread may do it at once

  [[nodiscard]] int points() const { return static_cast<int>(split.size()) - 1; }
};

/// Without task.
std::unique_ptr<Plan> make_plan(const WindowText& text, RangesTable& ranges);
/// The same for a window with a reduction, for at most so many points. Null: its stores and the reduction want
/// different orders, and have to be launched one after the other.
std::unique_ptr<Plan> make_reduction_plan(const WindowText& text, RangesTable& ranges,
                                          Coord most_points);

}  // namespace refrain::arrays::detail
