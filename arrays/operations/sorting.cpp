// sort and argsort: each row by itself, rows side by side; one long row in runs that are sorted side by side and then
// merged, two at a time, each merge shared by all.

#include <algorithm>
#include <numeric>
#include <vector>

#include "operations/dense.hpp"
#include "operations/ordering.hpp"
#include "operations/sharing.hpp"
#include "operations/with_type.hpp"
#include "refrain/arrays/arranging.hpp"
#include "shapes/complain.hpp"
#include "shapes/views.hpp"

namespace refrain::arrays {

using namespace detail;

namespace {

// Rows longer than this are sorted in runs.
constexpr Coord kLongRow = 1 << 16;

/// Rows of a dense array (of positions in it, where `positions`) sorted in place; runs of one row are rows here.
struct SortCall {
  DType type;
  bool positions;
  Coord keys;                // where the row's keys begin in their storage
  Coord length;              // of a row's keys
  std::vector<Coord> begin;  // of what is sorted, per point, in rows or in elements of one
  bool runs;                 // each point sorts one run of the only row
};

template <class T>
void sort_values(T* first, T* last) {
  std::stable_sort(first, last, [](const T& a, const T& b) { return comes_before(a, b); });
}
template <class T>
void sort_positions(const T* keys, std::int64_t* first, std::int64_t* last) {
  std::stable_sort(first, last, [keys](std::int64_t a, std::int64_t b) {
    return comes_before(keys[a], keys[b]);
  });
}

/// Arguments: what is sorted; for positions also the keys.
void run_sort(const TaskFrame& frame) {
  const auto& call = *static_cast<const SortCall*>(frame.values);
  const Coord begin = call.begin[frame.rank], end = call.begin[frame.rank + 1];
  with_type(call.type, [&](auto type) {
    using T = decltype(type);
    if (!call.positions) {
      T* values = reinterpret_cast<T*>(element_zero(frame, 0));
      if (call.runs) return sort_values(values + begin, values + end);
      for (Coord row = begin; row < end; ++row)
        sort_values(values + row * call.length, values + (row + 1) * call.length);
      return;
    }
    auto* positions = reinterpret_cast<std::int64_t*>(element_zero(frame, 0));
    const T* keys = reinterpret_cast<const T*>(element_zero(frame, 1)) + call.keys;
    if (call.runs) {
      std::iota(positions + begin, positions + end, begin);
      return sort_positions(keys, positions + begin, positions + end);
    }
    for (Coord row = begin; row < end; ++row) {
      std::int64_t* first = positions + row * call.length;
      std::iota(first, first + call.length, std::int64_t{0});
      sort_positions(keys + row * call.length, first, first + call.length);
    }
  });
}

/// Pairs of sorted runs into runs twice as long. Each point writes a piece of the result, wherever it comes from.
struct MergeCall {
  DType type;
  bool positions;
  Coord keys;
  std::vector<Coord> runs;   // where the runs begin, and the end of the last
  std::vector<Coord> begin;  // of what each point writes
};

/// How many of the first `taken` elements of the merged runs come from the first one.
template <class Element, class Before>
Coord from_first(const Element* a, Coord a_length, const Element* b, Coord b_length, Coord taken,
                 Before&& before) {
  Coord low = std::max<Coord>(0, taken - b_length), high = std::min(taken, a_length);
  while (low < high) {
    const Coord middle = low + (high - low) / 2;
    // The first run's elements come before equal ones of the second.
    if (before(b[taken - middle - 1], a[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}

template <class Element, class Before>
void merge_piece(const MergeCall& call, const Element* from, Element* to, Coord begin, Coord end,
                 Before&& before) {
  for (std::size_t r = 0; r + 1 < call.runs.size(); r += 2) {
    const Coord first = call.runs[r], middle = call.runs[r + 1];
    const Coord last = r + 2 < call.runs.size() ? call.runs[r + 2] : middle;
    const Coord low = std::max(begin, first), high = std::min(end, last);
    if (low >= high) continue;
    const Element *a = from + first, *b = from + middle;
    const Coord a_length = middle - first, b_length = last - middle;
    const Coord a_low = from_first(a, a_length, b, b_length, low - first, before);
    const Coord a_high = from_first(a, a_length, b, b_length, high - first, before);
    std::merge(a + a_low, a + a_high, b + (low - first - a_low), b + (high - first - a_high),
               to + low, before);
  }
}

/// Arguments: the result, the runs; for positions also the keys.
void run_merge(const TaskFrame& frame) {
  const auto& call = *static_cast<const MergeCall*>(frame.values);
  const Coord begin = call.begin[frame.rank], end = call.begin[frame.rank + 1];
  with_type(call.type, [&](auto type) {
    using T = decltype(type);
    if (!call.positions)
      return merge_piece(call, reinterpret_cast<const T*>(element_zero(frame, 1)),
                         reinterpret_cast<T*>(element_zero(frame, 0)), begin, end,
                         [](const T& a, const T& b) { return comes_before(a, b); });
    const T* keys = reinterpret_cast<const T*>(element_zero(frame, 2)) + call.keys;
    merge_piece(call, reinterpret_cast<const std::int64_t*>(element_zero(frame, 1)),
                reinterpret_cast<std::int64_t*>(element_zero(frame, 0)), begin, end,
                [keys](std::int64_t a, std::int64_t b) { return comes_before(keys[a], keys[b]); });
  });
}

const DynamicTask sort_task = plain_task<run_sort>("sort");
const DynamicTask argsort_task = plain_task<run_sort>("argsort");
const DynamicTask merge_task = plain_task<run_merge>("merge");

/// A row that many tasks sort: `sorted` has the elements (or gets the positions).
Array sort_long(SessionImpl& session, Array sorted, const Array* keys, const Where& where) {
  const Tiling& tiling = session.stored(*sorted.value()).tiling();
  const auto tiles = tiles_of(session, tiling);
  const DType type = keys != nullptr ? keys->dtype() : sorted.dtype();
  const Coord offset = keys != nullptr ? keys->layout().offset : 0;
  const bool positions = keys != nullptr;
  const auto go = [&](const DynamicTask& task, std::vector<Use> uses, auto values) {
    if (positions) uses.push_back(reading(session, *keys));
    launch(session, task, tiling.tiles(), std::span<const Use>(uses), std::move(values),
           16 * sorted.size(), where);
  };
  go(positions ? argsort_task : sort_task,
     {{sorted.value()->storage, positions ? Privilege::write : Privilege::read_write, tiles}},
     SortCall{type, positions, offset, sorted.size(), tiling.begin, true});
  for (std::vector<Coord> runs = tiling.begin; runs.size() > 2;) {
    Array merged = session.make_stored(sorted.shape(), sorted.dtype(), where);
    go(merge_task, {{merged.value()->storage, Privilege::write, tiles}, reading(session, sorted)},
       MergeCall{type, positions, offset, runs, tiling.begin});
    std::vector<Coord> longer;
    for (std::size_t r = 0; r < runs.size(); r += 2) longer.push_back(runs[r]);
    if (longer.back() != runs.back()) longer.push_back(runs.back());
    runs = std::move(longer);
    sorted = merged;
  }
  return sorted;
}

Array sorted_rows(const Array& a, int axis, bool positions, const Where& where) {
  SessionImpl& session = session_of(a, where);
  axis = normalized(axis, a.dims(), where);
  const Array moved = with_axis_last(a, axis, where);
  // What is sorted in place is a copy; keys of positions stay as they are.
  const Array keys = positions ? dense(moved, a.dtype(), where) : moved.copy(where);
  Array sorted = positions ? session.make_stored(moved.shape(), DType::int64, where) : keys;
  if (a.size() == 0) return with_last_axis_at(sorted, axis, where).copy(where);
  const Coord length = a.shape()[axis], rows = a.size() / length;
  Storage& storage = session.stored(*sorted.value());
  if (rows == 1 && length > kLongRow && storage.tiling().tiles() > 1) {
    sorted = sort_long(session, sorted.reshape({-1}, where), positions ? &keys : nullptr, where)
                 .reshape(moved.shape(), where);
  } else {
    const std::vector<Coord> begin = deal_rows(session, rows, length);
    std::vector<Use> uses{{&storage, positions ? Privilege::write : Privilege::read_write,
                           rows_of(session, begin, length)}};
    if (positions) uses.push_back(reading(session, keys));
    SortCall call{a.dtype(), positions, keys.layout().offset, length, begin, false};
    launch(session, positions ? argsort_task : sort_task, static_cast<int>(begin.size()) - 1, uses,
           std::move(call), 16 * a.size(), where);
  }
  const Array back = with_last_axis_at(sorted, axis, where);
  return back.layout().is_contiguous() ? back : back.copy(where);
}

}  // namespace

Array sort(const Array& a, int axis, Where where) { return sorted_rows(a, axis, false, where); }
Array argsort(const Array& a, int axis, Where where) { return sorted_rows(a, axis, true, where); }

}  // namespace refrain::arrays
