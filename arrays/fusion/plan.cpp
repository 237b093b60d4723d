#include "fusion/plan.hpp"

#include <optional>
#include <utility>

#include "fusion/nesting.hpp"
#include "fusion/touching.hpp"
#include "small.hpp"

namespace refrain::arrays::detail {

void WindowText::clear() {
  reduction.reset();
  steps.clear();
  slots.clear();
  loads.clear();
  stores.clear();
}

void WindowText::write_key(std::vector<std::uint64_t>& key) const {
  const auto word = [&](auto value) { key.push_back(static_cast<std::uint64_t>(value)); };
  const int dims = shape.dims();
  word(static_cast<std::uint64_t>(dims) | steps.size() << 8 | slots.size() << 24 |
       loads.size() << 40 | std::uint64_t{reduction.has_value()} << 56);
  for (const Coord length : shape) word(length);
  for (const Step& step : steps) {
    word(static_cast<std::uint64_t>(step.op) | std::uint64_t{step.cast} << 8 |
         static_cast<std::uint64_t>(step.type) << 16 |
         static_cast<std::uint64_t>(step.result) << 24);
    std::uint64_t operands = 0;
    for (const Source& source : step.operands)
      operands = operands << 20 | static_cast<std::uint64_t>(source.from) << 16 | source.index;
    word(operands);
  }
  for (const Slot& slot : slots)
    word(static_cast<std::uint64_t>(slot.type) | std::uint64_t{slot.tiling->number} << 8);
  const auto add = [&](const Access& access) {
    word(std::uint64_t{access.slot} | std::uint64_t{access.step} << 16);
    word(access.layout.offset);
    for (int d = 0; d < dims; ++d) word(access.layout.stride[d]);
  };
  for (const Access& load : loads) add(load);
  for (const Access& store : stores) add(store);
  if (!reduction) return;
  word(static_cast<std::uint64_t>(reduction->op) |
       static_cast<std::uint64_t>(reduction->type) << 8 | std::uint64_t{reduction->axes} << 16 |
       static_cast<std::uint64_t>(reduction->terms.from) << 24 |
       std::uint64_t{reduction->terms.index} << 32);
}

namespace {

/// The store that decides who computes what: that of the array with the most tiles.
std::size_t primary_store(const WindowText& text) {
  std::size_t primary = 0;
  for (std::size_t s = 1; s < text.stores.size(); ++s)
    if (text.slots[text.stores[s].slot].tiling->tiles() >
        text.slots[text.stores[primary].slot].tiling->tiles())
      primary = s;
  return primary;
}

/// Whoever has a tile of the array that is stored computes its elements.
std::vector<Coord> split_of(const Nest& nest, const Access& store, const Tiling& tiling) {
  std::vector<Coord> split{0};
  const Coord size = nest.size();
  if (tiling.tiles() > 1 && ascends(nest, store.strides)) {
    for (int tile = 1; tile < tiling.tiles(); ++tile) {
      // The first element that lies in the tile or behind it.
      Coord low = split.back(), high = size;
      while (low < high) {
        const Coord middle = low + (high - low) / 2;
        if (position(nest, store.strides, middle) < tiling.begin[static_cast<std::size_t>(tile)])
          low = middle + 1;
        else high = middle;
      }
      if (low == size) break;
      if (low > split.back()) split.push_back(low);
    }
  }
  split.push_back(size);
  return split;
}

/// What each point touches of the arrays; nullopt where points would get into each other's way.
std::optional<std::vector<SlotUse>> uses_of(const WindowText& text, const ProgramText& program,
                                            const std::vector<Coord>& split, RangesTable& ranges) {
  std::vector<SlotUse> slots;
  for (std::uint16_t slot = 0; slot < text.slots.size(); ++slot) {
    const Tiling& tiling = *text.slots[slot].tiling;
    SlotUse use;
    use.privilege = privilege_of(program, slot, tiling);
    std::vector<Range> touched =
        touched_by(program, split, slot, tiling, use.privilege != Privilege::read);
    if (touched.empty()) return std::nullopt;
    if (!is_whole(touched, tiling)) use.ranges = ranges.intern(std::move(touched));
    slots.push_back(use);
  }
  return slots;
}

}  // namespace

std::unique_ptr<Plan> make_plan(const WindowText& text, RangesTable& ranges) {
  const std::size_t primary = primary_store(text);
  ProgramText program = nest_of(text, loops_along(text.shape, text.stores[primary].layout));
  std::vector<Coord> split = split_of(program.nest, program.stores[primary],
                                      *text.slots[text.stores[primary].slot].tiling);
  std::optional<std::vector<SlotUse>> slots = uses_of(text, program, split, ranges);
  if (!slots) {
    split = {0, program.nest.size()};
    slots = uses_of(text, program, split, ranges);
  }
  const bool small = is_small(work_of(program));
  return std::make_unique<Plan>(Plan{Program(std::move(program)),
                                     std::move(split),
                                     *std::move(slots),
                                     {},
                                     nullptr,
                                     nullptr,
                                     small});
}

}  // namespace refrain::arrays::detail
