#include "fusion/plan.hpp"

#include <algorithm>
#include <utility>

namespace refrain::arrays {

namespace {

// Elements times steps: beyond that a worker is worth its waking.
constexpr Coord kSmallWork = 16384;

/// The loops of a nest: which axes of the window's shape, from the outermost to the innermost, and which of them
/// from the end to the beginning.
struct Loops {
  int axes[kMaxDims];
  int count = 0;
  unsigned reversed = 0;
};

/// Those along which `primary` goes through its storage from the beginning to the end. Axes of length 1 are left out.
Loops loops_along(const Shape& shape, const Layout& primary) {
  Loops loops;
  for (int d = 0; d < shape.dims(); ++d) {
    if (shape[d] == 1) continue;
    loops.axes[loops.count++] = d;
    if (primary.stride[d] < 0) loops.reversed |= 1u << d;
  }
  std::stable_sort(loops.axes, loops.axes + loops.count, [&](int a, int b) {
    return std::abs(primary.stride[a]) > std::abs(primary.stride[b]);
  });
  return loops;
}

/// The window's shape as a nest of these loops, and where each access is in it. Loops that are one run everywhere are
/// joined.
ProgramText nest_of(const WindowText& text, const Loops& loops) {
  const int* order = loops.axes;
  int dims = loops.count;
  ProgramText program;
  program.steps = text.steps;
  const auto add = [&](std::vector<Access>& accesses, const WindowText::Access& given) {
    Access access;
    access.slot = given.slot;
    access.step = given.step;
    access.type = text.slots[given.slot].type;
    access.steps.offset = given.layout.offset;
    for (int d = 0; d < dims; ++d) {
      const Coord stride = given.layout.stride[order[d]];
      const bool reversed = (loops.reversed >> order[d] & 1) != 0;
      access.steps.stride[d] = reversed ? -stride : stride;
      if (reversed) access.steps.offset += stride * (text.shape[order[d]] - 1);
    }
    accesses.push_back(access);
  };
  for (const WindowText::Access& load : text.loads) add(program.loads, load);
  for (const WindowText::Access& store : text.stores) add(program.stores, store);
  Coord length[kMaxDims];
  for (int d = 0; d < dims; ++d) length[d] = text.shape[order[d]];

  const auto each = [&](auto&& f) {
    for (Access& access : program.loads) f(access.steps.stride);
    for (Access& access : program.stores) f(access.steps.stride);
  };
  for (int d = dims - 2; d >= 0; --d) {
    bool one_run = true;
    each([&](Coord* stride) { one_run &= stride[d] == stride[d + 1] * length[d + 1]; });
    if (!one_run) continue;
    each([&](Coord* stride) {
      for (int e = d; e + 1 < dims; ++e) stride[e] = stride[e + 1];
    });
    length[d + 1] *= length[d];
    for (int e = d; e + 1 < dims; ++e) length[e] = length[e + 1];
    --dims;
  }
  // The last loop is the innermost of the nest.
  const int ahead = kMaxDims - dims;
  for (int d = kMaxDims - 1; d >= 0; --d)
    program.nest.length[d] = d < ahead ? 1 : length[d - ahead];
  each([&](Coord* stride) {
    for (int d = kMaxDims - 1; d >= 0; --d) stride[d] = d < ahead ? 0 : stride[d - ahead];
  });
  return program;
}

Coord position(const Nest& nest, const Steps& steps, Coord element) {
  const Coord k = element % nest.length[2];
  const Coord outer = element / nest.length[2];
  return steps.offset + outer / nest.length[1] * steps.stride[0] +
         outer % nest.length[1] * steps.stride[1] + k * steps.stride[2];
}

/// Do positions grow from each element to the next?
bool ascends(const Nest& nest, const Steps& steps) {
  Coord reach = 0;
  for (int d = kMaxDims - 1; d >= 0; --d) {
    if (nest.length[d] == 1) continue;
    if (steps.stride[d] <= reach) return false;
    reach += (nest.length[d] - 1) * steps.stride[d];
  }
  return true;
}

/// Elements begin .. end - 1 of the nest lie within these positions (between them, where they ascend).
Range hull(const Nest& nest, const Steps& steps, Coord begin, Coord end) {
  if (ascends(nest, steps)) return {position(nest, steps, begin), position(nest, steps, end - 1)};
  const Coord row = nest.length[2], plane = nest.length[1] * row;
  Coord low[kMaxDims] = {begin / plane, 0, 0};
  Coord high[kMaxDims] = {(end - 1) / plane, nest.length[1] - 1, nest.length[2] - 1};
  if (low[0] == high[0]) {
    low[1] = begin % plane / row;
    high[1] = (end - 1) % plane / row;
    if (low[1] == high[1]) {
      low[2] = begin % row;
      high[2] = (end - 1) % row;
    }
  }
  Range range{steps.offset, steps.offset};
  for (int d = 0; d < kMaxDims; ++d) {
    const Coord a = low[d] * steps.stride[d], b = high[d] * steps.stride[d];
    range.first += std::min(a, b);
    range.last += std::max(a, b);
  }
  return range;
}

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
  if (tiling.tiles() > 1 && ascends(nest, store.steps)) {
    for (int tile = 1; tile < tiling.tiles(); ++tile) {
      // The first element that lies in the tile or behind it.
      Coord low = split.back(), high = size;
      while (low < high) {
        const Coord middle = low + (high - low) / 2;
        if (position(nest, store.steps, middle) < tiling.begin[static_cast<std::size_t>(tile)])
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

Range tiles_around(const Tiling& tiling, const Range& range) {
  return {tiling.begin[static_cast<std::size_t>(tiling.tile_of(range.first))],
          tiling.begin[static_cast<std::size_t>(tiling.tile_of(range.last)) + 1] - 1};
}

bool is_disjoint(const std::vector<Range>& ranges) {
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first <= ranges[i - 1].last) return false;
  return true;
}

/// Which elements of an array each point touches, rounded to what makes few and simple pieces: tiles where
/// it is written, rows where it is read. Empty: points would write to the same piece.
std::vector<Range> ranges_of(const ProgramText& program, const std::vector<Coord>& split,
                             std::uint16_t slot, const Tiling& tiling, bool written) {
  std::vector<Range> ranges;
  for (std::size_t p = 0; p + 1 < split.size(); ++p) {
    Range range{tiling.elements, -1};
    const auto add = [&](const Access& access) {
      if (access.slot != slot) return;
      const Range more = hull(program.nest, access.steps, split[p], split[p + 1]);
      range = {std::min(range.first, more.first), std::max(range.last, more.last)};
    };
    for (const Access& load : program.loads) add(load);
    for (const Access& store : program.stores) add(store);
    ranges.push_back(range);
  }
  const bool single = ranges.size() == 1;
  if (written && !single && !is_disjoint(ranges)) return {};
  std::vector<Range> rounded = ranges;
  for (Range& range : rounded) {
    if (single || written || tiling.tiles() == 1) {
      range = tiles_around(tiling, range);
    } else {
      range.first -= range.first % tiling.granule;
      range.last += tiling.granule - 1 - range.last % tiling.granule;
      range.last = std::min(range.last, tiling.elements - 1);
    }
  }
  if (written && !single && !is_disjoint(rounded)) return ranges;
  return rounded;
}

bool is_whole(const std::vector<Range>& ranges, const Tiling& tiling) {
  return std::all_of(ranges.begin(), ranges.end(), [&](const Range& range) {
    return range.first == 0 && range.last == tiling.elements - 1;
  });
}

Privilege privilege_of(const ProgramText& program, std::uint16_t slot, const Tiling& tiling) {
  const auto here = [&](const Access& access) { return access.slot == slot; };
  if (std::none_of(program.stores.begin(), program.stores.end(), here)) return Privilege::read;
  const bool read = std::any_of(program.loads.begin(), program.loads.end(), here);
  return !read && program.nest.size() == tiling.elements ? Privilege::write : Privilege::read_write;
}

bool is_small(const ProgramText& program) {
  return program.nest.size() * static_cast<Coord>(program.steps.size() + 1) <= kSmallWork;
}

}  // namespace

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

std::unique_ptr<Plan> make_plan(const WindowText& text, RangesTable& ranges) {
  const std::size_t primary = primary_store(text);
  ProgramText program = nest_of(text, loops_along(text.shape, text.stores[primary].layout));
  const Nest nest = program.nest;
  std::vector<Coord> split =
      split_of(nest, program.stores[primary], *text.slots[text.stores[primary].slot].tiling);

  std::vector<SlotUse> slots;
  for (std::uint16_t slot = 0; slot < text.slots.size(); ++slot) {
    const Tiling& tiling = *text.slots[slot].tiling;
    SlotUse use;
    use.privilege = privilege_of(program, slot, tiling);
    std::vector<Range> touched =
        ranges_of(program, split, slot, tiling, use.privilege != Privilege::read);
    if (touched.empty()) {
      // Points would get into each other's way: one task does it all.
      split = {0, nest.size()};
      slots.clear();
      slot = static_cast<std::uint16_t>(-1);
      continue;
    }
    if (!is_whole(touched, tiling)) use.ranges = ranges.intern(std::move(touched));
    slots.push_back(use);
  }
  const bool small = is_small(program);
  return std::make_unique<Plan>(Plan{{},
                                     Program(std::move(program)),
                                     std::move(split),
                                     std::move(slots),
                                     {},
                                     nullptr,
                                     nullptr,
                                     small});
}

// --- reductions -----------------------------------------------------------------------------------------------

namespace {

// Outputs side by side from so many on; with fewer the terms of one come one after the other.
constexpr Coord kColumns = 16;

/// Along which axes do the terms lie side by side in memory? Decided by what is read.
bool innermost_is_kept(const WindowText& text, unsigned reduced) {
  Coord kept_step = 0, reduced_step = 0;
  const auto smaller = [](Coord& step, Coord stride) {
    stride = std::abs(stride);
    if (stride > 0 && (step == 0 || stride < step)) step = stride;
  };
  for (const WindowText::Access& load : text.loads)
    for (int d = 0; d < text.shape.dims(); ++d)
      if (text.shape[d] > 1)
        smaller((reduced >> d & 1) != 0 ? reduced_step : kept_step, load.layout.stride[d]);
  return kept_step > 0 && (reduced_step == 0 || kept_step < reduced_step);
}

Loops loops_of(const Shape& shape, unsigned reduced, bool reduced_first) {
  Loops loops;
  for (const bool now : {reduced_first, !reduced_first})
    for (int d = 0; d < shape.dims(); ++d)
      if (shape[d] > 1 && ((reduced >> d & 1) != 0) == now) loops.axes[loops.count++] = d;
  return loops;
}

/// Which elements of the nest units first .. last - 1 have: all, where columns are dealt.
Range elements_of(const Reduction& reduction, Coord first, Coord last) {
  const Coord terms = reduction.terms, outputs = reduction.outputs;
  const auto chunk = static_cast<Coord>(kernels::kChunk);
  if (!reduction.by_chunks) {
    if (reduction.columns) return {0, terms * outputs - 1};
    return {first * terms, last * terms - 1};
  }
  if (reduction.columns)
    return {first * chunk * outputs, std::min(last * chunk, terms) * outputs - 1};
  const Coord chunks = reduction.chunks();
  const auto at = [&](Coord unit) {
    return unit / chunks * terms + std::min(unit % chunks * chunk, terms);
  };
  return {at(first), at(last) - 1};
}

}  // namespace

std::unique_ptr<Plan> make_reduction_plan(const WindowText& text, RangesTable& ranges,
                                          Coord most_points) {
  const ReductionText& asked = *text.reduction;
  Reduction reduction;
  reduction.op = asked.op;
  reduction.type = asked.type;
  for (int d = 0; d < text.shape.dims(); ++d)
    ((asked.axes >> d & 1) != 0 ? reduction.terms : reduction.outputs) *= text.shape[d];
  reduction.columns = reduction.outputs >= kColumns &&
                      (innermost_is_kept(text, asked.axes) || reduction.terms < kColumns);
  const Loops loops = loops_of(text.shape, asked.axes, reduction.columns);
  ProgramText program = nest_of(text, loops);
  program.sink = asked.terms;

  // As many points as an array of that size has tiles; outputs are dealt where there are enough.
  const Coord outputs = reduction.outputs, chunks = reduction.chunks();
  reduction.by_chunks = most_points > 1 && outputs < 4 * most_points && chunks > 1;
  Coord units = outputs;
  if (reduction.by_chunks) units = reduction.columns ? chunks : outputs * chunks;
  const Coord points = std::clamp<Coord>(most_points, 1, units);
  for (Coord p = 0; p <= points; ++p) reduction.units.push_back(p * units / points);

  std::vector<Range> elements, results;
  for (std::size_t p = 0; p + 1 < reduction.units.size(); ++p) {
    const Coord first = reduction.units[p], last = reduction.units[p + 1];
    elements.push_back(elements_of(reduction, first, last));
    const Coord width = reduction.columns && reduction.by_chunks ? outputs : 1;
    results.push_back({first * width, last * width - 1});
  }
  // Stores want each element in one point, in the order of their storage.
  std::vector<Coord> split;
  for (const Range& range : elements) split.push_back(range.first);
  split.push_back(program.nest.size());
  if (!text.stores.empty() && (outputs > 1 || loops.reversed != 0)) return nullptr;

  std::vector<SlotUse> slots;
  for (std::uint16_t slot = 0; slot < text.slots.size(); ++slot) {
    const Tiling& tiling = *text.slots[slot].tiling;
    SlotUse use;
    use.privilege = privilege_of(program, slot, tiling);
    const bool written = use.privilege != Privilege::read;
    if (written && points > 1)
      for (const Access& store : program.stores)
        if (store.slot == slot && !ascends(program.nest, store.steps)) return nullptr;
    const std::vector<Coord> everything{0, program.nest.size()};
    std::vector<Range> touched;
    if (reduction.columns && !reduction.by_chunks) {
      touched = ranges_of(program, everything, slot, tiling, written);
      touched.resize(static_cast<std::size_t>(points), touched.front());
    } else {
      touched = ranges_of(program, split, slot, tiling, written);
    }
    if (touched.empty()) return nullptr;
    if (!is_whole(touched, tiling)) use.ranges = ranges.intern(std::move(touched));
    slots.push_back(use);
  }
  const bool small = is_small(program);
  auto parts = points > 1 ? ranges.intern(std::move(results)) : nullptr;
  return std::make_unique<Plan>(Plan{{},
                                     Program(std::move(program)),
                                     std::move(split),
                                     std::move(slots),
                                     std::move(reduction),
                                     std::move(parts),
                                     nullptr,
                                     small});
}

}  // namespace refrain::arrays
