#include "operations/selection.hpp"

#include <string>

#include "operations/checks.hpp"
#include "operations/dense.hpp"
#include "shapes/complain.hpp"
#include "shapes/views.hpp"

namespace refrain::arrays::detail {

namespace {

struct CheckCall {
  Coord offset, count;  // of the positions
  Coord length;         // of the axis
};

struct Fault {
  bool found;
  std::int64_t position;
};

/// The first position that is out of range.
void run_check(const TaskFrame& frame) {
  const auto& call = *static_cast<const CheckCall*>(frame.values);
  const auto* positions = reinterpret_cast<const std::int64_t*>(element_zero(frame, 0));
  Fault fault{false, 0};
  for (Coord i = 0; i < call.count && !fault.found; ++i) {
    const std::int64_t position = positions[call.offset + i];
    if (position < -call.length || position >= call.length) fault = {true, position};
  }
  *static_cast<Fault*>(frame.result) = fault;
}

const DynamicTask check_task =
    plain_task<run_check>("check positions", {sizeof(Fault), alignof(Fault), nullptr});

/// IndexError unless all positions are within an axis of this length. Waits.
void check_positions(SessionImpl& session, const Array& positions, Coord length, int axis,
                     const Where& where) {
  if (positions.size() == 0) return;
  const Future<Fault> found(launch(session, check_task, 1, {reading(session, positions)},
                                   CheckCall{positions.layout().offset, positions.size(), length},
                                   kPicking * positions.size(), where, true));
  const Fault& fault = found.get();
  if (fault.found)
    complain<IndexError>(where, "index " + std::to_string(fault.position) +
                                    " is out of bounds for axis " + std::to_string(axis) +
                                    " with size " + std::to_string(length));
}

struct TruthCall {
  Coord offset, count;  // of the truth values
};

void run_count_true(const TaskFrame& frame) {
  const auto& call = *static_cast<const TruthCall*>(frame.values);
  const auto* truth = reinterpret_cast<const std::uint8_t*>(element_zero(frame, 0)) + call.offset;
  std::int64_t count = 0;
  for (Coord i = 0; i < call.count; ++i) count += truth[i];
  *static_cast<std::int64_t*>(frame.result) = count;
}

/// Arguments: the positions of what is true, the truth values.
void run_positions_of_true(const TaskFrame& frame) {
  const auto& call = *static_cast<const TruthCall*>(frame.values);
  auto* to = reinterpret_cast<std::int64_t*>(element_zero(frame, 0));
  const auto* truth = reinterpret_cast<const std::uint8_t*>(element_zero(frame, 1)) + call.offset;
  for (Coord i = 0; i < call.count; ++i)
    if (truth[i] != 0) *to++ = i;
}

const DynamicTask count_true_task = plain_task<run_count_true>(
    "count true", {sizeof(std::int64_t), alignof(std::int64_t), nullptr});
const DynamicTask positions_task = plain_task<run_positions_of_true>("positions of true");

}  // namespace

Array positions_of(const Array& condition, const Where& where) {
  SessionImpl& session = session_of(condition, where);
  if (condition.size() == 0) return session.make_stored(Shape(0), DType::int64, where);
  const Array truth = dense(condition, DType::boolean, where);
  const TruthCall call{truth.layout().offset, truth.size()};
  const Coord work = kPicking * truth.size();
  const Future<std::int64_t> count(
      launch(session, count_true_task, 1, {reading(session, truth)}, call, work, where, true));
  const Array positions = session.make_stored(Shape(count.get()), DType::int64, where);
  if (positions.size() > 0)
    launch(session, positions_task, 1,
           {{positions.value()->storage, Privilege::write}, reading(session, truth)}, call, work,
           where);
  return positions;
}

namespace {

/// Which axes a mask covers, from `axis` on.
int covered_by(const Array& mask, const Array& a, int axis, const Where& where) {
  const int covered = mask.dims();
  if (axis != 0 && (covered != 1 || axis >= a.dims() || axis < -a.dims()))
    complain<IndexError>(where, "a mask of several dimensions covers the first axes");
  axis = covered == 0 ? 0 : normalized(axis, a.dims(), where);
  if (covered > a.dims())
    complain<IndexError>(where, "too many indices for array: array is " + std::to_string(a.dims()) +
                                    "-dimensional, but " + std::to_string(covered) +
                                    " were indexed");
  for (int d = 0; d < covered; ++d)
    if (mask.shape()[d] != a.shape()[axis + d])
      complain<IndexError>(where, "boolean index did not match indexed array along dimension " +
                                      std::to_string(axis + d) + "; dimension is " +
                                      std::to_string(a.shape()[axis + d]) +
                                      " but corresponding boolean dimension is " +
                                      std::to_string(mask.shape()[d]));
  return covered;
}

}  // namespace

Selection selection(const Array& a, const Array& index, int axis, const Where& where) {
  SessionImpl& session = session_of(a, where);
  check_session(session, index, where);
  Selection chosen;
  int covered = 1;
  if (index.dtype() == DType::boolean) {
    covered = covered_by(index, a, axis, where);
    chosen.positions = positions_of(index, where);
  } else if (kind_of(index.dtype()) == Kind::integer) {
    if (a.dims() == 0)
      complain<IndexError>(
          where, "too many indices for array: array is 0-dimensional, but 1 were indexed");
    chosen.positions = dense(index, DType::int64, where);
    const int along = normalized(axis, a.dims(), where);
    check_positions(session, chosen.positions, a.shape()[along], along, where);
  } else {
    complain<IndexError>(where, "arrays used as indices must be of integer (or boolean) type");
  }
  const int first = covered == 0 ? 0 : normalized(axis, a.dims(), where);
  const auto add = [&](Coord length) {
    if (chosen.result.dims() == kMaxDims)
      complain<IndexError>(where, "indexing result would have more than 3 dimensions");
    chosen.result.push_back(length);
  };
  for (int d = 0; d < first; ++d) {
    chosen.outer *= a.shape()[d];
    add(a.shape()[d]);
  }
  for (int d = first; d < first + covered; ++d) chosen.length *= a.shape()[d];
  for (const Coord length : chosen.positions.shape()) add(length);
  for (int d = first + covered; d < a.dims(); ++d) {
    chosen.inner *= a.shape()[d];
    add(a.shape()[d]);
  }
  return chosen;
}

}  // namespace refrain::arrays::detail
