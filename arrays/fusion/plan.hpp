#pragma once
// How a window is launched: its program, how its elements are shared among the points of a launch, and which part of
// each array a point touches. Worked out once for windows that are alike in everything but the storage and the plain
// numbers, and looked up by all of what it depends on.

#include <cstdint>
#include <memory>
#include <vector>

#include "fusion/program.hpp"
#include "refrain/arrays/layout.hpp"
#include "refrain/dynamic.hpp"
#include "storage/ranges.hpp"
#include "storage/tiling.hpp"

namespace refrain::arrays {

/// A window without what nobody needs, with arrays by number.
struct WindowText {
  /// An array.
  struct Slot {
    DType type;
    const Tiling* tiling;
  };
  struct Access {
    std::uint16_t slot;
    std::uint16_t step;  ///< of a store
    Layout layout;       ///< of the window's shape
  };
  Shape shape;
  std::vector<Step> steps;
  std::vector<Slot> slots;
  std::vector<Access> loads, stores;  ///< at least one store

  void clear();
  /// All of it in words: two are equal when these are.
  void write_key(std::vector<std::uint64_t>& key) const;
};

/// What a launch asks for of an array.
struct SlotUse {
  Privilege privilege = Privilege::read;
  const Ranges* ranges = nullptr;  ///< per point; null: all of it
};

struct Plan {
  std::vector<std::uint64_t> key;
  Program program;
  std::vector<Coord> split;  ///< where the elements of each point begin, and the end of the last
  std::vector<SlotUse> slots;
  const DynamicTask* task = nullptr;
  bool small = false;  ///< so little work that the launching thread may do it at once

  [[nodiscard]] int points() const { return static_cast<int>(split.size()) - 1; }
};

/// Without key and task.
std::unique_ptr<Plan> make_plan(const WindowText& text, RangesTable& ranges);

}  // namespace refrain::arrays
