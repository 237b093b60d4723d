// cumsum: each row from its first element to its last; one long row in runs, whose sums are added up first.

#include "operations/dense.hpp"
#include "operations/sharing.hpp"
#include "operations/with_type.hpp"
#include "refrain/arrays/reductions.hpp"
#include "shapes/complain.hpp"
#include "shapes/views.hpp"

namespace refrain::arrays {

using namespace detail;

namespace {

// Of a long row sums begin anew every so many elements, whatever tiles there are: the bits are the same for all.
constexpr Coord kRun = 4096;

struct ScanCall {
  DType type;
  Coord length;              // of a row
  std::vector<Coord> begin;  // rows per point; runs of one row where it is long
};

template <class T>
void add_up(T* first, T* last) {
  for (T* at = first + 1; at < last; ++at) *at = plus(at[-1], *at);
}

/// Sums within rows.
void run_scan(const TaskFrame& frame) {
  const auto& call = *static_cast<const ScanCall*>(frame.values);
  with_type(call.type, [&](auto type) {
    using T = decltype(type);
    T* values = reinterpret_cast<T*>(element_zero(frame, 0));
    for (Coord row = call.begin[frame.rank]; row < call.begin[frame.rank + 1]; ++row)
      add_up(values + row * call.length, values + (row + 1) * call.length);
  });
}

/// Sums within runs; the sum of each goes to the second argument.
void run_scan_runs(const TaskFrame& frame) {
  const auto& call = *static_cast<const ScanCall*>(frame.values);
  with_type(call.type, [&](auto type) {
    using T = decltype(type);
    T* values = reinterpret_cast<T*>(element_zero(frame, 0));
    T* sums = reinterpret_cast<T*>(element_zero(frame, 1));
    for (Coord run = call.begin[frame.rank]; run < call.begin[frame.rank + 1]; ++run) {
      T* last = values + std::min((run + 1) * kRun, call.length);
      add_up(values + run * kRun, last);
      sums[run] = last[-1];
    }
  });
}

/// To each run but the first, what is before it.
void run_scan_add(const TaskFrame& frame) {
  const auto& call = *static_cast<const ScanCall*>(frame.values);
  with_type(call.type, [&](auto type) {
    using T = decltype(type);
    T* values = reinterpret_cast<T*>(element_zero(frame, 0));
    const T* sums = reinterpret_cast<const T*>(element_zero(frame, 1));
    for (Coord run = call.begin[frame.rank]; run < call.begin[frame.rank + 1]; ++run) {
      if (run == 0) continue;
      T* last = values + std::min((run + 1) * kRun, call.length);
      for (T* at = values + run * kRun; at < last; ++at) *at = plus(sums[run - 1], *at);
    }
  });
}

const DynamicTask scan_task = plain_task<run_scan>("cumsum");
const DynamicTask scan_runs_task = plain_task<run_scan_runs>("cumsum runs");
const DynamicTask scan_add_task = plain_task<run_scan_add>("cumsum add");

void scan_long(SessionImpl& session, Storage& storage, Coord length, const Where& where) {
  const DType type = storage.type();
  const Coord runs = (length + kRun - 1) / kRun;
  const Array sums = session.make_stored(Shape(runs), type, where);
  Storage& sum_storage = *sums.value()->storage;
  // Runs are dealt to points as rows would be.
  const std::vector<Coord> begin = deal_rows(session, runs, kRun);
  std::vector<Range> elements, each_sum;
  for (std::size_t p = 0; p + 1 < begin.size(); ++p) {
    elements.push_back({begin[p] * kRun, std::min(begin[p + 1] * kRun, length) - 1});
    each_sum.push_back({begin[p], begin[p + 1] - 1});
  }
  const auto parts = session.ranges.intern(std::move(elements));
  const auto sum_parts = session.ranges.intern(std::move(each_sum));
  const int points = static_cast<int>(begin.size()) - 1;
  const ScanCall call{type, length, begin};
  launch(session, scan_runs_task, points,
         {{&storage, Privilege::read_write, parts}, {&sum_storage, Privilege::write, sum_parts}},
         call, 4 * length, where);
  launch(session, scan_task, 1, {{&sum_storage, Privilege::read_write}},
         ScanCall{type, runs, {0, 1}}, runs, where);
  launch(session, scan_add_task, points,
         {{&storage, Privilege::read_write, parts}, {&sum_storage, Privilege::read}}, call, length,
         where);
}

}  // namespace

Array cumsum(const Array& a, const Axes& axes, Where where) {
  SessionImpl& session = session_of(a, where);
  if (axes.all()) {
    if (a.dims() != 1) return cumsum(a.reshape({-1}, where), 0, where);
  } else if (axes.count() != 1) {
    complain<TypeError>(where, "cumsum is along one axis or along all");
  }
  const int axis = axes.all() ? 0 : normalized(axes[0], a.dims(), where);
  const DType type = kind_of(a.dtype()) < Kind::floating ? DType::int64 : a.dtype();
  const Array sums = with_axis_last(a, axis, where).astype(type, where);
  if (a.size() > 0) {
    const Coord length = a.shape()[axis], rows = a.size() / length;
    Storage& storage = session.stored(*sums.value());
    if (rows == 1 && length > kRun) {
      scan_long(session, storage, length, where);
    } else {
      const std::vector<Coord> begin = deal_rows(session, rows, length);
      launch(session, scan_task, static_cast<int>(begin.size()) - 1,
             {{&storage, Privilege::read_write, rows_of(session, begin, length)}},
             ScanCall{type, length, begin}, 4 * a.size(), where);
    }
  }
  const Array back = with_last_axis_at(sums, axis, where);
  return back.layout().is_contiguous() ? back : back.copy(where);
}

}  // namespace refrain::arrays
