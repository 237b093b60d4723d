// Plans of windows that end in a reduction.

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "fusion/nesting.hpp"
#include "fusion/touching.hpp"
#include "small.hpp"

namespace refrain::arrays::detail {

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

/// How the reduction is shared among at most so many points: as many as an array of the terms' size has tiles. Outputs
/// are dealt where there are enough.
Reduction shared(const WindowText& text, Coord most_points) {
  const ReductionText& asked = *text.reduction;
  Reduction reduction;
  reduction.op = asked.op;
  reduction.type = asked.type;
  for (int d = 0; d < text.shape.dims(); ++d)
    ((asked.axes >> d & 1) != 0 ? reduction.terms : reduction.outputs) *= text.shape[d];
  reduction.columns = reduction.outputs >= kColumns &&
                      (innermost_is_kept(text, asked.axes) || reduction.terms < kColumns);
  const Coord outputs = reduction.outputs, chunks = reduction.chunks();
  reduction.by_chunks = most_points > 1 && outputs < 4 * most_points && chunks > 1;
  Coord units = outputs;
  if (reduction.by_chunks) units = reduction.columns ? chunks : outputs * chunks;
  const Coord points = std::clamp<Coord>(most_points, 1, units);
  for (Coord p = 0; p <= points; ++p) reduction.units.push_back(p * units / points);
  return reduction;
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

/// Where the elements of each point begin, and the end of the last.
std::vector<Coord> split_of(const Reduction& reduction, const Nest& nest) {
  std::vector<Coord> split;
  for (std::size_t p = 0; p + 1 < reduction.units.size(); ++p)
    split.push_back(elements_of(reduction, reduction.units[p], reduction.units[p + 1]).first);
  split.push_back(nest.size());
  return split;
}

/// Which of the launch's results each point writes.
std::vector<Range> results_of(const Reduction& reduction) {
  const Coord width = reduction.columns && reduction.by_chunks ? reduction.outputs : 1;
  std::vector<Range> results;
  for (std::size_t p = 0; p + 1 < reduction.units.size(); ++p)
    results.push_back({reduction.units[p] * width, reduction.units[p + 1] * width - 1});
  return results;
}

/// What each point touches of an array; empty where points would write to the same piece.
std::vector<Range> touched_by(const ProgramText& program, const Reduction& reduction,
                              const std::vector<Coord>& split, std::uint16_t slot,
                              const Tiling& tiling, bool written) {
  if (!reduction.columns || reduction.by_chunks)
    return touched_by(program, split, slot, tiling, written);
  // Each has some columns of all rows.
  std::vector<Range> all = touched_by(program, {0, program.nest.size()}, slot, tiling, written);
  if (!all.empty()) all.resize(reduction.units.size() - 1, all.front());
  return all;
}

}  // namespace

std::unique_ptr<Plan> make_reduction_plan(const WindowText& text, RangesTable& ranges,
                                          Coord most_points) {
  Reduction reduction = shared(text, most_points);
  // Stores want each element in one point, in the order of their storage.
  if (!text.stores.empty() && reduction.outputs > 1) return nullptr;
  ProgramText program =
      nest_of(text, loops_of(text.shape, text.reduction->axes, reduction.columns));
  program.sink = text.reduction->terms;
  std::vector<Coord> split = split_of(reduction, program.nest);
  const bool single = split.size() == 2;
  for (const Access& store : program.stores)
    if (!single && !ascends(program.nest, store.strides)) return nullptr;

  std::vector<SlotUse> slots;
  for (std::uint16_t slot = 0; slot < text.slots.size(); ++slot) {
    const Tiling& tiling = *text.slots[slot].tiling;
    SlotUse use;
    use.privilege = privilege_of(program, slot, tiling);
    std::vector<Range> touched =
        touched_by(program, reduction, split, slot, tiling, use.privilege != Privilege::read);
    if (touched.empty()) return nullptr;
    if (!is_whole(touched, tiling)) use.ranges = ranges.intern(std::move(touched));
    slots.push_back(use);
  }
  const bool small = is_small(work_of(program));
  auto parts = single ? nullptr : ranges.intern(results_of(reduction));
  return std::make_unique<Plan>(Plan{Program(std::move(program)), std::move(split),
                                     std::move(slots), std::move(reduction), std::move(parts),
                                     nullptr, small});
}

}  // namespace refrain::arrays::detail
